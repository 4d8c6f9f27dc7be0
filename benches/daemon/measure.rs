//! The measurements themselves.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use chime::clock::Clock;

use crate::Outcome;
use crate::figures::Spread;
use crate::scene::Scene;

/// Talk before the first mention.
const PAST: usize = 200;
/// Mentions before the clock runs: connections are opened, pages and statements cached.
const WARM_UP: u32 = 10;
/// Between two mentions. Real ones come further apart; this leaves the daemon time to be at rest.
const BREATH: Duration = Duration::from_millis(10);

/// How long this disk takes to make 8 KiB durable.
pub struct Disk {
    /// At the end of a file, which grows.
    pub append_ms: f64,
    /// In the middle of one.
    pub overwrite_ms: f64,
}

pub fn disk(folder: &Path) -> Outcome<Disk> {
    const PAGES: u64 = 64;
    const ROUNDS: u64 = 100;
    let block = [7_u8; 8192];
    std::fs::create_dir_all(folder)?;
    let path = folder.join("sync.tmp");
    let file = OpenOptions::new().create(true).truncate(true).write(true).open(&path)?;
    let clock = Clock::system();
    let mut round = |place: u64| -> Outcome<f64> {
        let watch = clock.stopwatch();
        file.write_all_at(&block, place * block.len() as u64)?;
        file.sync_data()?;
        Ok(watch.elapsed().as_secs_f64() * 1000.0)
    };
    let append = (0..ROUNDS).map(&mut round).collect::<Outcome<Vec<_>>>()?;
    let overwrite = (0..ROUNDS).map(|place| round(place % PAGES)).collect::<Outcome<Vec<_>>>()?;
    std::fs::remove_file(path)?;
    Ok(Disk { append_ms: Spread::of(append).p50, overwrite_ms: Spread::of(overwrite).p50 })
}

/// From a mention in Telegram's queue to the reply at Telegram's door, one at a time, with talk in between.
pub async fn replies(scene: &Scene, mentions: u32) -> Spread {
    scene.talk(PAST);
    let mut taken = Vec::new();
    for number in 0..WARM_UP + mentions {
        let number_of_line = number as usize;
        scene.telegram.say(scene.chat, scene.line(number_of_line));
        scene.telegram.all_confirmed().await;
        scene.clock.sleep(BREATH).await;
        let cursor = scene.telegram.cursor();
        let mention = scene.mention(number_of_line);
        let watch = scene.clock.stopwatch();
        scene.telegram.say(scene.chat, mention);
        scene.telegram.next_sent(cursor).await;
        if number >= WARM_UP {
            taken.push(watch.elapsed().as_secs_f64() * 1000.0);
        }
    }
    Spread::of(taken)
}

/// Plain messages that wait all at once, until the last of them is stored and confirmed.
pub async fn updates_per_s(scene: &Scene, updates: u32) -> f64 {
    scene.talk(updates as usize);
    let watch = scene.clock.stopwatch();
    scene.telegram.all_confirmed().await;
    f64::from(updates) / watch.elapsed().as_secs_f64()
}

pub fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1024.0 / 1024.0
}
