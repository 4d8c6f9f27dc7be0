//! The bot's own texts are in the language of the chat.

use chime_core::AnswerStatus;
use chime_core::texts::texts;
use chime_sandbox::{ChatMemberStatus, NewChat, NewMember, Post};
use chime_testkit::Reply;
use chime_world::World;

use crate::grounding::{data_of, outcome};
use crate::memory::NO_MODEL;

/// Lines that tell the language of a chat.
pub const ENGLISH: &str = "we all meet at the harbour and take the ferry to the island in the morning";
pub const GERMAN: &str = "Wir treffen uns alle morgen früh am Hafen und nehmen die Fähre auf die Insel";
pub const SPANISH: &str = "Nos vemos todos mañana por la mañana en el puerto y tomamos el barco a la isla";

/// Posts enough German text to detect the language.
async fn talk_in_german(w: &World) {
    for number in 0..40 {
        w.say(
            "anna",
            &format!("Ich glaube, wir sollten morgen früh um {number} Uhr mit dem Fahrrad an den See fahren"),
        );
    }
    w.settled().await;
}

#[tokio::test]
async fn help_privacy_and_forgetting_are_told_in_the_language_of_the_chat() {
    World::run(async |w| {
        talk_in_german(w).await;
        let help = w.say("ben", "/help@bot");
        let actual = w.answer_to(help).await.text;
        assert!(
            actual.starts_with("Ich lese mit und bleibe still") && actual.contains("@bot und eine Frage"),
            "{actual}"
        );
        let privacy = w.say("ben", "/privacy@bot");
        let actual = w.answer_to(privacy).await.text;
        assert!(actual.starts_with("Ich speichere die Nachrichten") && !actual.contains(['{', '}']), "{actual}");
        let said = w.say("ben", "das war nichts");
        for (ask, begins) in [
            ("/notes", "Dieser Chat hat keine gespeicherten Notizen. Schick /note"),
            ("/concepts", "In diesem Chat habe ich noch keine Begriffe notiert."),
            ("/settings@bot", "Einstellungen dieses Chats. Das können nur Admins dieses Chats ändern."),
            ("/note x", "Nur Admins dieses Chats können Notizen speichern"),
        ] {
            let asked = w.say("ben", ask);
            let actual = w.answer_to(asked).await.text;
            assert!(actual.starts_with(begins), "{actual}");
        }
        let forget = w.reply("ben", said, "/forget");
        assert_eq!(w.answer_to(forget).await.text, "Gelöscht: 1 Nachricht.");
        let out = w.say("ben", "/optout");
        assert!(w.answer_to(out).await.text.starts_with("Ab jetzt speichere ich nichts"));
    })
    .await;
}

#[tokio::test]
async fn admins_choose_the_language_of_what_the_bot_says_of_itself() {
    World::run(async |w| {
        talk_in_german(w).await;
        let ann = w.telegram.add_member(w.chat, NewMember::named("ann").status(ChatMemberStatus::Administrator));
        let asked = w.telegram.say(w.chat, Post::new(ann, "/settings@bot", w.clock.now()));
        let panel = w.answer_to(asked).await;
        assert!(panel.text.contains("Sprache meiner Hinweise: die Sprache des Chats"), "{}", panel.text);
        for (button, holds, begins) in [
            ("Français", "Langue de mes messages de service : Français", "Je lis"),
            ("Langue de la discussion", "Sprache meiner Hinweise: die Sprache des Chats", "Ich lese mit"),
        ] {
            let shown = w.telegram.message(w.chat, panel.id).expect("the panel");
            let before = w.telegram.cursor();
            let pressed = w.telegram.press(w.chat, panel.id, ann, &data_of(&shown, button));
            assert_eq!(outcome(w, before, &pressed).await, None);
            let shown = w.telegram.message(w.chat, panel.id).expect("the panel");
            assert!(shown.text.contains(holds), "{}", shown.text);
            let help = w.say("ben", "/help@bot");
            let actual = w.answer_to(help).await.text;
            assert!(actual.starts_with(begins), "{actual}");
        }
    })
    .await;
}

#[tokio::test]
async fn the_first_answer_tells_what_is_kept_in_the_language_of_the_chat() {
    World::run(async |w| {
        w.announce();
        w.restart().await;
        w.say("ana", "¿Quién recoge a los niños mañana por la tarde en el colegio?");
        w.say("luis", "Yo puedo, pero solo a partir de las cinco y media");
        w.say("ana", "Entonces los recoge la abuela y tú vas luego a su casa");
        w.say("luis", "La llamo yo después de cenar, no os preocupéis");
        w.settled().await;
        w.model.script(["Nada."]);
        let tag = w.say("ana", "@bot ¿qué falta por decidir?");
        let actual = w.answer_to(tag).await.text;
        assert!(actual.contains("Para todos"), "{actual}");
    })
    .await;
}

#[tokio::test]
async fn a_few_messages_tell_the_language_of_a_chat() {
    World::run(async |w| {
        let day = "Ich glaube, wir sollten morgen früh mit dem Fahrrad an den See fahren, bevor es zu heiß wird";
        for _ in 0..8 {
            w.say("anna", day);
        }
        w.settled().await;
        let help = w.say("ben", "/help@bot");
        assert!(w.answer_to(help).await.text.starts_with("Ich lese mit und bleibe still"));
    })
    .await;
}

