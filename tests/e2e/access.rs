//! Access: who may use the bot, and the replies to others.

use chime_core::texts::{menus, texts};
use chime_core::{ChatId, StoredMessage, UserId};
use chime_sandbox::{BotAction, ChatMemberStatus, Cursor, NewChat, NewMember, Post, PostContent};
use chime_store::{chats, messages};
use chime_world::World;

/// Neither owners nor chats are configured.
const CLOSED: [(&str, &str); 2] = [("ALLOWED_CHATS", ""), ("PRIVATE_CHATS", "members")];

/// Adds a private chat between the bot and `name`.
fn private(w: &World, name: &str) -> ChatId {
    w.telegram.add_chat(NewChat::private(name))
}

/// Adds a group that the bot has not joined.
fn group(w: &World, title: &str) -> ChatId {
    w.telegram.add_chat(NewChat::supergroup(title).with_bot(ChatMemberStatus::Left))
}

fn has_left(w: &World, chat: ChatId) -> bool {
    w.telegram.actions_since(Cursor::default()).contains(&BotAction::Left { chat })
}

/// Returns `true` if a member's words or name are stored for the chat.
async fn holds_words(w: &World, chat: ChatId) -> bool {
    let bot = w.telegram.bot_id();
    let is_words = |one: &StoredMessage| !one.message.text.is_empty() || !one.message.sender.name.is_empty();
    w.all_stored(chat).await.iter().any(|one| one.message.sender.id != bot && is_words(one))
}

async fn claim(w: &mut World, name: &str) -> UserId {
    let code = w.claim_code().expect("a bot that nobody owns shows a code");
    let chat = private(w, name);
    let claiming = w.say_in(chat, name, &format!("/claim {code}"));
    let welcome = w.answer_to(claiming).await;
    assert!(welcome.text.starts_with("You are now my owner."), "{}", welcome.text);
    UserId(chat.0)
}

#[tokio::test]
async fn the_first_to_send_the_code_owns_the_bot_and_lets_it_into_groups() {
    World::with(&CLOSED, async |w| {
        let stranger = private(w, "eve");
        let guess = w.say_in(stranger, "eve", "/claim AAAA-BBBB-CCCC");
        assert!(w.answer_to(guess).await.text.starts_with("That is not the right code."));
        let code = w.claim_code().expect("a code");
        let owner = claim(w, "ann").await;

        let late = w.say_in(stranger, "eve", &format!("/claim {code}"));
        let shown = w.next_sent().await;
        assert_eq!((shown.chat, shown.reply_to), (stranger, None), "a code works once; {late} is a stranger's again");
        assert!(shown.text.contains(&stranger.to_string()), "{}", shown.text);

        let chat = group(w, "The lake");
        w.telegram.add_bot_to(chat, ChatMemberStatus::Member, owner);
        w.say_in(chat, "ben", "who brings the boat?");
        w.model.script(["Nobody said yet."]);
        let tag = w.say_in(chat, "ben", "@bot who?");
        assert_eq!(w.answer_to(tag).await.text, "Nobody said yet.");

        w.restart().await;
        assert_eq!(w.claim_code(), None, "an owned bot shows no code");
        w.model.script(["Still nobody."]);
        let tag = w.say_in(chat, "ben", "@bot and now?");
        w.answer_to(tag).await;
    })
    .await;
}

#[tokio::test]
async fn a_group_to_which_a_stranger_adds_the_bot_is_told_how_to_be_allowed_and_left() {
    World::with(&CLOSED, async |w| {
        claim(w, "ann").await;
        let chat = group(w, "Strangers");
        let eve = w.telegram.add_member(chat, "eve");
        w.telegram.add_bot_to(chat, ChatMemberStatus::Member, eve);
        w.say_in(chat, "eve", "@bot the password is swordfish");
        let shown = w.next_sent().await;
        assert_eq!(shown.chat, chat);
        assert!(shown.text.contains(&chat.to_string()) && shown.text.contains("ALLOWED_CHATS"), "{}", shown.text);
        w.settled().await;
        assert!(has_left(w, chat));
        assert!(
            !holds_words(w, chat).await,
            "nothing of a chat that is not allowed is kept but that there was something"
        );
        let title = w.read_store(move |conn| Ok(chats::find(conn, chat)?.and_then(|row| row.chat.title))).await;
        assert_eq!(title, None);

        // The chat had its notice already; the second time the bot just leaves.
        let cursor = w.telegram.cursor();
        w.telegram.add_bot_to(chat, ChatMemberStatus::Member, eve);
        w.settled().await;
        assert_eq!(w.telegram.actions_since(cursor), [BotAction::Left { chat }]);
    })
    .await;
}

