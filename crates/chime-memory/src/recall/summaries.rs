//! Ranks summaries of sessions by how well they answer the question.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::extract;
use crate::recall::loaded::LoadedCandidates;
use crate::recall::request::{MIN_COVERAGE, ParsedRequest};
use crate::recall::retrievers::RecallCandidates;
use chime_core::{
    Bullet, BulletKind, ChatKey, Conversation, ItemState, RetrieverScores, Seq, SessionId, StoredMessage, Summary,
    Timestamp, named,
};
use chime_relevance::retrieval::{Frequencies, Lexicon, Ranked, SessionText, SummaryReader, rank_sessions};
use chime_store::{Reader, messages, sessions, summaries};

/// Number of best messages of which the sessions' summaries are read.
const MESSAGES: usize = 10;
/// Maximum number of session summaries read, and maximum number of these that vectors and tags may propose.
const LOOKED: usize = 8;
const PROPOSED: usize = 4;
/// Minimum score of a bullet, as a share of the best one's in its summary.
const MIN_SHARE_OF_BEST: f64 = 0.5;

/// Session summaries that match a question.
#[derive(Debug, Default)]
pub struct Summaries {
    pub best_first: Vec<FoundSummary>,
}

/// Session summary that matches the question.
#[derive(Debug)]
pub struct FoundSummary {
    pub id: SessionId,
    pub score: f64,
    pub retrieved: RetrieverScores,
    /// Bullets with the current names of members, in the summary's order, each with its score.
    bullets: Vec<(Bullet, f64)>,
}

impl Summaries {
    /// Appends the summaries of sessions that are not in the list yet.
    pub fn add(&mut self, others: Vec<FoundSummary>) {
        for other in others {
            if !self.best_first.iter().any(|known| known.id == other.id) {
                self.best_first.push(other);
            }
        }
    }
}

/// Session whose summary is compared with the question.
struct SessionCandidate {
    id: SessionId,
    summary: Summary,
    retrieved: RetrieverScores,
}

/// Returns the summaries that contain enough of the question's words, best first. Reads the sessions of the best
/// messages, and those proposed by vectors and tags.
pub fn found(
    reading: &ParsedRequest<'_>,
    found: &LoadedCandidates,
    ranked: &[Ranked],
    candidates: &RecallCandidates,
    lexicon: &mut Lexicon<'_>,
) -> chime_store::Result<Summaries> {
    let frequencies = &candidates.frequencies;
    let of_message = sessions_of(reading, found, ranked)?;
    let of_best = ranked.iter().filter_map(|one| of_message.get(&found.messages.get(one.index)?.seq).copied());
    let looked = look_at(reading, of_best, candidates)?;
    if looked.is_empty() {
        return Ok(Summaries::default());
    }
    let names = summaries::member_names(reading.conn, reading.request.conversation.chat)?;
    let lines: Vec<Vec<String>> =
        looked.iter().map(|one| one.summary.bullets.iter().map(|it| named(&it.text, &names)).collect()).collect();
    let texts: Vec<String> = lines.iter().map(|bullets| bullets.join("\n")).collect();
    let texts: Vec<SessionText<'_>> = texts.iter().map(|summary| SessionText { summary }).collect();
    let session_of = |place: usize| {
        let id = of_message.get(&found.messages.get(place)?.seq)?;
        looked.iter().position(|one| one.id == *id)
    };
    let scored = rank_sessions(&reading.question, ranked, session_of, &texts, frequencies, lexicon);
    let says_enough = scored.into_iter().filter(|one| one.summary_coverage >= MIN_COVERAGE);
    let best_first = says_enough.filter_map(|one| {
        let SessionCandidate { id, summary, retrieved } = &looked[one.index];
        let bullets = scored_bullets(reading, summary, &lines[one.index], frequencies, lexicon)?;
        Some(FoundSummary { id: *id, score: one.score, retrieved: *retrieved, bullets })
    });
    Ok(Summaries { best_first: best_first.collect() })
}

/// Returns for each of the best messages the closed session that contains it, if there is one.
fn sessions_of(
    reading: &ParsedRequest<'_>,
    found: &LoadedCandidates,
    ranked: &[Ranked],
) -> chime_store::Result<HashMap<Seq, SessionId>> {
    let mut of_message = HashMap::new();
    for one in ranked.iter().take(MESSAGES) {
        let stored = &found.messages[one.index];
        let conversation = Conversation { chat: reading.request.conversation.chat, forum_topic: stored.forum_topic };
        let moment = (stored.sent_at, stored.id);
        if let Some(session) = sessions::of_message(reading.conn, conversation, moment)? {
            of_message.insert(stored.seq, session.id);
        }
    }
    Ok(of_message)
}

