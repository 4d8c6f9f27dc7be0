//! Selects the best bullets of several summaries, without a model.

use std::collections::HashMap;

use crate::bullets::cost;
use crate::members;
use crate::policy::Caps;
use chime_core::{Bullet, Rolling};
use chime_relevance::context::{lasting_worth, worth};

/// Selects the best bullets, none longer than its equal share of the tokens, and keeps their order. For
/// [`Rolling::History`], selects only bullets that stay useful for long. Selecting from a
/// selection and new bullets gives the same result as selecting from all at once, so a summary may be extended in any
/// number of steps.
pub fn rolled(bullets: &[Bullet], caps: Caps, period: Rolling, estimate: fn(&str) -> usize) -> Vec<Bullet> {
    // Gives each bullet the same limit, so that a bullet is kept or dropped independently of the others.
    let share = caps.tokens / caps.bullets.max(1);
    // If bullets have the same text, the last one is used.
    let last: HashMap<&str, usize> =
        bullets.iter().enumerate().map(|(place, bullet)| (bullet.text.as_str(), place)).collect();
    let score = |bullet: &Bullet| match period {
        Rolling::Recent => Some(worth_of(bullet)),
        Rolling::History => lasting_worth_of(bullet),
    };
    let is_fitting = |place: usize, bullet: &Bullet| {
        last.get(bullet.text.as_str()) == Some(&place) && cost(std::slice::from_ref(bullet), estimate) <= share
    };
    let fitting = bullets.iter().enumerate().filter(|(place, bullet)| is_fitting(*place, bullet));
    best(bullets, fitting.filter_map(|(place, bullet)| Some((score(bullet)?, place))).collect(), caps, estimate)
}

/// Selects the best bullets within the caps, and keeps their order.
pub fn most_telling(bullets: &[Bullet], caps: Caps, estimate: fn(&str) -> usize) -> Vec<Bullet> {
    best(bullets, bullets.iter().map(worth_of).zip(0..).collect(), caps, estimate)
}

/// Returns the bullets with the best scores within the caps, in their order. `scored` has scores and places.
fn best(bullets: &[Bullet], mut scored: Vec<(f64, usize)>, caps: Caps, estimate: fn(&str) -> usize) -> Vec<Bullet> {
    scored.sort_by(|(one, a), (other, b)| other.total_cmp(one).then(b.cmp(a)));
    let mut left = caps.tokens;
    let mut chosen: Vec<usize> = Vec::new();
    for (_, place) in scored {
        let tokens = cost(std::slice::from_ref(&bullets[place]), estimate);
        if chosen.len() < caps.bullets && tokens <= left {
            left -= tokens;
            chosen.push(place);
        }
    }
    chosen.sort_unstable();
    chosen.into_iter().map(|place| bullets[place].clone()).collect()
}

/// Scores a bullet by its own text, without the names of its authors.
fn worth_of(bullet: &Bullet) -> f64 {
    worth(&members::unnamed(&members::without_authors(&bullet.text)))
}

