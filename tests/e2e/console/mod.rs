//! The owners' page: who gets in, what it shows and hides, its buttons, and chats as JSON.

mod browser;
mod chromium;

use std::time::Duration;

use chime_core::{Chat, ChatId, ChatKind, UserId};
use chime_runtime::clock::Clock;
use chime_sandbox::{NewChat, NewMember, Post, PostContent};
use chime_store::tags::NewTag;
use chime_store::{Reader, amend, chats, jobs, messages, tags};
use chime_testkit::Reply;
use chime_world::World;
use rusqlite::Connection;
use serde_json::Value;

use crate::console::browser::{Browser, Response};
use crate::memory::{DAY, HOUR, NO_MODEL, ON, closed, until_summarized};
use crate::operator::free_address;
use crate::privacy::found_in_files;

const TOKEN: &str = "tokentokentokentokentokentokentoken";
const MINUTE: Duration = Duration::from_secs(60);
const SCRIPT: &str = "<script>alert(1)</script>";

/// Runs `test` with a daemon whose page is open and that ann owns. The chat is hers with the bot.
async fn with_console(more: &[(&str, &str)], test: impl AsyncFnOnce(&mut World, ChatId)) {
    let address = free_address();
    let settings = [&[("CONSOLE_ADDR", address.as_str()), ("CONSOLE_TOKEN", TOKEN)], more].concat();
    World::with(&settings, async |w| {
        let ann = w.telegram.add_chat(NewChat::private("ann"));
        w.set("OWNER_IDS", &ann.to_string());
        w.restart().await;
        test(w, ann).await;
    })
    .await;
}

/// Sends `/console` and returns the link in the reply.
async fn link(w: &mut World, owner: ChatId) -> String {
    let asked = w.say_in(owner, "ann", "/console");
    let reply = w.answer_to(asked).await.text;
    let link = reply.split_whitespace().find(|word| word.starts_with("http://"));
    link.unwrap_or_else(|| panic!("no link in {reply}")).to_owned()
}

async fn logged_in(w: &mut World, owner: ChatId) -> Browser {
    let link = link(w, owner).await;
    let mut browser = Browser::new(&link);
    assert_eq!(browser.log_in(&link).await.status, 303);
    browser
}

/// Returns the address of a chat's timeline.
async fn timeline(w: &World, chat: ChatId) -> String {
    let row = w.read_store(move |conn| chats::find(conn, chat)).await.expect("a known chat");
    format!("/chats/{}", row.key)
}

/// Returns all views of the group and of the answer that its timeline links to.
async fn views(w: &World, browser: &Browser) -> Vec<Response> {
    views_of(w, browser, w.chat).await
}

async fn views_of(w: &World, browser: &Browser, chat: ChatId) -> Vec<Response> {
    let chat = timeline(w, chat).await;
    let mut pages = Vec::new();
    for path in ["/", "/privacy", "/settings", &chat, &format!("{chat}?q=boat"), &format!("{chat}/memory")] {
        pages.push(browser.get(path).await);
    }
    let answer = pages[3].body.split('"').find(|part| part.starts_with("/answers/")).map(str::to_owned);
    if let Some(answer) = answer {
        pages.push(browser.get(&format!("{answer}?context_tokens=900")).await);
    }
    pages.iter().for_each(|page| assert_eq!(page.status, 200, "{}", page.body));
    pages
}

