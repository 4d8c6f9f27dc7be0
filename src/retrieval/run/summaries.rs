//! The sessions of what was found, and what their summaries say of the question.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::domain::{Bullet, Conversation, LegScores, Seq, SessionId, StoredMessage, Summary, named};
use crate::retrieval::run::found::Found;
use crate::retrieval::run::legs::Candidates;
use crate::retrieval::run::{MIN_COVERAGE, Reading};
use crate::retrieval::{Frequencies, Lexicon, Ranked, RecalledSession, SessionText, SummaryReader, rank_sessions};
use crate::store::{self, messages, sessions, summaries};

/// Best messages whose sessions are asked for.
const MESSAGES: usize = 10;
/// Sessions whose summaries are read, and how many of them may be there because vectors and tags propose them.
const LOOKED: usize = 8;
const PROPOSED: usize = 4;
/// Sessions of which something is told, and bullets of each.
const TOLD: usize = 3;
const BULLETS: usize = 4;

/// A session that may be told of.
struct Looked {
    id: SessionId,
    summary: Summary,
    legs: LegScores,
}

/// What the summaries of the best sessions say of the question and nothing else in the prompt does.
pub fn recalled(
    reading: &Reading<'_>,
    (found, ranked): (&Found, &[Ranked]),
    candidates: &Candidates,
    lexicon: &mut Lexicon<'_>,
) -> store::Result<Vec<RecalledSession>> {
    let frequencies = &candidates.frequencies;
    let of_message = sessions_of(reading, found, ranked)?;
    let of_best = ranked.iter().filter_map(|one| of_message.get(&found.messages.get(one.index)?.seq).copied());
    let looked = look_at(reading, of_best, candidates)?;
    if looked.is_empty() {
        return Ok(Vec::new());
    }
    let names = summaries::member_names(reading.conn, reading.request.conversation.chat)?;
    let told: Vec<Vec<String>> =
        looked.iter().map(|one| one.summary.bullets.iter().map(|it| named(&it.text, &names)).collect()).collect();
    let texts: Vec<String> = told.iter().map(|bullets| bullets.join("\n")).collect();
    let texts: Vec<SessionText<'_>> = texts.iter().map(|summary| SessionText { summary }).collect();
    let session_of = |place: usize| {
        let id = of_message.get(&found.messages.get(place)?.seq)?;
        looked.iter().position(|one| one.id == *id)
    };
    let scored = rank_sessions(&reading.question, (ranked, session_of), &texts, frequencies, lexicon);
    let said_elsewhere = summaries::rolled_up(reading.conn, reading.request.conversation.chat)?;
    let mut recalled = Vec::new();
    for one in scored.into_iter().filter(|one| one.summary_coverage >= MIN_COVERAGE) {
        let Looked { id, summary, legs } = &looked[one.index];
        let is_news = |bullet: &Bullet| {
            let is_shown = |seq: &Seq| reading.request.known.contains(seq) || said_elsewhere.contains(seq);
            bullet.sources.is_empty() || !bullet.sources.iter().all(is_shown)
        };
        let bullets = best_bullets(reading, (summary, &told[one.index]), frequencies, lexicon, is_news);
        if bullets.is_empty() {
            continue;
        }
        let Some(session) = sessions::find(reading.conn, *id)? else { continue };
        let grounds = grounds(reading, &bullets)?;
        let conversation = Conversation { chat: id.chat, thread: session.thread };
        recalled.push(RecalledSession {
            id: *id,
            started_at: session.first.0,
            topic: reading.other_topic(conversation)?,
            bullets,
            grounds,
            score: one.score,
            legs: *legs,
        });
        if recalled.len() == TOLD {
            break;
        }
    }
    Ok(recalled)
}

/// The closed sessions of the best messages.
fn sessions_of(reading: &Reading<'_>, found: &Found, ranked: &[Ranked]) -> store::Result<HashMap<Seq, SessionId>> {
    let mut of_message = HashMap::new();
    for one in ranked.iter().take(MESSAGES) {
        let stored = &found.messages[one.index];
        let conversation = Conversation { chat: reading.request.conversation.chat, thread: stored.thread };
        let moment = (stored.sent_at, stored.id);
        if let Some(session) = sessions::of_message(reading.conn, conversation, moment)? {
            of_message.insert(stored.seq, session.id);
        }
    }
    Ok(of_message)
}

fn look_at(
    reading: &Reading<'_>,
    of_best: impl Iterator<Item = SessionId>,
    candidates: &Candidates,
) -> store::Result<Vec<Looked>> {
    let mut wanted: BTreeMap<SessionId, LegScores> = candidates.best_sessions().into_iter().take(PROPOSED).collect();
    for id in of_best {
        if wanted.len() >= LOOKED {
            break;
        }
        wanted.entry(id).or_insert_with(|| candidates.sessions.get(&id).copied().unwrap_or_default());
    }
    let mut looked = Vec::new();
    for (id, legs) in wanted {
        if let Some(summary) = summaries::mini(reading.conn, id)? {
            looked.push(Looked { id, summary, legs });
        }
    }
    Ok(looked)
}

/// The bullets that say most of the question and are news, in their order.
fn best_bullets(
    reading: &Reading<'_>,
    (summary, told): (&Summary, &[String]),
    frequencies: &Frequencies,
    lexicon: &mut Lexicon<'_>,
    is_news: impl Fn(&Bullet) -> bool,
) -> Vec<Bullet> {
    let mut reader = SummaryReader::new(&reading.question, frequencies, lexicon);
    let mut scored: Vec<(f64, usize)> = Vec::new();
    for (place, (bullet, told)) in summary.bullets.iter().zip(told).enumerate() {
        let (coverage, cosine) = reader.read(told, lexicon);
        if is_news(bullet) && coverage + cosine > 0.0 {
            scored.push((coverage + cosine, place));
        }
    }
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut places: Vec<usize> = scored.into_iter().take(BULLETS).map(|(_, place)| place).collect();
    places.sort_unstable();
    let bullet = |place: usize| Bullet { text: told[place].clone(), sources: summary.bullets[place].sources.clone() };
    places.into_iter().map(bullet).collect()
}

/// The messages that bullets rest on.
fn grounds(reading: &Reading<'_>, bullets: &[Bullet]) -> store::Result<Vec<StoredMessage>> {
    let seqs: BTreeSet<Seq> = bullets.iter().flat_map(|bullet| bullet.sources.iter().copied()).collect();
    let mut grounds = Vec::new();
    for seq in seqs {
        grounds.extend(messages::by_seq(reading.conn, reading.request.conversation.chat, seq)?);
    }
    Ok(grounds)
}