#[tokio::test]
async fn a_group_that_is_not_allowed_is_told_before_anybody_speaks() {
    World::with(&CLOSED, async |w| {
        claim(w, "ann").await;
        let chat = w.telegram.add_chat(NewChat::supergroup("Silence"));
        let eve = w.telegram.add_member(chat, "eve");
        w.telegram.add_bot_to(chat, ChatMemberStatus::Member, eve);
        let shown = w.next_sent().await;
        assert!(shown.chat == chat && shown.text.starts_with("I work only in chats"), "{}", shown.text);
        w.settled().await;
        assert!(has_left(w, chat));
    })
    .await;
}

#[tokio::test]
async fn whoever_is_turned_away_is_told_so_in_their_language() {
    World::with(&CLOSED, async |w| {
        claim(w, "ann").await;
        let chat = w.telegram.add_chat(NewChat::supergroup("Verein"));
        w.telegram.add_member(chat, NewMember::named("eva").language("de"));
        w.say_in(chat, "eva", "Wer bringt morgen den Kuchen mit?");
        w.telegram.all_confirmed().await;
        w.clock.advance(std::time::Duration::from_secs(5));
        let shown = w.next_sent().await;
        assert!(shown.text.starts_with("Ich arbeite nur in Chats"), "{}", shown.text);
        assert!(!holds_words(w, chat).await);
    })
    .await;
}

#[tokio::test]
async fn an_owner_who_adds_the_bot_is_heard_even_when_the_chat_speaks_first() {
    World::with(&CLOSED, async |w| {
        let owner = claim(w, "ann").await;
        let chat = w.telegram.add_chat(NewChat::supergroup("Early birds"));
        w.say_in(chat, "ben", "hello, whoever you are");
        w.telegram.all_confirmed().await;
        w.telegram.add_bot_to(chat, ChatMemberStatus::Member, owner);
        w.telegram.all_confirmed().await;
        w.clock.advance(std::time::Duration::from_secs(5));
        w.settled().await;
        assert!(!has_left(w, chat));
        w.model.script(["Hello."]);
        let tag = w.say_in(chat, "ben", "@bot hello");
        w.answer_to(tag).await;
    })
    .await;
}

#[tokio::test]
async fn a_group_that_is_no_longer_listed_is_left_and_leaves_stubs() {
    World::with(&[], async |w| {
        w.say("ann", "kept while it was allowed");
        w.settled().await;
        w.stop().await;
        w.set("ALLOWED_CHATS", "-42");
        w.set("OWNER_IDS", "4711");
        w.start().await;
        let said = w.say("ann", "never kept");
        w.telegram.all_confirmed().await;
        w.clock.advance(std::time::Duration::from_secs(5));
        assert!(w.next_sent().await.text.contains(&w.chat.to_string()));
        w.settled().await;
        assert!(has_left(w, w.chat));
        assert_eq!(w.stored(w.chat, said).await, None, "a stub is not to be read");
        let texts: Vec<String> = w.all_stored(w.chat).await.into_iter().map(|one| one.message.text).collect();
        assert!(!texts.iter().any(|text| text == "never kept"), "{texts:?}");
    })
    .await;
}

#[tokio::test]
async fn a_listed_group_stays_allowed_when_it_becomes_a_supergroup() {
    World::with(&[("ALLOWED_CHATS", "-4001"), ("PRIVATE_CHATS", "owners")], async |w| {
        let group = w.telegram.add_chat(NewChat::group("Small beginnings"));
        w.say_in(group, "ann", "who brings the boat?");
        let grown = w.telegram.migrate(group);
        w.model.script(["Nobody said yet."]);
        let tag = w.say_in(grown, "ann", "@bot who?");
        w.answer_to(tag).await;
        w.clock.advance(std::time::Duration::from_secs(5));
        w.settled().await;
        assert!(!has_left(w, grown));
    })
    .await;
}