#[tokio::test]
async fn a_link_logs_an_owner_in_once_and_within_ten_minutes() {
    with_console(&[], async |w, ann| {
        let first = link(w, ann).await;
        let mut browser = Browser::new(&first);
        let refused = browser.get("/").await;
        assert!(refused.status == 401 && refused.body.contains("/console"), "{}", refused.body);
        // Messengers open links to preview them, which uses nothing up.
        assert_eq!((browser.get(&first).await.status, browser.get(&first).await.status), (200, 200));
        let entered = browser.log_in(&first).await;
        let cookie = entered.headers["set-cookie"].to_str().expect("a cookie").to_owned();
        assert!(entered.status == 303 && cookie.contains("HttpOnly; SameSite=Strict"), "{cookie}");
        let overview = browser.get("/").await;
        assert!(overview.status == 200 && overview.body.contains("Overview"), "{}", overview.body);
        let policy = overview.headers["content-security-policy"].to_str().expect("a policy");
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");

        let mut other = Browser::new(&first);
        assert_eq!(other.log_in(&first).await.status, 401, "used twice");
        let guessed = first.split_once('=').map(|(start, token)| format!("{start}={}", "0".repeat(token.len())));
        assert_eq!(other.log_in(&guessed.expect("a token")).await.status, 401, "guessed");
        let late = link(w, ann).await;
        w.clock.advance(10 * MINUTE);
        assert_eq!(other.log_in(&late).await.status, 401, "too late");

        w.clock.advance(12 * 60 * MINUTE);
        assert_eq!(browser.get("/").await.status, 401, "a session ends");
        let mut again = logged_in(w, ann).await;
        assert!(again.post("/logout", &[]).await.body.contains("logged out"));
        assert_eq!(again.get("/").await.status, 401, "logged out");
        let tokens: Vec<String> =
            [first, late].iter().filter_map(|link| Some(link.split_once('=')?.1.to_owned())).collect();
        w.stop().await;
        assert_eq!(found_in_files(w, &tokens), Vec::<String>::new(), "links are not kept");
        w.start().await;
        assert_eq!(browser.get("/").await.status, 401, "a restart logs out");
    })
    .await;
}

#[tokio::test]
async fn only_owners_get_a_link_and_only_in_private() {
    with_console(&[], async |w, ann| {
        let eve = w.telegram.add_chat(NewChat::private("eve"));
        let asked = w.say_in(eve, "eve", "/console");
        let in_private = w.answer_to(asked).await.text;
        let by_owner = Post::new(UserId(ann.0), "/console@bot", w.clock.now());
        let asked = w.telegram.say(w.chat, by_owner);
        let in_group = w.answer_to(asked).await.text;
        assert!(!in_private.contains("http") && !in_group.contains("http"), "{in_private} {in_group}");
    })
    .await;
}

#[tokio::test]
async fn other_sites_cannot_read_or_press_anything() {
    with_console(&[("CONSOLE_URL", "https://chime.example.org/")], async |w, ann| {
        let asked = w.say_in(ann, "ann", "/console");
        let reply = w.answer_to(asked).await.text;
        let token = reply.split_once("https://chime.example.org/login?token=").expect("a link through the proxy").1;
        let address = w.environment()["CONSOLE_ADDR"].clone();
        let link = format!("http://{address}/login?token={}", token.trim());
        let mut browser = Browser::new(&link);
        let entered = browser.log_in(&link).await;
        assert!(entered.headers["set-cookie"].to_str().expect("a cookie").ends_with("; Secure"));

        for (host, status) in [
            ("chime.example.org", 200),
            ("localhost:1234", 200),
            ("evil.example.org", 421),
            ("chime.example.org.evil.org", 421),
        ] {
            assert_eq!(browser.get_from(host, "/").await.status, status, "{host}");
        }
        let chat = format!("{}/rebuild", timeline(w, ann).await);
        for path in ["/jobs/retry", chat.as_str(), "/logout"] {
            let fields = [("job", "1"), ("what", "recent")];
            let bare = browser.post_raw(path, &fields).await;
            let wrong = browser.post_raw(path, &[&fields[..], &[("form_token", "guessed")]].concat()).await;
            assert_eq!((bare.status, wrong.status), (422, 403), "{path}");
        }
        assert_eq!(browser.get("/").await.status, 200, "still logged in");
    })
    .await;
}