#[tokio::test]
async fn a_short_question_is_in_the_language_that_its_member_writes() {
    World::run(async |w| {
        for (name, text) in [
            ("olena", "Добрий день усім! Завтра о дев'ятій їдемо до музею, не забудьте, будь ласка, квитки та воду."),
            ("svitlana", "Здравствуйте, а где мы встречаемся завтра, у школы или сразу возле музея на остановке?"),
            ("olena", "Зустрічаємось біля школи, автобус чекатиме нас на розі, їхати приблизно сорок хвилин."),
            ("svitlana", "Хорошо, спасибо большое, мы придём чуть раньше и подождём всех остальных у входа в школу."),
            ("svitlana", "Ещё вопрос: нужно ли брать с собой сменную обувь, или в музее выдают бахилы всем детям?"),
            ("andriy", "Ми теж будемо вчасно, я візьму аптечку і список дітей, щоб нікого не загубити дорогою."),
        ] {
            w.say(name, text);
        }
        w.model.script(["Сумки и куртки."]);
        let tag = w.say("svitlana", "@bot еще");
        w.answer_to(tag).await;
        assert!(w.prompt(1).await.contains("Answer svitlana in Russian"), "{}", w.prompt(1).await);
    })
    .await;
}

#[tokio::test]
async fn a_translation_is_shortened_in_its_own_language() {
    const TURKISH: &str = "Yarın sabah hepimiz limanda buluşuyoruz ve adaya giden vapura biniyoruz";
    const RUSSIAN: &str = "Завтра утром мы все встречаемся в порту и садимся на паром до острова";
    for (talk, translate, answer, shorter, question) in [
        (
            GERMAN,
            "auf Englisch bitte",
            "We all meet at the harbour early.",
            "Geht das kürzer?",
            "Wann treffen wir uns?",
        ),
        (
            TURKISH,
            "İngilizce olarak lütfen",
            "We all meet at the harbour.",
            "daha kısa yaz",
            "yarın nerede buluşuyoruz?",
        ),
        (
            RUSSIAN,
            "переведи на узбекский",
            "Ertaga ertalab portda uchrashamiz.",
            "короче",
            "где мы встречаемся завтра?",
        ),
    ] {
        World::run(async |w| {
            let said = [(); 8].map(|()| w.say("ann", talk))[7];
            w.settled().await;
            w.model.script([answer, "Harbour.", "Port.", "8."]);
            let tag = w.reply("ann", said, &format!("@bot {translate}"));
            let translation = w.answer_to(tag).await;
            let tag = w.reply("ann", translation.id, &format!("@bot {shorter}"));
            w.answer_to(tag).await;
            // Without a reply, right after the answer to a request about the translation.
            let tag = w.say("ann", &format!("@bot {}", shorter.trim_end_matches('?')));
            w.answer_to(tag).await;
            let tag = w.say("ann", &format!("@bot {question}"));
            w.answer_to(tag).await;
            let mut is_named = Vec::new();
            for number in 1..=4 {
                is_named.push(w.prompt(number).await.contains("Answer ann in"));
            }
            assert_eq!(is_named, [false, false, false, true], "{talk}");
        })
        .await;
    }
}

#[tokio::test]
async fn recaps_and_memory_are_asked_for_and_told_in_the_language_of_the_chat() {
    World::with(&[NO_MODEL[0], NO_MODEL[1]], async |w| {
        talk_in_german(w).await;
        let eve = w.telegram.add_member(w.chat, NewMember::named("eve").status(ChatMemberStatus::Administrator));
        let asked = |w: &World, text: &str| w.telegram.say(w.chat, Post::new(eve, text, w.clock.now()));
        let today = asked(w, "/recap heute");
        let actual = w.answer_to(today).await.text;
        assert!(actual.starts_with("Rückblick seit ") && actual.contains("40 Nachrichten von 1 Mitglied"), "{actual}");
        let weekly = asked(w, "/recap wöchentlich mo 9:00");
        let actual = w.answer_to(weekly).await.text;
        assert!(actual.starts_with("Ab jetzt kommt hier jeden Montag um 09:00"), "{actual}");
        let off = asked(w, "/recap aus");
        assert_eq!(w.answer_to(off).await.text, "Ich schicke hier von selbst keine Rückblicke mehr.");
        let memory = asked(w, "/memory");
        let actual = w.answer_to(memory).await.text;
        assert!(actual.starts_with("Ich erinnere mich noch an nichts") || actual.contains("Gedächtnis"), "{actual}");
    })
    .await;
}

#[tokio::test]
async fn without_texts_in_the_language_of_a_question_the_bot_apologises_in_that_of_the_chat() {
    World::run(async |w| {
        talk_in_german(w).await;
        let no_such_key = r#"{"error":{"message":"no such key","code":"invalid_api_key"}}"#;
        w.model.script([Reply::Status(401, no_such_key.to_owned())]);
        let tag = w.say("ben", "@bot melyik nap megyünk a tóhoz, és hány órakor indulunk reggel a kerékpárral?");
        let apology = w.answer_to(tag).await;
        assert_eq!(w.record_of(&apology).await.status, AnswerStatus::Apologised);
        assert!(apology.text.starts_with(&texts("deu").wrong_key), "{}", apology.text);
    })
    .await;
}

#[tokio::test]
async fn a_private_chat_is_not_addressed_as_a_group() {
    World::run(async |w| {
        let private = w.telegram.add_chat(NewChat::private("ann"));
        let help = w.say_in(private, "ann", "/help");
        let actual = w.answer_to(help).await.text;
        assert!(actual.starts_with("Write to me and I will answer."), "{actual}");
        w.announce();
        w.restart().await;
        w.model.script(["Hello."]);
        let hello = w.say_in(private, "ann", "hello there");
        let actual = w.answer_to(hello).await.text;
        assert!(actual.contains("I keep what you write to me here") && !actual.contains("everybody"), "{actual}");
    })
    .await;
}
