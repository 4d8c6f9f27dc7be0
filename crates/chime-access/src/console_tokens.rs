//! Random tokens by which owners enter the owners' page: links and sessions. Only hashes are kept, in memory alone.

use std::collections::HashMap;
use std::fmt::Write;
use std::time::Duration;

use parking_lot::Mutex;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};

use chime_core::{Timestamp, UserId};

/// Time for which a link to the page is valid.
pub const LINK_LIFETIME: Duration = Duration::from_mins(10);
/// Length of a session on the page.
pub const SESSION_LIFETIME: Duration = Duration::from_hours(12);
/// Maximum number of tokens that are valid at the same time; the oldest is dropped.
const MOST: usize = 32;

/// SHA-256 of a text, in hexadecimal digits.
pub fn hashed(text: &str) -> String {
    hex(digest(&SHA256, text.as_bytes()).as_ref())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Tokens of one kind. Each belongs to a user and ends after a fixed time.
#[derive(Debug)]
pub struct ConsoleTokens {
    lifetime: Duration,
    /// The user and the end of each token, by the token's hash.
    valid: Mutex<HashMap<String, (UserId, Timestamp)>>,
}

impl ConsoleTokens {
    pub fn new(lifetime: Duration) -> Self {
        Self { lifetime, valid: Mutex::default() }
    }

    /// Creates a token for `user`. Returns `None` if the system gives no random numbers.
    pub fn issue(&self, user: UserId, now: Timestamp) -> Option<String> {
        let mut bytes = [0; 32];
        SystemRandom::new().fill(&mut bytes).ok()?;
        let token = hex(&bytes);
        let mut valid = self.valid.lock();
        valid.retain(|_, (_, end)| *end > now);
        if valid.len() >= MOST {
            let oldest = valid.iter().min_by_key(|(_, (_, end))| *end).map(|(hash, _)| hash.clone());
            oldest.and_then(|hash| valid.remove(&hash));
        }
        valid.insert(hashed(&token), (user, now.plus(self.lifetime)));
        Some(token)
    }

    pub fn find(&self, token: &str, now: Timestamp) -> Option<UserId> {
        self.valid.lock().get(&hashed(token)).filter(|(_, end)| *end > now).map(|(user, _)| *user)
    }

    /// Ends a token. Returns its user if it was valid.
    pub fn take(&self, token: &str, now: Timestamp) -> Option<UserId> {
        self.valid.lock().remove(&hashed(token)).filter(|(_, end)| *end > now).map(|(user, _)| user)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_taken_once_and_ends() {
        let now = Timestamp::from_secs(1_000);
        let tokens = ConsoleTokens::new(LINK_LIFETIME);
        let issue = || tokens.issue(UserId(7), now).expect("random numbers");
        let (one, other) = (issue(), issue());
        assert_ne!(one, other);
        assert_eq!(tokens.find(&one, now), Some(UserId(7)));
        assert_eq!((tokens.take(&one, now), tokens.take(&one, now)), (Some(UserId(7)), None));
        assert_eq!(tokens.find(&other, now.plus(LINK_LIFETIME)), None);
        assert_eq!(tokens.find("guessed", now), None);
        assert!(!format!("{tokens:?}").contains(&other), "only the hash is kept");
    }

    #[test]
    fn the_oldest_of_too_many_is_dropped() {
        let now = Timestamp::from_secs(1_000);
        let tokens = ConsoleTokens::new(LINK_LIFETIME);
        let first = tokens.issue(UserId(1), now).expect("random numbers");
        let later = now.plus(Duration::from_secs(1));
        let newest = (0..MOST).filter_map(|_| tokens.issue(UserId(2), later)).last().expect("random numbers");
        assert_eq!((tokens.find(&first, later), tokens.find(&newest, later)), (None, Some(UserId(2))));
    }
}
