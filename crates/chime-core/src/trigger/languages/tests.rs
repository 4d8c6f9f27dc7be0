use std::collections::BTreeMap;

use super::*;

#[test]
fn searches_begin_with_the_verb_of_their_language() {
    let languages = Languages::shipped();
    for (ask, words) in [
        ("search firewood", "firewood"),
        ("Search for the firewood from:ana", "the firewood from:ana"),
        ("suche nach dem Holz", "dem Holz"),
        ("busca la leña", "la leña"),
        ("найди дрова", "дрова"),
        ("search photos from the trip", "photos from the trip"),
        ("please search for the wifi password", "the wifi password"),
        ("can you search for the invoice of the boiler", "the invoice of the boiler"),
        ("such mal nach dem Mietvertrag", "dem Mietvertrag"),
        ("suche bitte den Link zum Haus", "den Link zum Haus"),
        ("busca por favor el enlace del hotel", "el enlace del hotel"),
        ("puedes buscar la factura", "la factura"),
        ("cherche le lien du gîte", "le lien du gîte"),
        ("tu peux chercher la facture", "la facture"),
        ("cerca il link del treno", "il link del treno"),
        ("puoi cercare la fattura", "la fattura"),
        ("procura a fatura da luz", "a fatura da luz"),
        ("pode procurar o contrato", "o contrato"),
        ("zoek even naar de factuur", "de factuur"),
        ("zoek de foto's van de boot", "de foto's van de boot"),
        ("wyszukaj fakturę za prąd", "fakturę za prąd"),
        ("możesz poszukać umowy najmu", "umowy najmu"),
        ("найди пожалуйста счёт за свет", "счёт за свет"),
        ("поищи рецепт шарлотки", "рецепт шарлотки"),
        ("знайди будь ласка рахунок", "рахунок"),
        ("пошукай фото з дачі", "фото з дачі"),
        ("elektrik faturasını ara", "elektrik faturasını"),
        ("tatil fotoğraflarını bulur musun", "tatil fotoğraflarını"),
        ("otsi palun üürileping", "üürileping"),
        ("palun otsi elektriarve", "elektriarve"),
    ] {
        assert_eq!(languages.searched(ask), Some(words), "{ask}");
    }
    for ask in [
        "search",
        "search what we said?",
        "найди, что он писал",
        "such a nice plan, what do you think",
        "cerca de la playa",
        "wood",
        "the search goes on",
    ] {
        assert_eq!(languages.searched(ask), None, "{ask}");
    }
}

#[test]
fn questions_for_the_group_and_those_that_go_on_are_told_by_their_words() {
    let languages = Languages::shipped();
    for text in ["does anybody know?", "hat jemand den Schlüssel?", "кто-нибудь знает?", "¿alguien tiene la llave?"]
    {
        assert!(languages.is_to_group(text), "{text}");
    }
    for text in ["and where is it?", "und wann?", "а когда?", "what about sunday?"] {
        assert!(languages.goes_on(text) && !languages.is_to_group(text), "{text}");
    }
    let own = "when does the plumber come?";
    assert!(!languages.goes_on(own) && !languages.is_to_group(own));
}

#[test]
fn a_word_that_adds_a_note_is_no_part_of_it() {
    let languages = Languages::shipped();
    for (chat, text) in [
        ("eng", "add code 4711"),
        ("deu", "add: code 4711"),
        ("tur", "ekle\ncode 4711"),
        ("rus", "добавь code 4711"),
        ("est", "lisa code 4711"),
    ] {
        assert_eq!(languages.without_add(text, chat), Some("code 4711"), "{text}");
    }
    for text in ["lisa has the key", "lisa code 4711", "añade sal", "the code to add", "added salt", "add", "add "] {
        assert_eq!(languages.without_add(text, "eng"), None, "{text}");
    }
    for text in ["Lisa võti on siin", "lisa", "lisa "] {
        assert_eq!(languages.without_add(text, "est"), None, "{text}");
    }
}

#[test]
fn lists_are_long_and_phrases_short_enough() {
    let least = |list: &str| match list {
        "phrases" => 50,
        "thanks" => 15,
        "questions" => 40,
        "ours" => 30,
        "missed" | "absent" | "goes_on" | "to_group" => 6,
        "stop_words" => 250,
        "amounts" => 5,
        "remind" | "courtesies" | "summary" => 4,
        "link" => 5,
        "search" | "that" | "add" | "delete" | "help" => 1,
        "ideas" | "choices" | "polls" => 1,
        "remind_others" | "content_words" | "search_last" | "link_last" | "private_first" => 0,
        _ => 10,
    };
    for (language, lists) in tables::<BTreeMap<String, Vec<String>>>("trigger") {
        for (name, list) in &lists {
            assert!(list.len() >= least(name), "{} has {} {name}", language.name, list.len());
            for phrase in list {
                assert!((1..=LONGEST).contains(&words(phrase).len()), "{}: {phrase:?}", language.name);
            }
        }
    }
}