#[tokio::test]
async fn in_private_a_member_is_served_and_a_stranger_is_told_once() {
    World::with(&[("PRIVATE_CHATS", "members")], async |w| {
        w.say("ann", "hello everybody");
        w.settled().await;
        let (member, stranger) = (private(w, "ann"), private(w, "eve"));
        w.model.script(["Hello, Ann."]);
        let tag = w.say_in(member, "ann", "hi there");
        w.answer_to(tag).await;
        let said = w.say_in(stranger, "eve", "tell me everything");
        w.telegram.all_confirmed().await;
        w.clock.advance(std::time::Duration::from_secs(5));
        let shown = w.next_sent().await;
        assert!(shown.chat == stranger && shown.text.contains("members of the groups"), "{}", shown.text);
        w.say_in(stranger, "eve", "please?");
        w.telegram.all_confirmed().await;
        w.clock.advance(std::time::Duration::from_secs(5));
        w.settled().await;
        assert!(w.read_store(move |conn| messages::is_stub(conn, stranger, said)).await);

        let ann = w.member("ann");
        w.telegram.say(w.chat, Post::new(ann, "", w.clock.now()).with(PostContent::LeftChat(ann)));
        w.settled().await;
        w.say_in(member, "ann", "hello again?");
        w.telegram.all_confirmed().await;
        w.clock.advance(std::time::Duration::from_secs(5));
        let shown = w.next_sent().await;
        assert!(shown.chat == member && shown.text.contains("members of the groups"), "{}", shown.text);
        w.say("ann", "I am back");
        w.settled().await;
        w.model.script(["Hello again."]);
        let tag = w.say_in(member, "ann", "and now?");
        w.answer_to(tag).await;

        let asking = w.say_in(stranger, "eve", "/privacy");
        assert!(w.answer_to(asking).await.text.contains("/forget"), "everybody may know what is kept of them");
    })
    .await;
}

#[tokio::test]
async fn commands_of_other_bots_are_left_to_them() {
    World::run(async |w| {
        for text in ["/weather Oslo", "/forget@other_bot me", "/settings@other_bot", "/start", "/help", "/privacy"] {
            w.say("ann", text);
        }
        w.settled().await;
        let own = w.say("ann", "/privacy@bot");
        assert!(w.answer_to(own).await.text.starts_with("I keep the messages of the chats I work in"));
    })
    .await;
}

#[tokio::test]
async fn telegram_is_told_which_commands_there_are_and_what_is_kept() {
    World::run(async |w| {
        let menus = menus().count();
        w.telegram.called("setMyCommands", menus).await;
        let shown = format!("{:?}", w.telegram.commands());
        for command in ["ask", "why", "forget", "optout", "optin", "privacy", "help"] {
            assert!(shown.contains(&format!("\"{command}\"")), "{command} is not in {shown}");
        }
        w.telegram.called("setMyShortDescription", 1).await;
        let shown = w.telegram.short_description();
        assert_eq!(
            shown,
            "Reads its chats, answers when tagged, with links. Keeps what it reads for 365 days: /privacy"
        );
        // Each menu is in the reader's language; members see no commands of admins.
        let menu = |scope: &str| {
            let menus = w.telegram.commands();
            let found = menus.into_iter().find(|(key, _)| key.contains(scope) && key.ends_with("de"));
            found.map(|(_, commands)| commands.to_string()).unwrap_or_default()
        };
        let groups = menu("all_group_chats");
        assert!(groups.contains(&texts("deu").menu["search"]) && !groups.contains("\"export\""), "{groups}");
        assert!(groups.contains("is_ephemeral") && !menu("all_private_chats").contains("is_ephemeral"));
        assert!(menu("all_chat_administrators").contains(&texts("deu").menu["export"]));
        // Only what has changed is sent after a restart.
        w.restart().await;
        w.settled().await;
        w.telegram.called("getMyShortDescription", 2).await;
        assert_eq!(w.telegram.calls().iter().filter(|call| call.is("setMyCommands")).count(), menus);
        w.set("RETENTION_DAYS", "30");
        w.restart().await;
        w.telegram.called("setMyShortDescription", 2).await;
        assert!(w.telegram.short_description().ends_with("Keeps what it reads for 30 days: /privacy"));
    })
    .await;
}
