//! Times are shown in the group's time zone.

use chime_core::{Timestamp, Zone};
use chime_sandbox::{ChatMemberStatus, NewMember, Post};
use chime_world::World;

const TOKYO: [(&str, &str); 1] = [("TIME_ZONE", "Asia/Tokyo")];

fn in_tokyo(at: Timestamp) -> String {
    Zone::parse("Asia/Tokyo").expect("a zone").clock_time(at)
}

#[tokio::test]
async fn prompt_sources_and_why_tell_times_of_the_chosen_zone() {
    World::with(&TOKYO, async |w| {
        let said = w.play("10:00 ann#1 the boat leaves at noon, says the harbour")[0];
        w.model.script(["At noon [source: m1]."]);
        let tag = w.say("bob", "@bot when does the boat leave?");
        let answer = w.answer_to(tag).await;
        let time = in_tokyo(w.stored(w.chat, said).await.expect("it is kept").message.sent_at);
        let prompt = w.prompt(1).await;
        assert!(prompt.contains(&format!("ann ({time})")), "{prompt}");
        assert!(prompt.contains("(Asia/Tokyo)") && !prompt.contains("UTC"), "{prompt}");
        assert!(answer.text.contains(&format!("ann {time}")), "{}", answer.text);
        let why = w.reply("bob", answer.id, "/why@bot");
        let actual = w.answer_to(why).await.text;
        assert!(actual.contains(&time), "{actual}");
    })
    .await;
}

#[tokio::test]
async fn utc_is_named_where_members_see_it() {
    World::with(&[("TIME_ZONE", "UTC"), ("OPENAI_BASE_URL", ""), ("MODEL", "")], async |w| {
        w.play("10:00 ann#1 the boat leaves at noon, says the harbour");
        let tag = w.say("bob", "@bot when does the boat leave?");
        let answer = w.answer_to(tag).await;
        assert!(answer.text.contains(" UTC"), "{}", answer.text);
    })
    .await;
}

#[tokio::test]
async fn admins_set_the_time_zone_of_their_chat() {
    World::with(&[("TIME_ZONE", "UTC"), ("OPENAI_BASE_URL", ""), ("MODEL", "")], async |w| {
        let said = w.play("10:00 ann#1 the boat leaves at noon, says the harbour")[0];
        let eve = w.telegram.add_member(w.chat, NewMember::named("eve").status(ChatMemberStatus::Administrator));
        let by_eve = |w: &World, text: &str| w.telegram.say(w.chat, Post::new(eve, text, w.clock.now()));
        let refused = w.say("bob", "/settings@bot timezone Asia/Tokyo");
        assert!(w.answer_to(refused).await.text.contains("Only admins"));
        let wrong = by_eve(w, "/settings@bot timezone Atlantis");
        assert!(w.answer_to(wrong).await.text.contains("I don't know that time zone"));
        let time = in_tokyo(w.stored(w.chat, said).await.expect("it is kept").message.sent_at);
        let set = by_eve(w, "/settings@bot timezone asia/tokyo");
        assert!(w.answer_to(set).await.text.contains("Asia/Tokyo"));
        let tag = w.say("bob", "@bot when does the boat leave?");
        let answer = w.answer_to(tag).await.text;
        assert!(answer.contains(&format!("ann {time}")) && !answer.contains(" UTC"), "{answer}");
        let reset = by_eve(w, "/settings@bot timezone default");
        assert!(w.answer_to(reset).await.text.contains("UTC"));
    })
    .await;
}