/// Scores a bullet for History. A question with its answer is scored by the answer, and left out if it calls one
/// member. A bullet that a model wrote is complete by itself.
fn lasting_worth_of(bullet: &Bullet) -> Option<f64> {
    if !members::has_author(&bullet.text) {
        return Some(worth_of(bullet));
    }
    let said: Vec<String> = members::said_in(&bullet.text).map(members::unnamed).collect();
    let calls_one = said.iter().any(|text| text.starts_with('@'));
    said.last().filter(|_| !calls_one).and_then(|last| lasting_worth(last))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use chime_core::{Seq, estimate_tokens};

    fn is_in_history(text: &str) -> bool {
        let bullet = Bullet::fact(text.to_owned(), vec![Seq(1)]);
        let caps = Caps { bullets: 1, tokens: 100 };
        !rolled(&[bullet], caps, Rolling::History, estimate_tokens).is_empty()
    }

    #[test]
    fn history_holds_only_what_lasts() {
        for text in [
            "{u1}: the projector hangs in the long room",
            "{u1}: then we decided: the small hall for the concert",
            "{u1}: the release of version 2 waits for the new parser",
            "{u1}: where is the projector? – {u2}: in the long room behind the stage",
            "{u1}: we thank {u2} for the drums, the band plays in the small hall",
            "{u1} booked the small hall",
            "{u1}: Wifi: the password of the guest network is pinetree",
        ] {
            assert!(is_in_history(text), "{text}");
        }
        for text in [
            "{u1}: {u2}: the projector hangs in the long room upstairs",
            "{u1}: {u2} the projector hangs in the long room upstairs",
            "{u1}: @carol the projector hangs in the long room upstairs",
            "{u1}: the projector hangs in the long room upstairs, {u2}.",
            "{u1}: dave> the projector hangs in the long room upstairs",
            "{u1}: the projector of this room hangs upstairs",
            "{u1}: the projector tomorrow hangs in the long room",
            "{u1}: however the projector hangs in the long room",
            "{u1}: 2. the projector hangs in the long room",
            "{u1}: the projector hangs in the long room, and the lamp,",
            "{u1}: who hangs the projector in the long room?",
            "{u1}: where is the projector in the long room? – {u2}: I have no idea where the projector is",
            "{u1}: I picked the projector of the long room",
            "{u1}: src/hall/room.rs:12: the projector hangs in the long room",
            "{u1}: convert --scale 2 room.png /srv/hall/room.jpg",
            "{u1}: {u2}: where is the projector? – {u2}: in the long room behind the stage",
            "{u1}: \"the projector hangs in the long room\"",
            "{u1}: THE PROJECTOR HANGS IN THE LONG ROOM",
            "{u1}: ugh, the projector hangs in the long room",
            "{u1}: nice projector",
        ] {
            assert!(!is_in_history(text), "{text}");
        }
    }

    #[test]
    fn what_lasts_is_told_from_talk_in_every_language() {
        for (lasting, passing) in [
            ("der Beamer hängt im langen Saal neben der Küche", "ich hänge den Beamer im langen Saal neben die Küche"),
            (
                "el proyector está en la sala grande junto a la cocina",
                "tengo el proyector en la sala grande, junto a la cocina",
            ),
            ("projektor on suures saalis köögi kõrval riiulil", "mul on projektor suures saalis köögi kõrval riiulil"),
            (
                "le projecteur est dans la grande salle à côté de la cuisine",
                "j'ai mis le projecteur dans la grande salle près de la cuisine",
            ),
            (
                "il proiettore è nella sala grande accanto alla cucina",
                "ho messo il proiettore nella sala grande accanto alla cucina",
            ),
            ("de beamer hangt in de grote zaal naast de keuken", "ik heb de beamer in de grote zaal naast de keuken"),
            ("projektor wisi w dużej sali obok kuchni na piętrze", "mam projektor w dużej sali obok kuchni na piętrze"),
            (
                "o projetor fica na sala grande ao lado da cozinha",
                "eu deixei o projetor na sala grande ao lado da cozinha",
            ),
            ("проектор висит в большом зале рядом с кухней", "наверное проектор висит в большом зале рядом с кухней"),
            (
                "projektör büyük salonda mutfağın yanında asılı duruyor",
                "sanırım projektör büyük salonda mutfağın yanında asılı",
            ),
            ("проєктор висить у великій залі поруч із кухнею", "мабуть проєктор висить у великій залі поруч із кухнею"),
        ] {
            assert!(is_in_history(&format!("{{u1}}: {lasting}")), "{lasting}");
            assert!(!is_in_history(&format!("{{u1}}: {passing}")), "{passing}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn folding_step_by_step_gives_what_folding_at_once_does(
            texts in prop::collection::vec("[a-e]{3,4}( [0-9]{1,2})?( booked)?", 0..40), step in 1_usize..20,
        ) {
            let bullets: Vec<Bullet> = texts.iter().zip(1..)
                .map(|(text, seq)| Bullet::fact(text.clone(), vec![Seq(seq)]))
                .collect();
            let caps = Caps { bullets: 5, tokens: 100 };
            let at_once = rolled(&bullets, caps, Rolling::History, estimate_tokens);
            let in_steps = bullets.chunks(step).fold(Vec::new(), |before: Vec<Bullet>, new| {
                rolled(&[before.as_slice(), new].concat(), caps, Rolling::History, estimate_tokens)
            });
            prop_assert_eq!(in_steps, at_once);
        }
    }
}
