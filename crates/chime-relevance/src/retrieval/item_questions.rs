//! Recognises questions about the decisions and the open tasks of a chat.

use crate::retrieval::languages::{Phrases, Tables};
use crate::retrieval::words::words;
use chime_core::Language;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemQuestion {
    Decisions,
    Open,
    /// Open tasks and questions of the member who asks.
    OwnOpen,
}

/// Returns the items that `ask` asks for, in a chat that speaks `language`.
pub fn item_question(ask: &str, language: Language) -> Option<ItemQuestion> {
    let (said, tables) = (words(ask), Tables::of(language, ask));
    if tables.iter().any(|table| table.asks_decisions.any_in(&said)) {
        return Some(ItemQuestion::Decisions);
    }
    if tables.iter().any(|table| table.asks_own_tasks.any_in(&said)) {
        return Some(ItemQuestion::OwnOpen);
    }
    tables.iter().any(|table| table.asks_open.any_in(&said)).then_some(ItemQuestion::Open)
}

/// Returns the words of a question for items, without the phrase that asks for them: "what did we decide about the
/// tent?" is about the tent. `None` if it asks for no items.
pub fn item_subject(ask: &str, language: Language) -> Option<String> {
    let said = words(ask);
    let tables = Tables::of(language, ask);
    let phrases = tables.iter().flat_map(|table| [&table.asks_decisions, &table.asks_own_tasks, &table.asks_open]);
    let longest = |phrases: &Phrases| {
        (0..said.len()).filter_map(|place| Some((phrases.at(&said, place)?, place))).max_by_key(|(length, _)| *length)
    };
    let (length, place) = phrases.filter_map(longest).max_by_key(|(length, _)| *length)?;
    Some([&said[..place], &said[place + length..]].concat().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Questions in all languages, each with the items that it asks for.
    const ASKS: [(&str, &str, ItemQuestion); 82] = [
        ("eng", "what did we decide about the tent?", ItemQuestion::Decisions),
        ("eng", "which decisions did we take in May?", ItemQuestion::Decisions),
        ("eng", "have we agreed on a date", ItemQuestion::Decisions),
        ("eng", "what is open?", ItemQuestion::Open),
        ("eng", "What's still open?", ItemQuestion::Open),
        ("eng", "any open questions?", ItemQuestion::Open),
        ("eng", "who has to do what until friday?", ItemQuestion::Open),
        ("deu", "was haben wir zum Zelt entschieden?", ItemQuestion::Decisions),
        ("deu", "welche Entscheidungen gab es im Mai?", ItemQuestion::Decisions),
        ("deu", "welche Aufgaben sind offen?", ItemQuestion::Open),
        ("deu", "was ist noch zu tun?", ItemQuestion::Open),
        ("spa", "¿qué decidimos sobre la tienda?", ItemQuestion::Decisions),
        ("spa", "¿qué queda pendiente?", ItemQuestion::Open),
        ("est", "mida me telgi kohta otsustasime?", ItemQuestion::Decisions),
        ("est", "mis on veel tegemata?", ItemQuestion::Open),
        ("fra", "qu'avons-nous décidé pour la tente ?", ItemQuestion::Decisions),
        ("fra", "quelles tâches sont en cours ?", ItemQuestion::Open),
        ("fra", "qu'est-ce qui reste à faire ?", ItemQuestion::Open),
        ("ita", "che cosa abbiamo deciso sulla tenda?", ItemQuestion::Decisions),
        ("ita", "cosa resta da fare?", ItemQuestion::Open),
        ("nld", "wat hebben we over de tent besloten?", ItemQuestion::Decisions),
        ("nld", "wat staat er nog open?", ItemQuestion::Open),
        ("pol", "co postanowiliśmy w sprawie namiotu?", ItemQuestion::Decisions),
        ("pol", "co zostało do zrobienia?", ItemQuestion::Open),
        ("por", "o que decidimos sobre a tenda?", ItemQuestion::Decisions),
        ("por", "o que está pendente?", ItemQuestion::Open),
        ("rus", "что мы решили насчёт палатки?", ItemQuestion::Decisions),
        ("rus", "какие задачи ещё не сделаны?", ItemQuestion::Open),
        ("rus", "кто что должен сделать?", ItemQuestion::Open),
        ("tur", "çadır hakkında ne karar verdik?", ItemQuestion::Decisions),
        ("tur", "hangi görevler kaldı?", ItemQuestion::Open),
        ("ukr", "що ми вирішили щодо намету?", ItemQuestion::Decisions),
        ("ukr", "що треба зробити?", ItemQuestion::Open),
        ("eng", "so what's the decision on the boat?", ItemQuestion::Decisions),
        ("eng", "what did we end up deciding about the venue?", ItemQuestion::Decisions),
        ("eng", "remind me what we agreed on", ItemQuestion::Decisions),
        ("eng", "anything left to do before saturday?", ItemQuestion::Open),
        ("deu", "worauf haben wir uns beim Zelt geeinigt?", ItemQuestion::Decisions),
        ("deu", "was steht noch an?", ItemQuestion::Open),
        ("spa", "¿en qué quedamos con lo de la cena?", ItemQuestion::Decisions),
        ("spa", "¿qué nos falta por hacer?", ItemQuestion::Open),
        ("fra", "on a décidé quoi pour samedi ?", ItemQuestion::Decisions),
        ("fra", "il reste quoi à faire ?", ItemQuestion::Open),
        ("ita", "alla fine cosa abbiamo deciso per sabato?", ItemQuestion::Decisions),
        ("ita", "cosa manca da fare?", ItemQuestion::Open),
        ("por", "o que ficou combinado pra sábado?", ItemQuestion::Decisions),
        ("por", "o que falta fazer?", ItemQuestion::Open),
        ("por", "o que a gente decidiu?", ItemQuestion::Decisions),
        ("por", "o que ficou pendente?", ItemQuestion::Open),
        ("fra", "qu'est-ce qu'on a décidé ?", ItemQuestion::Decisions),
        ("ita", "cosa avete deciso?", ItemQuestion::Decisions),
        ("spa", "¿qué ha quedado pendiente?", ItemQuestion::Open),
        ("eng", "what's been settled so far?", ItemQuestion::Decisions),
        ("nld", "wat was er ook alweer afgesproken?", ItemQuestion::Decisions),
        ("nld", "wat moeten we nog doen?", ItemQuestion::Open),
        ("pol", "na czym stanęło z namiotem?", ItemQuestion::Decisions),
        ("pol", "co jeszcze trzeba zrobić?", ItemQuestion::Open),
        ("rus", "на чём остановились насчёт палатки?", ItemQuestion::Decisions),
        ("rus", "что ещё надо сделать?", ItemQuestion::Open),
        ("ukr", "на чому зупинилися з наметом?", ItemQuestion::Decisions),
        ("ukr", "що ще треба зробити?", ItemQuestion::Open),
        ("tur", "çadır işi ne oldu, ne kararlaştırdık?", ItemQuestion::Decisions),
        ("tur", "daha ne yapmamız lazım?", ItemQuestion::Open),
        ("est", "milles me telgi osas kokku leppisime?", ItemQuestion::Decisions),
        ("est", "mis vaja veel teha on?", ItemQuestion::Open),
        ("eng", "what do I have to do?", ItemQuestion::OwnOpen),
        ("eng", "What's still on my plate?", ItemQuestion::OwnOpen),
        ("eng", "what did I promise?", ItemQuestion::OwnOpen),
        ("deu", "was muss ich noch tun?", ItemQuestion::OwnOpen),
        ("spa", "¿qué tengo que hacer?", ItemQuestion::OwnOpen),
        ("est", "mida ma pean tegema?", ItemQuestion::OwnOpen),
        ("fra", "qu'est-ce que je dois faire ?", ItemQuestion::OwnOpen),
        ("ita", "cosa devo fare?", ItemQuestion::OwnOpen),
        ("nld", "wat moet ik nog doen?", ItemQuestion::OwnOpen),
        ("pol", "co mam zrobić?", ItemQuestion::OwnOpen),
        ("por", "o que eu tenho que fazer?", ItemQuestion::OwnOpen),
        ("rus", "что мне нужно сделать?", ItemQuestion::OwnOpen),
        ("tur", "yapmam gereken ne var?", ItemQuestion::OwnOpen),
        ("ukr", "що мені треба зробити?", ItemQuestion::OwnOpen),
        // In another language than the chat's.
        ("eng", "was haben wir zum Zelt beschlossen?", ItemQuestion::Decisions),
        ("deu", "what is still open?", ItemQuestion::Open),
        ("est", "что мы решили насчёт палатки?", ItemQuestion::Decisions),
    ];

    const OTHERS: [(&str, &str); 42] = [
        ("eng", "should I take the tent?"),
        ("nld", "moet ik nog brood meenemen?"),
        ("eng", "is the shop open on sunday?"),
        ("eng", "when does the museum open?"),
        ("eng", "which tent is bigger?"),
        ("eng", "help us decide: red or green?"),
        ("eng", "who did the dishes yesterday?"),
        ("eng", "what did ann say about the task force?"),
        ("eng", "thoughts?"),
        ("deu", "hat der Laden am Sonntag offen?"),
        ("deu", "welches Zelt ist größer?"),
        ("deu", "wann öffnet das Museum?"),
        ("deu", "rot oder grün, was meinst du?"),
        ("spa", "¿está abierta la tienda el domingo?"),
        ("spa", "¿qué tienda es más grande?"),
        ("spa", "¿quién viene mañana?"),
        ("est", "mis kell pood avatakse?"),
        ("est", "kumb telk on suurem?"),
        ("fra", "à quelle heure ouvre le musée ?"),
        ("fra", "quelle tente est la plus grande ?"),
        ("fra", "qui vient demain ?"),
        ("ita", "a che ora apre il museo?"),
        ("ita", "quale tenda è più grande?"),
        ("nld", "hoe laat gaat het museum open?"),
        ("nld", "welke tent is groter?"),
        ("pol", "o której otwierają muzeum?"),
        ("pol", "który namiot jest większy?"),
        ("por", "a que horas abre o museu?"),
        ("por", "qual tenda é maior?"),
        ("rus", "во сколько открывается музей?"),
        ("rus", "какая палатка больше?"),
        ("rus", "кто придёт завтра?"),
        ("tur", "müze saat kaçta açılıyor?"),
        ("tur", "hangi çadır daha büyük?"),
        ("ukr", "о котрій відчиняється музей?"),
        ("ukr", "який намет більший?"),
        ("eng", "translate: we open at nine"),
        ("eng", "how tall is Everest?"),
        ("deu", "wann steht der Bus an der Haltestelle?"),
        ("fra", "il reste du pain ?"),
        ("nld", "moeten we een jas meenemen?"),
        ("rus", "на чём вы приехали?"),
    ];

    #[test]
    fn questions_for_decisions_and_open_tasks_are_told_from_others() {
        let wrong: Vec<String> = ASKS
            .iter()
            .map(|(chat, ask, items)| (chat, ask, Some(*items)))
            .chain(OTHERS.iter().map(|(chat, ask)| (chat, ask, None)))
            .filter(|(chat, ask, items)| item_question(ask, Language::from_code(chat)) != *items)
            .map(|(chat, ask, _)| format!("{chat} {ask}"))
            .collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn the_subject_of_a_question_is_what_it_asks_besides_the_items() {
        let subject = |code, ask| item_subject(ask, Language::from_code(code));
        assert_eq!(subject("eng", "what did we decide about the tent?").as_deref(), Some("what about the tent"));
        assert_eq!(subject("deu", "was ist noch zu tun?").as_deref(), Some("was ist"));
        assert_eq!(subject("eng", "where is the tent?"), None);
    }
}