#[tokio::test]
async fn a_parked_job_is_tried_again_and_memory_rebuilt_at_the_press_of_a_button() {
    with_console(&[("MEMORY", "on")], async |w, ann| {
        let mut browser = logged_in(w, ann).await;
        let conn = Connection::open(w.database()).expect("the database");
        conn.execute_batch("UPDATE job SET state = 'parked', last_error = 'the moon was full' WHERE kind = 'recaps'")
            .expect("park a job");
        let overview = browser.get("/").await.body;
        let job = overview.split(r#"name="job" value=""#).nth(1).and_then(|rest| rest.split('"').next());
        assert!(overview.contains("the moon was full") && overview.contains("1 jobs are parked"), "{overview}");
        let tried = browser.post("/jobs/retry", &[("job", job.expect("a button"))]).await;
        assert_eq!(tried.status, 303);
        w.until("nothing is parked", |conn| Ok(jobs::counts(conn)?.1 == 0)).await;
        assert!(!browser.get("/").await.body.contains("the moon was full"));

        w.say("ann", "the boat leaves at nine");
        w.settled().await;
        let chat = timeline(w, w.chat).await;
        assert_eq!(browser.post(&format!("{chat}/rebuild"), &[("what", "recent")]).await.status, 303);
        assert_eq!(browser.post(&format!("{chat}/rebuild"), &[("what", "all")]).await.status, 404);
        assert_eq!(browser.post("/chats/99/rebuild", &[("what", "recent")]).await.status, 404);
    })
    .await;
}

#[tokio::test]
async fn what_members_write_is_never_markup() {
    with_console(&[], async |w, ann| {
        let mut browser = logged_in(w, ann).await;
        let mal = w.telegram.add_member(w.chat, NewMember::named("<img src=x onerror=alert(2)>"));
        let say = |post: Post| w.telegram.say(w.chat, post);
        say(Post::new(mal, "titled", w.clock.now()).with(PostContent::Titled(format!("{SCRIPT} table"))));
        let boat = say(Post::new(mal, format!("the boat \"leaves\" at nine {SCRIPT}"), w.clock.now()));
        let file = PostContent::Document { file_name: "\"><svg onload=alert(3)>.pdf".to_owned() };
        say(Post::new(mal, "see this boat", w.clock.now()).with(file));
        say(Post::new(mal, "no", w.clock.now()).reply_to(boat).quote(SCRIPT));
        w.settled().await;
        w.model.script([Reply::text(format!("At nine {SCRIPT} [m2] [m99]"))]);
        let tag = say(Post::new(mal, "@bot when does the boat leave?", w.clock.now()));
        w.answer_to(tag).await;
        w.settled().await;
        let pages = views(w, &browser).await;
        assert_eq!(pages.len(), 7, "an answer is among them");
        for page in &pages {
            for bad in ["<script", "<img", "<svg onload", "style=", "onerror=\""] {
                assert!(!page.body.contains(bad), "{bad} in {}", page.body);
            }
        }
        assert!(pages[3].body.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{}", pages[3].body);
        assert!(pages[6].body.contains("m99"), "what was removed is named: {}", pages[6].body);
        let reflected = browser.get(&format!("/login?token={SCRIPT}")).await.body;
        assert!(!reflected.contains("<script"), "{reflected}");
        let searched = browser.get(&format!("{}?q={SCRIPT}", timeline(w, w.chat).await)).await.body;
        assert!(!searched.contains("<script"), "{searched}");
        assert_eq!(browser.post("/logout", &[("token", SCRIPT)]).await.status, 401);
    })
    .await;
}

#[tokio::test]
async fn nothing_of_a_member_who_opted_out_is_shown() {
    with_console(&[], async |w, ann| {
        let browser = logged_in(w, ann).await;
        w.say("zqben7xk", "zqsecret7xk is the code of the boat house");
        w.say("cat", "the boat leaves at nine");
        w.model.script(["zqsecret7xk, says zqben7xk [m1]"]);
        let tag = w.say("cat", "@bot what is the code of the boat house?");
        w.answer_to(tag).await;
        w.settled().await;
        let before = views(w, &browser).await;
        let answer = before[3].body.split('"').find(|part| part.starts_with("/answers/")).map(str::to_owned);
        assert!(before.iter().any(|page| page.body.contains("zqsecret7xk")), "it is there before");

        let out = w.say("zqben7xk", "/optout");
        w.answer_to(out).await;
        // Before the deletion has run, too.
        let pages = views(w, &browser).await;
        assert_eq!(browser.get(&answer.expect("an answer")).await.status, 404);
        w.settled().await;
        let later = views(w, &browser).await;
        for page in pages.iter().chain(&later) {
            assert!(!page.body.contains("zqsecret7xk") && !page.body.contains("zqben7xk"), "{}", page.body);
        }
        let ben = w.member("zqben7xk");
        assert!(later[1].body.contains(&ben.to_string()), "opt-outs are shown as ids: {}", later[1].body);
        let counted = browser.get(&format!("/privacy?user={ben}")).await.body;
        assert!(counted.contains("Answers that rest on them"), "{counted}");
        let json = browser.api(TOKEN, &format!("search?chat={}&query=zqsecret7xk", w.chat)).await;
        assert!(json.status == 200 && !json.body.contains("zqben7xk"), "{}", json.body);
    })
    .await;
}

#[tokio::test]
async fn topics_decisions_and_tasks_are_shown_until_the_member_opts_out() {
    with_console(&[ON, NO_MODEL[0], NO_MODEL[1]], async |w, ann| {
        let browser = logged_in(w, ann).await;
        w.say("cat", "the green tent has a hole near the door since the storm in May");
        w.say("zqben7xk", "we decided: the zqsecret7xk tent comes along to the lake, not the green tent");
        w.say("zqben7xk", "I'll order the zqsecret7xk firewood from the sawmill by Friday");
        w.say("cat", "and it takes two people to carry it");
        w.settled().await;
        w.clock.advance(2 * HOUR);
        until_summarized(w, 1).await;
        let session = closed(w).await[0].id;
        let tag = |name: &str| NewTag { name: name.to_owned(), key: name.to_owned(), confidence: 0.9 };
        amend(&w.database(), |tx| tags::save(tx, session, &[tag("lake"), tag("zqsecret7xk-tent")])).expect("add tags");
        let pages = views(w, &browser).await;
        let (chat, memory) = (&pages[3].body, &pages[5].body);
        assert_eq!(chat.matches("lake <strong>1 session</strong>").count(), 1, "{chat}");
        for item in ["we decided: the zqsecret7xk", "I'll order the zqsecret7xk"] {
            assert!(memory.contains(item), "{item} is missing from {memory}");
        }

        let out = w.say("zqben7xk", "/optout");
        w.answer_to(out).await;
        for page in views(w, &browser).await {
            assert!(!page.body.contains("zqsecret7xk") && !page.body.contains("zqben7xk"), "{}", page.body);
        }
    })
    .await;
}

#[tokio::test]
async fn every_view_opens_without_messages_and_after_the_bot_left() {
    with_console(&[ON], async |w, ann| {
        let browser = logged_in(w, ann).await;
        let empty = Chat { id: ChatId(-1_000_000_000_777), kind: ChatKind::Supergroup, title: None, username: None };
        amend(&w.database(), |tx| chats::upsert(tx, &empty).map(drop)).expect("add a chat");
        let pages = views_of(w, &browser, empty.id).await;
        assert!(pages[0].body.contains("supergroup chat -1000000000777"), "{}", pages[0].body);

        w.say("cat", "the boat leaves at nine");
        w.settled().await;
        w.telegram.kick_bot(w.chat);
        w.settled().await;
        assert!(views(w, &browser).await[0].body.contains("<small>left</small>"));
        let (chat, path) = (w.chat, timeline(w, w.chat).await);
        w.clock.advance(31 * DAY);
        let is_gone = move |conn: &Reader| match chats::find(conn, chat)? {
            Some(row) => Ok(messages::all_of(conn, row.key)?.is_empty()),
            None => Ok(true),
        };
        w.until("the messages are gone", is_gone).await;
        let browser = logged_in(w, ann).await;
        for path in [path.clone(), format!("{path}/memory"), "/".to_owned(), "/privacy".to_owned()] {
            let page = browser.get(&path).await;
            assert!([200, 404].contains(&page.status) && !page.body.contains("at nine"), "{path}: {}", page.body);
        }
    })
    .await;
}

#[tokio::test]
async fn no_address_fails_or_is_repeated_as_markup() {
    with_console(&[], async |w, ann| {
        let browser = logged_in(w, ann).await;
        w.say("ann", "the boat leaves at nine");
        w.settled().await;
        let chat = timeline(w, w.chat).await;
        let huge = "9".repeat(40);
        let found = [
            format!("{chat}?before=0"),
            format!("{chat}?before={}", u32::MAX),
            format!("{chat}?after={}", u32::MAX),
            format!("{chat}?around={}", u32::MAX),
            format!("{chat}?day=9999-12-31"),
            format!("{chat}?day=-262143-01-01"),
            format!("{chat}?day={SCRIPT}"),
            format!("{chat}?q={}", "(\"*^:%00".repeat(200)),
            format!("/privacy?user={}", i64::MIN),
            format!("/privacy?user={huge}{SCRIPT}"),
        ];
        let refused = [
            "/nothing".to_owned(),
            format!("/{SCRIPT}"),
            "/chats/99".to_owned(),
            format!("/chats/{}/memory", u32::MAX),
            format!("/chats/{huge}"),
            format!("/chats/-1{SCRIPT}"),
            format!("{chat}?before={huge}{SCRIPT}"),
            "/answers/7ZZZZZZZZZZZZZZZZZZZZZZZZZ".to_owned(),
            format!("/answers/{}", "Z".repeat(26)),
            format!("/answers/{}?context_tokens={huge}", "0".repeat(26)),
        ];
        for (path, is_found) in found.iter().map(|path| (path, true)).chain(refused.iter().map(|path| (path, false))) {
            let page = browser.get(path).await;
            let status = if is_found { 200..300 } else { 400..500 };
            assert!(status.contains(&page.status), "{path}: {} {}", page.status, page.body);
            let is_html = page.headers["content-type"].to_str().is_ok_and(|kind| kind.contains("html"));
            assert!(!is_html || !page.body.contains("<script"), "{path}: {}", page.body);
        }
    })
    .await;
}

#[tokio::test]
async fn settings_show_their_origin_and_no_secret() {
    with_console(&[("OPENAI_API_KEY", "sk-zqsecret7xk"), ("PRICE_IN", "1")], async |w, ann| {
        let mut browser = logged_in(w, ann).await;
        let page = browser.get("/settings").await.body;
        for hidden in ["zqsecret7xk", TOKEN, w.telegram.token()] {
            assert!(!page.contains(hidden), "{hidden} in {page}");
        }
        for part in ["OPENAI_API_KEY", "14 characters (hidden)", "environment", "default", "LOOKBACK_LIMIT"] {
            assert!(page.contains(part), "{part} is missing from {page}");
        }
        browser.post("/logout", &[]).await;
    })
    .await;
}

#[tokio::test]
async fn programs_read_chats_as_json_with_the_token() {
    with_console(&[], async |w, ann| {
        let browser = logged_in(w, ann).await;
        w.say("ann", "the boat leaves at nine from the old pier");
        w.settled().await;
        let call = format!("read?chat={}", w.chat);
        for token in ["", "guessed", &TOKEN[1..]] {
            assert_eq!(browser.api(token, &call).await.status, 401, "{token}");
        }
        assert_eq!(browser.get(&format!("/api/{call}")).await.status, 401, "a session is no token");
        let read: Value = serde_json::from_str(&browser.api(TOKEN, &call).await.body).expect("JSON");
        let message = &read["messages"][0];
        assert_eq!((message["name"].as_str(), message["id"].is_i64()), (Some("ann"), true), "{read}");
        let sent_at = message["sent_at"].as_str().and_then(|at| chrono::DateTime::parse_from_rfc3339(at).ok());
        assert!(sent_at.is_some(), "{read}");
        let found = browser.api(TOKEN, &format!("search?chat={}&query=when+does+the+boat+leave", w.chat)).await;
        assert!(found.status == 200 && found.body.contains("the old pier"), "{}", found.body);
        let recap: Value =
            serde_json::from_str(&browser.api(TOKEN, &format!("recap?chat={}", w.chat)).await.body).expect("JSON");
        assert!(recap["text"].is_string(), "{recap}");
        for (call, status) in [("read?chat=1", 400), ("search?query=boat", 400), ("erase?chat=1", 404)] {
            assert_eq!(browser.api(TOKEN, call).await.status, status, "{call}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_chat_of_200_000_messages_opens_in_300_ms() {
    const MOST: Duration = Duration::from_millis(300);
    const TRIES: usize = 5;
    // Without vectors, which would be made of all messages in the background.
    with_console(&[("EMBEDDING", "off")], async |w, ann| {
        w.say("ann", "the boat leaves at nine");
        w.settled().await;
        w.stop().await;
        Connection::open(w.database())
            .expect("the database")
            .execute_batch(
                "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 200000)
                 INSERT INTO message (id, chat_key, seq, telegram_chat_id, message_id, user_id, sender_name, role, is_bot,
                     ts, kind, text, source, stem_language)
                 SELECT first.id + n, first.chat_key, first.seq + n, first.telegram_chat_id, first.message_id + n,
                     first.user_id + n % 30, 'member ' || n % 30, 'user', 0, first.ts - 4000000 + n * 20, 'text',
                     'message ' || n || ' about the boat and the lake', 'import', 'eng'
                 FROM n, (SELECT * FROM message ORDER BY id DESC LIMIT 1) AS first;
                 WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 4000),
                     first AS (SELECT * FROM message ORDER BY chat_key DESC, id LIMIT 1)
                 INSERT INTO session (id, chat_key, started_at, first_message_id, ended_at, last_message_id, messages,
                     reason, closed_at, fingerprint, summarized)
                 SELECT first.id + n * 50, chat_key, ts - 4000000 + n * 1000, message_id + n * 50,
                     ts - 4000000 + n * 1000 + 900, message_id + n * 50 + 49, 50, 'silence', 0, n, n
                 FROM n, first;
                 INSERT INTO mini_summary (session_id, bullets, tokens, method, model, built_at)
                 SELECT id, json_array(json_object('kind', 'decision', 'text', 'the boat leaves at ' || fingerprint,
                         'sources', json_array((id & 4294967295) + 7))), 9, 'model', 'm', 0
                 FROM session;
                 INSERT INTO tag (id, chat_key, name, key)
                 SELECT fingerprint, chat_key, 'tag' || fingerprint, 'tag' || fingerprint FROM session WHERE fingerprint <= 300;
                 INSERT OR IGNORE INTO session_tag (session_id, tag_id, confidence)
                 SELECT session.id, (fingerprint * place) % 300 + 1, 0.9
                 FROM session, (SELECT 1 AS place UNION SELECT 7 UNION SELECT 11);
                 UPDATE chat SET next_seq = next_seq + 200000;",
            )
            .expect("add messages and sessions");
        w.start().await;
        let browser = logged_in(w, ann).await;
        let chat = timeline(w, w.chat).await;
        let places = ["", "?around=100000", "?before=150000", "/memory"].map(|place| format!("{chat}{place}"));
        for path in places.into_iter().chain(["/".to_owned()]) {
            let (mut best, clock) = (Duration::MAX, Clock::system());
            // Tests that run at the same time slow some tries down.
            for _ in 0..TRIES {
                let watch = clock.stopwatch();
                let page = browser.get(&path).await;
                best = best.min(watch.elapsed());
                assert_eq!(page.status, 200, "{}", page.body);
                if best < MOST {
                    break;
                }
            }
            assert!(best < MOST, "{path} took {best:?}");
        }
    })
    .await;
}
