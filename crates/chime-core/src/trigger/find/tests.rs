use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::{ChatId, Entity, EntityKind, MessageId, Sender, Timestamp, UserId, UserRef, utf16_len};

const BOT: UserId = UserId(42);

fn bot() -> BotIdentity {
    BotIdentity {
        id: BOT,
        usernames: vec!["ChimeBot".to_owned(), "chime".to_owned()],
        name: "Chime".to_owned(),
        reads_all_group_messages: true,
    }
}

pub(in crate::trigger) fn plain_message(text: &str) -> Message {
    let ann = Sender::person(UserId(7), "Ann");
    let message = Message::new(ChatId(-100), MessageId(1), ann, Timestamp::from_secs(1000));
    Message { text: text.to_owned(), ..message }
}

/// Parses `hey [@chime](mention)`: the text in brackets is an entity of the kind in parentheses, `mention`, `command`,
/// `code`, `email`, `user:ID`, or a link.
fn marked_up(line: &str) -> Message {
    let mut message = plain_message("");
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('[') {
        let (shown, after) = after.split_once("](").expect("an entity is [text](kind)");
        let (kind, after) = after.split_once(')').expect("a closed entity");
        message.text.push_str(before);
        let kind = match kind {
            "mention" => EntityKind::Mention,
            "command" => EntityKind::BotCommand,
            "code" => EntityKind::Code,
            "email" => EntityKind::Email,
            "mention in code" => {
                message.entities.push(entity(&message.text, shown, EntityKind::Mention));
                EntityKind::Pre { language: None }
            }
            other => match other.strip_prefix("user:") {
                Some(id) => EntityKind::TextMention { user: UserRef { id: UserId(id.parse().expect("an id")) } },
                None => EntityKind::TextLink { url: other.to_owned() },
            },
        };
        let entity = entity(&message.text, shown, kind);
        message.text.push_str(shown);
        message.entities.push(entity);
        rest = after;
    }
    message.text.push_str(rest);
    message
}

fn entity(before: &str, shown: &str, kind: EntityKind) -> Entity {
    Entity { offset: utf16_len(before), length: utf16_len(shown), kind }
}

/// Parses conditions, then `|`, then the text: `private`, `photo`, `sticker`, `service`, `edited`, `forward`, `inline`
/// (made by an inline bot), `by-bot`, `by-us`, `reply` (to an answer of the bot), `to-notice`, `to-topic`, `to-member`.
fn scene(line: &str) -> String {
    let (circumstances, text) = line.split_once('|').unwrap_or(("", line));
    let mut message = marked_up(text.trim_matches(' '));
    let mut chat_kind = ChatKind::Supergroup;
    let mut parent: Option<Message> = None;
    let mut parent_is_answer = false;
    let ours = || {
        let mut ours = plain_message("an answer");
        ours.sender.id = BOT;
        ours.role = Role::Assistant;
        ours
    };
    for circumstance in circumstances.split_whitespace() {
        match circumstance {
            "private" => chat_kind = ChatKind::Private,
            "photo" => message.kind = Kind::Photo,
            "sticker" => message.kind = Kind::Sticker,
            "service" => message.kind = Kind::Service,
            "edited" => message.edited_at = Some(Timestamp::from_secs(2000)),
            "forward" => message.forward_origin = Some("Bob".to_owned()),
            "inline" => message.via_bot = Some("gif".to_owned()),
            "by-bot" => message.sender.is_bot = true,
            "by-us" => message.sender.id = BOT,
            "reply" => (parent, parent_is_answer) = (Some(ours()), true),
            "to-notice" => parent = Some(ours()),
            "to-topic" => {
                parent = Some(Message { kind: Kind::Service, ..ours() });
                parent_is_answer = true;
            }
            "to-member" => parent = Some(plain_message("lunch?")),
            other => panic!("unknown circumstance {other}"),
        }
    }
    let rules = Rules { parent_is_answer, is_only_bot: false, said_before: None, called: None };
    match find(&message, parent.as_ref(), &bot(), chat_kind, &rules) {
        None => "nothing".to_owned(),
        Some(Trigger { kind, how, ask, generic, .. }) => {
            format!("{kind:?} by {how:?}: {ask:?}{}", if generic { " generic" } else { "" })
        }
    }
}