fn look_at(
    reading: &ParsedRequest<'_>,
    of_best: impl Iterator<Item = SessionId>,
    candidates: &RecallCandidates,
) -> chime_store::Result<Vec<SessionCandidate>> {
    let mut wanted: BTreeMap<SessionId, RetrieverScores> =
        candidates.best_sessions().into_iter().take(PROPOSED).collect();
    for id in of_best {
        if wanted.len() >= LOOKED {
            break;
        }
        wanted.entry(id).or_insert_with(|| candidates.sessions.get(&id).copied().unwrap_or_default());
    }
    let mut looked = Vec::new();
    for (id, retrieved) in wanted {
        if let Some(summary) = summaries::mini(reading.conn, id)? {
            looked.push(SessionCandidate { id, summary, retrieved });
        }
    }
    Ok(looked)
}

/// Scores the bullets of a summary; `None` if no single one contains enough of the question's words.
fn scored_bullets(
    reading: &ParsedRequest<'_>,
    summary: &Summary,
    lines: &[String],
    frequencies: &Frequencies,
    lexicon: &mut Lexicon<'_>,
) -> Option<Vec<(Bullet, f64)>> {
    let (mut reader, mut most_covered) = (SummaryReader::new(&reading.question, frequencies, lexicon), 0.0_f64);
    let scored = summary.bullets.iter().zip(lines).map(|(bullet, lines)| {
        let (coverage, cosine) = reader.read(lines, lexicon);
        most_covered = most_covered.max(coverage);
        (Bullet { text: lines.clone(), ..bullet.clone() }, coverage + cosine)
    });
    let scored: Vec<(Bullet, f64)> = scored.collect();
    (most_covered >= MIN_COVERAGE).then_some(scored)
}

impl FoundSummary {
    /// Creates the result from a complete summary, with the same score for every bullet.
    pub fn whole(id: SessionId, summary: &Summary, names: &BTreeMap<u32, String>, retrieved: RetrieverScores) -> Self {
        let lines = |bullet: &Bullet| Bullet { text: named(&bullet.text, names), ..bullet.clone() };
        let bullets = summary.bullets.iter().map(|bullet| (lines(bullet), 1.0)).collect();
        Self { id, score: 0.0, retrieved, bullets }
    }

    /// Returns up to `most` of the best bullets for which `is_news` returns `true`, in the summary's order. Returns none if
    /// the best bullet of all is no news: the others are about something else.
    pub fn best_bullets(&self, most: usize, is_news: impl Fn(&Bullet) -> bool) -> Vec<Bullet> {
        let highest = self.bullets.iter().map(|(_, score)| *score).fold(0.0, f64::max);
        if !self.bullets.iter().any(|(bullet, score)| *score >= highest && is_news(bullet)) {
            return Vec::new();
        }
        let is_near = |score: f64| score > 0.0 && score >= MIN_SHARE_OF_BEST * highest;
        let telling = self.bullets.iter().enumerate().filter(|(_, (bullet, score))| is_near(*score) && is_news(bullet));
        let mut best: Vec<(usize, f64)> = telling.map(|(place, (_, score))| (place, *score)).collect();
        best.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        best.truncate(most);
        best.sort_unstable_by_key(|(place, _)| *place);
        best.into_iter().map(|(place, _)| self.bullets[place].0.clone()).collect()
    }

    /// Returns the state of a bullet of this summary, as [`item_state`] does.
    pub fn state(&self, bullet: &Bullet, done: &BTreeMap<Seq, Timestamp>, is_old: bool) -> ItemState {
        item_state(bullet, self.bullets.iter().map(|(bullet, _)| bullet), done, is_old)
    }
}

/// Returns the state of a bullet of `summary`, a list of bullets. `done` has the items with a mark; a mark on a message with
/// both a decision and a task is of the task. A summary that `is_old` does not tell what is open.
pub fn item_state<'a>(
    bullet: &Bullet,
    mut summary: impl Iterator<Item = &'a Bullet>,
    done: &BTreeMap<Seq, Timestamp>,
    is_old: bool,
) -> ItemState {
    let first = bullet.sources.first();
    let mut is_task = || summary.any(|other| extract::is_item(other) && other.sources.first() == first);
    let is_decision = bullet.kind == BulletKind::Decision;
    match first.is_some_and(|first| done.contains_key(first)) && !(is_decision && is_task()) {
        true => ItemState::Closed,
        false if is_old => ItemState::Unknown,
        false => ItemState::Open,
    }
}

/// Loads the source messages of bullets. Messages that no longer exist are left out.
pub fn grounds(conn: &Reader, chat: ChatKey, bullets: &[Bullet]) -> chime_store::Result<Vec<StoredMessage>> {
    let seqs: BTreeSet<Seq> = bullets.iter().flat_map(|bullet| bullet.sources.iter().copied()).collect();
    messages::by_seqs(conn, chat, seqs)
}