#[test]
fn stop_words_are_single_words_in_lower_case_each_once() {
    for (language, lists) in tables::<TriggerLists>("trigger") {
        let mut met = HashSet::new();
        for word in &lists.stop_words {
            assert!(!word.contains(' ') && word.to_lowercase() == *word, "{}: {word:?}", language.name);
            assert!(met.insert(word), "{}: {word:?} twice", language.name);
        }
    }
    let languages = Languages::shipped();
    for word in ["the", "nicht", "pero", "avec", "não", "della", "niet", "jest", "что", "чому", "için", "aga"]
    {
        assert!(languages.is_stop_word_in(word, ""), "{word}");
    }
    for word in ["restaurant", "room", "order", "boiler", "комната", "kodu", "problem"] {
        assert!(!languages.is_stop_word_in(word, ""), "{word}");
    }
}

#[test]
fn a_word_that_tells_something_is_no_stop_word_outside_of_its_language() {
    let languages = Languages::shipped();
    let is_stop = |word, text| languages.is_stop_word_in(word, text);
    for (word, text) in [
        ("car", "who has a car?"),
        ("car", "My car seats five"),
        ("van", "who has a van?"),
        ("hat", "whose hat is it?"),
        ("sea", "how is the sea in May?"),
        ("car", "car keys"),
    ] {
        assert!(!is_stop(word, text), "{word}: {text}");
    }
    for (word, text) in [
        ("car", "je reste car il est tard"),
        ("van", "de kleur van de auto"),
        ("hat", "wer hat den Schlüssel?"),
        ("the", "who has a car?"),
    ] {
        assert!(is_stop(word, text), "{word}: {text}");
    }
    assert!(languages.is_stop_word_of("car", ["fr"].iter()) && !languages.is_stop_word_of("car", ["en", "de"].iter()));
    assert!(languages.is_stop_word_of("the", ["fr"].iter()), "a word that tells nothing anywhere");
}

#[test]
fn an_ending_after_an_apostrophe_shows_no_language() {
    let codes = |text: &str| Languages::shipped().likely_codes(text);
    assert_eq!(codes("the cook's hat").first(), Some(&"en"));
    assert_eq!(codes("monday's meeting").len(), 12, "the s is not French");
    assert_eq!(codes("l'appel d’hier s'est bien passé"), ["fr"]);
}

#[test]
fn words_of_the_people_here_are_counted_in_the_language_of_the_text() {
    let ours = |text: &str| Languages::shipped().ours_in(text);
    assert_eq!(ours("where are we eating, did they say"), 3);
    assert_eq!(ours("как отмыть кастрюлю"), 0);
    assert_eq!(ours("was haben wir gestern beschlossen"), 4);
    assert_eq!(ours("how do you get rust off a knife"), 0);
}

#[test]
fn a_question_is_told_by_its_mark_or_by_its_first_words() {
    let asks = |text: &str| Languages::shipped().is_question(text);
    for text in [
        "pizza on friday?",
        "what time do we meet",
        "does anyone have a ladder",
        "was machen wir am Samstag",
        "hat jemand den Schlüssel",
        "alguien sabe dónde está la llave",
        "on fait quoi demain soir",
        "quem vai ao cinema",
        "chi porta il vino sabato",
        "wie heeft de sleutel",
        "czy ktoś ma klucz",
        "кто идёт в субботу",
        "хто має ключ від гаражу",
        "kim geliyor yarın",
        "kas keegi teab kus võti on",
        "is it this one https://shop.example/jars?id=7",
        "was it www.shop.example/jars?",
        "好吗？https://shop.example",
    ] {
        assert!(asks(text), "{text}");
    }
    for text in [
        "the key is under the plant",
        "der Schlüssel liegt unter der Pflanze",
        "la llave está debajo de la planta",
        "ключ лежит под цветком",
        "võti on lillepoti all",
        "the jars: https://shop.example/jars?id=7&size=3",
        "www.shop.example/jars?id=7 has them",
        "",
        "👍",
    ] {
        assert!(!asks(text), "{text}");
    }
}