#[track_caller]
fn check(scenes: &str, expected: Expect) {
    let lines: Vec<String> = scenes
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(|line| format!("{line}\n    {}", scene(line)))
        .collect();
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn a_mention_is_an_entity_that_equals_a_username() {
    check(
        "
        [@chimebot](mention)
        [@ChimeBot](mention), what do you think?
        what about pizza, [@CHIME](mention)?
        🎉🎉 party [@chime](mention) when?
        photo | [@chime](mention) what is on this picture
        edited | [@chime](mention) thoughts?
        to-member | [@chime](mention) ^
        [Chime](user:42) help
        [Chime](https://t.me/chimebot) who is right?
        [is this true](https://t.me/ChimeBot)
        ",
        expect![[r#"
            [@chimebot](mention)
                Ask by Mention: "" generic
            [@ChimeBot](mention), what do you think?
                Ask by Mention: "what do you think?" generic
            what about pizza, [@CHIME](mention)?
                Ask by Mention: "what about pizza?"
            🎉🎉 party [@chime](mention) when?
                Ask by Mention: "🎉🎉 party when?"
            photo | [@chime](mention) what is on this picture
                Ask by Mention: "what is on this picture"
            edited | [@chime](mention) thoughts?
                Ask by Mention: "thoughts?" generic
            to-member | [@chime](mention) ^
                Ask by Mention: "^" generic
            [Chime](user:42) help
                Ask by Mention: "help" generic
            [Chime](https://t.me/chimebot) who is right?
                Ask by Mention: "who is right?" generic
            [is this true](https://t.me/ChimeBot)
                Ask by Mention: "is this true" generic"#]],
    );
}

#[test]
fn what_only_looks_like_a_mention_is_none() {
    check(
        "
        @chime without an entity
        [@chime_extra](mention) hi
        [@chimebo](mention) hi
        [@chime](code) hi
        [@chime](mention in code) hi
        mail [me@chime](email) please
        [Chime](user:43) hi
        [Chime](https://t.me/chimebot/17) look
        [Chime](https://example.org/chimebot) look
        chime, what do you think?
        ",
        expect![[r#"
            @chime without an entity
                nothing
            [@chime_extra](mention) hi
                nothing
            [@chimebo](mention) hi
                nothing
            [@chime](code) hi
                nothing
            [@chime](mention in code) hi
                nothing
            mail [me@chime](email) please
                nothing
            [Chime](user:43) hi
                nothing
            [Chime](https://t.me/chimebot/17) look
                nothing
            [Chime](https://example.org/chimebot) look
                nothing
            chime, what do you think?
                nothing"#]],
    );
}

#[test]
fn who_speaks_matters() {
    check(
        "
        by-bot | [@chime](mention) hi
        by-us | [@chime](mention) hi
        service | [@chime](mention) was added
        forward | [@chime](mention) hi
        forward | [/ask@chime](command) hi
        inline | [@chime](mention) hi
        private forward | we meet at 9, says [@chime](mention)
        private by-bot | hi
        ",
        expect![[r#"
            by-bot | [@chime](mention) hi
                nothing
            by-us | [@chime](mention) hi
                nothing
            service | [@chime](mention) was added
                nothing
            forward | [@chime](mention) hi
                nothing
            forward | [/ask@chime](command) hi
                nothing
            inline | [@chime](mention) hi
                nothing
            private forward | we meet at 9, says [@chime](mention)
                Ask by Private: "we meet at 9, says @chime"
            private by-bot | hi
                nothing"#]],
    );
}

#[test]
fn a_reply_counts_when_it_is_to_an_answer() {
    check(
        "
        reply | and on Sunday?
        reply | ?
        reply | [@bob](mention) look
        to-notice | and on Sunday?
        to-member | and on Sunday?
        to-topic | and on Sunday?
        reply | [@chime](mention) and on Sunday?
        ",
        expect![[r#"
            reply | and on Sunday?
                Ask by Reply: "and on Sunday?"
            reply | ?
                Ask by Reply: "?" generic
            reply | [@bob](mention) look
                Ask by Reply: "@bob look"
            to-notice | and on Sunday?
                nothing
            to-member | and on Sunday?
                nothing
            to-topic | and on Sunday?
                nothing
            reply | [@chime](mention) and on Sunday?
                Ask by Mention: "and on Sunday?""#]],
    );
}

#[test]
fn thanks_to_the_bot_want_a_reaction_only() {
    check(
        "
        reply | thanks!
        reply | 👍
        reply sticker |
        reply photo |
        reply | [@chime](mention) thank you 🙏
        reply | thanks, and Sunday?
        reply | 👆
        private | merci
        [@chime](mention) thanks
        to-member | thanks
        ",
        expect![[r#"
            reply | thanks!
                Thanks by Reply: "thanks!"
            reply | 👍
                Thanks by Reply: "👍"
            reply sticker |
                Thanks by Reply: ""
            reply photo |
                Ask by Reply: "" generic
            reply | [@chime](mention) thank you 🙏
                Thanks by Mention: "thank you 🙏"
            reply | thanks, and Sunday?
                Ask by Reply: "thanks, and Sunday?"
            reply | 👆
                Ask by Reply: "👆" generic
            private | merci
                Thanks by Private: "merci"
            [@chime](mention) thanks
                Thanks by Mention: "thanks"
            to-member | thanks
                nothing"#]],
    );
}

#[test]
fn commands_in_a_group_need_our_name_where_every_bot_has_them() {
    check(
        "
        [/ask](command) who pays?
        [/ask@chimebot](command) who pays?
        [/ASK@ChimeBot](command)
        to-member | [/ask](command)
        [/why](command)
        [/why@chime](command) so
        [/help](command)
        [/help@chime](command)
        [/start](command)
        [/start@chime](command) group
        [/weather](command) in Tartu
        [/weather@chime](command) in Tartu
        [/ask@otherbot](command) who pays?
        [/ban@otherbot](command) [@chime](mention)
        [/ban](command) [@chime](mention)
        [/mute](command) [@chime](mention) 1h
        [/help](command) [@chime](mention)
        [/settings](command) [@chime](mention) language de
        [/etc](command) is gone, [@chime](mention) where is the key?
        [/tmp](command) is full, what can I do?
        reply | [/weather](command)
        [@chime](mention) [/why](command)
        try [/ask](command) me
        try [/ask@chime](command) me
        /ask without an entity
        ",
        expect![[r#"
            [/ask](command) who pays?
                Ask by Command: "who pays?"
            [/ask@chimebot](command) who pays?
                Ask by Command: "who pays?"
            [/ASK@ChimeBot](command)
                Ask by Command: "" generic
            to-member | [/ask](command)
                Ask by Command: "" generic
            [/why](command)
                Command(Why, "") by Command: ""
            [/why@chime](command) so
                Command(Why, "so") by Command: "so"
            [/help](command)
                nothing
            [/help@chime](command)
                Command(Help, "") by Command: ""
            [/start](command)
                nothing
            [/start@chime](command) group
                Command(Start, "group") by Command: "group"
            [/weather](command) in Tartu
                nothing
            [/weather@chime](command) in Tartu
                Command(Help, "in Tartu") by Command: "in Tartu"
            [/ask@otherbot](command) who pays?
                nothing
            [/ban@otherbot](command) [@chime](mention)
                nothing
            [/ban](command) [@chime](mention)
                nothing
            [/mute](command) [@chime](mention) 1h
                nothing
            [/help](command) [@chime](mention)
                Command(Help, "") by Command: ""
            [/settings](command) [@chime](mention) language de
                Command(Settings, "language de") by Command: "language de"
            [/etc](command) is gone, [@chime](mention) where is the key?
                Ask by Mention: "/etc is gone, where is the key?"
            [/tmp](command) is full, what can I do?
                nothing
            reply | [/weather](command)
                nothing
            [@chime](mention) [/why](command)
                Command(Why, "") by Command: ""
            try [/ask](command) me
                nothing
            try [/ask@chime](command) me
                Ask by Mention: "try me"
            /ask without an entity
                nothing"#]],
    );
}

#[test]
fn in_private_everything_is_for_the_bot() {
    check(
        "
        private | when do we meet?
        private | [@chime](mention) when do we meet?
        private | [/start](command) deep-link
        private | [/help](command)
        private | [/ask](command) who pays?
        private | [/weather](command)
        private | [/tmp](command) is full, what can I do?
        private | [/ask@otherbot](command) who pays?
        private photo |
        private service |
        ",
        expect![[r#"
            private | when do we meet?
                Ask by Private: "when do we meet?"
            private | [@chime](mention) when do we meet?
                Ask by Private: "when do we meet?"
            private | [/start](command) deep-link
                Command(Start, "deep-link") by Command: "deep-link"
            private | [/help](command)
                Command(Help, "") by Command: ""
            private | [/ask](command) who pays?
                Ask by Command: "who pays?"
            private | [/weather](command)
                Command(Help, "") by Command: ""
            private | [/tmp](command) is full, what can I do?
                Ask by Private: "/tmp is full, what can I do?"
            private | [/ask@otherbot](command) who pays?
                nothing
            private photo |
                Ask by Private: "" generic
            private service |
                nothing"#]],
    );
}

proptest! {
    #[test]
    fn wrong_offsets_are_survived(
        text in "\\PC{0,30}",
        entities in prop::collection::vec((0usize..40, 0usize..40, 0u8..5), 0..5),
    ) {
        let mut message = plain_message(&text);
        message.entities = entities
            .into_iter()
            .map(|(offset, length, kind)| Entity {
                offset,
                length,
                kind: match kind {
                    0 => EntityKind::Mention,
                    1 => EntityKind::BotCommand,
                    2 => EntityKind::TextMention { user: UserRef { id: BOT } },
                    3 => EntityKind::Code,
                    _ => EntityKind::TextLink { url: "t.me/chime".to_owned() },
                },
            })
            .collect();
        let rules = Rules { parent_is_answer: true, is_only_bot: false, said_before: None, called: None };
        find(&message, None, &bot(), ChatKind::Group, &rules);
    }

    #[test]
    fn whatever_stands_before_a_mention_it_is_found(before in "[a-z🎉é👨‍👩‍👧 ]{0,20}") {
        let message = marked_up(&format!("{before} [@chime](mention) pizza"));
        let rules = Rules { parent_is_answer: false, is_only_bot: false, said_before: None, called: None };
        let trigger = find(&message, None, &bot(), ChatKind::Group, &rules);
        prop_assert!(trigger.is_some_and(|trigger| trigger.ask.ends_with("pizza") && !trigger.ask.contains('@')));
    }
}

#[test]
fn whoever_asks_what_they_missed_gets_a_recap_in_every_language() {
    let found = |line: &str, kind: ChatKind, reply_to: Option<i64>| {
        let message = Message { reply_to: reply_to.map(MessageId), ..marked_up(line) };
        let rules = Rules { parent_is_answer: false, is_only_bot: false, said_before: None, called: None };
        find(&message, None, &bot(), kind, &rules).map(|trigger| trigger.kind)
    };
    let is_recap = |kind: Option<TriggerKind>| matches!(kind, Some(TriggerKind::Command(CommandName::Recap, _)));
    for ask in [
        "what did I miss?",
        "hey, what did I miss here today??",
        "what did I miss since yesterday?",
        "was habe ich seit gestern verpasst?",
        "qu'est-ce que j'ai raté depuis lundi ?",
        "dünden beri ne kaçırdım?",
        "was hab ich verpasst?",
        "¿qué me perdí?",
        "qu'est-ce que j'ai raté ?",
        "o que perdi?",
        "cosa mi sono persa?",
        "wat heb ik gemist?",
        "co mnie ominęło?",
        "что я пропустил?",
        "що я пропустила?",
        "neler kaçırdım?",
        "mis mul kahe silma vahele jäi?",
    ] {
        let line = format!("[@chime](mention) {ask}");
        assert!(is_recap(found(&line, ChatKind::Supergroup, None)), "{ask}");
        assert_eq!(
            found(&line, ChatKind::Private, None),
            Some(TriggerKind::Ask),
            "{ask}: in private nothing is missed"
        );
        assert_eq!(found(&line, ChatKind::Supergroup, Some(9)), Some(TriggerKind::Ask), "{ask}: of a message");
    }
    for ask in ["what did I miss in the budget talk?", "did the train leave?", "thoughts?", ""] {
        assert!(!is_recap(found(&format!("[@chime](mention) {ask}"), ChatKind::Group, None)), "{ask}");
    }
}

/// Returns the command that a message in a group asks for in plain words.
fn asked_in_words(ask: &str) -> Option<CommandName> {
    let message = marked_up(&format!("[@chime](mention) {ask}"));
    let rules = Rules { parent_is_answer: false, is_only_bot: false, said_before: None, called: None };
    match find(&message, None, &bot(), ChatKind::Supergroup, &rules)?.kind {
        TriggerKind::Command(command, _) => Some(command),
        TriggerKind::Ask | TriggerKind::Thanks => None,
    }
}

#[test]
fn a_summary_may_be_asked_for_in_plain_words() {
    for ask in [
        "summarize",
        "can you give us a summary please?",
        "summarize the chat",
        "what's new?",
        "fasse zusammen",
        "fass das bitte mal zusammen",
        "was gibts neues?",
        "hazme un resumen",
        "resumen",
        "fais un récapitulatif",
        "résume la discussion",
        "riassumi la chat",
        "puoi farmi un riassunto",
        "vat het gesprek samen",
        "zrób podsumowanie",
        "resumo",
        "faz um resumo, por favor",
        "подведи итоги",
        "что нового?",
        "підбий підсумки",
        "özet geç",
        "tee kokkuvõte",
    ] {
        assert_eq!(asked_in_words(ask), Some(CommandName::Recap), "{ask}");
    }
    for ask in [
        "summarize the last 10 messages",
        "summarize the book",
        "what's new with the boat?",
        "resume la película",
        "fass den Mietvertrag zusammen",
        "was gibt es Neues vom Vermieter?",
    ] {
        assert_eq!(asked_in_words(ask), None, "{ask}");
    }
}

#[test]
fn reminders_may_be_listed_and_cancelled_in_plain_words() {
    for ask in [
        "which reminders are set?",
        "show me all reminders",
        "cancel the reminder",
        "please cancel the wine reminder",
        "delete my reminder about the boat",
        "welche Erinnerungen gibt es?",
        "lösch die Erinnerung",
        "kannst du die Erinnerung löschen",
        "¿qué recordatorios hay?",
        "cancela el recordatorio del bus",
        "quels rappels sont prévus ?",
        "annule le rappel du vin",
        "quali promemoria ci sono?",
        "annulla il promemoria del vino",
        "welke herinneringen staan er?",
        "verwijder de herinnering",
        "jakie przypomnienia są ustawione?",
        "anuluj przypomnienie o winie",
        "quais lembretes estão marcados?",
        "cancela o lembrete do vinho",
        "какие есть напоминания?",
        "отмени напоминание про вино",
        "які є нагадування?",
        "скасуй нагадування про вино",
        "hangi hatırlatmalar var?",
        "şarap hatırlatmasını iptal et",
        "millised meeldetuletused on?",
        "tühista veini meeldetuletus",
    ] {
        assert_eq!(asked_in_words(ask), Some(CommandName::Reminders), "{ask}");
    }
    for ask in ["remind me tomorrow at 9", "reminder: friday at 8 bins out", "rappel : demain 9h poubelles"] {
        assert_eq!(asked_in_words(ask), Some(CommandName::Remind), "{ask}");
    }
    for ask in ["remind me tomorrow at 9 to cancel the reminder", "recuérdame mañana a las 9 cancelar el recordatorio"]
    {
        assert_eq!(asked_in_words(ask), Some(CommandName::Remind), "{ask}");
    }
    for ask in [
        "why did you cancel the reminder?",
        "did anyone delete the reminder?",
        "what reminders did Ann send us?",
        "which payment reminders did the landlord send?",
        "quels rappels de vaccin faut-il pour le chien ?",
        "mes rappels de vaccin sont à jour ?",
        "who sent the reminders?",
        "what did ann say about the reminder?",
        "which one is better?",
    ] {
        assert_eq!(asked_in_words(ask), None, "{ask}");
    }
}

#[test]
fn a_question_about_what_is_kept_or_a_wish_to_be_deleted_is_about_privacy() {
    for ask in [
        "forget me",
        "please delete my messages",
        "delete everything I wrote",
        "what do you store about us?",
        "who can see my messages?",
        "stop reading my messages",
        "can you see my other groups?",
        "delete the message from Ann about the hospital",
        "vergiss mich",
        "lösche alles was ich geschrieben habe",
        "wer kann meine Nachrichten lesen?",
        "qu'est-ce que tu stockes sur nous ?",
        "est-ce que tu lis tout ?",
        "tu vois mes autres groupes ?",
        "qui peut lire nos messages ?",
        "où sont envoyées mes données ?",
        "que disent les gens dans les autres discussions ?",
        "efface tout ce que j'ai écrit",
        "je ne veux pas être enregistrée",
        "arrête de m'espionner",
        "supprime le message de Chantal sur l'hôpital",
        "borra todo lo que he escrito",
        "¿quién lee nuestros mensajes?",
        "che dati hai su di me?",
        "smetti di leggere i nostri messaggi",
        "verwijder al mijn berichten",
        "wie kan onze berichten lezen?",
        "usuń moje wiadomości",
        "kto czyta nasze wiadomości?",
        "apaga as minhas mensagens",
        "quem pode ler as nossas mensagens?",
        "удали мои сообщения",
        "кто читает наши сообщения?",
        "mesajlarımızı kim okuyor?",
        "yazdıklarımı sil",
        "видали мої повідомлення",
        "хто читає наші повідомлення?",
        "kustuta minu sõnumid",
        "kes loeb meie sõnumeid?",
    ] {
        assert_eq!(asked_in_words(ask), Some(CommandName::Privacy), "{ask}");
    }
    for ask in [
        "who reads the meter?",
        "delete the old branch?",
        "delete the message queue?",
        "what data do we have for May?",
        "where is our data stored?",
        "where are the other groups?",
        "who has the key?",
        "forget it",
        "forget that, cheaper ones",
        "did you read the report?",
        "what does Ann know about us?",
        "remove my name from the list",
        "wer liest den Zähler ab?",
        "was speichert die Batterie?",
        "lösche den alten Branch?",
        "qui lit le compteur ?",
        "tu vois une solution ?",
        "où vont les enfants ?",
        "кто читает лекцию?",
        "удали старую ветку",
        "quem lê o contador?",
        "kto czyta licznik?",
    ] {
        assert_eq!(asked_in_words(ask), None, "{ask}");
    }
}
