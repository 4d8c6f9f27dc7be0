//! The single measurements.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use chime_runtime::clock::Stopwatch;
use chime_sandbox::Post;

use crate::Outcome;
use crate::figures::Spread;
use crate::scene::Scene;

/// Messages before the first mention.
const PAST: usize = 200;
/// Mentions before measuring, which open connections and fill caches.
const WARM_UP: usize = 10;
/// Pause between two mentions. It is shorter than in reality, but long enough for the daemon to become idle.
const BREATH: Duration = Duration::from_millis(10);

/// Result of a run of mentions.
pub struct Answered {
    pub reply: Spread,
    /// Disk latency during the run.
    pub sync: Spread,
}

/// File next to the database into which 8 KiB are made durable, as a commit does.
struct Disk {
    file: File,
    round: u64,
}

impl Disk {
    fn beside(folder: &Path) -> Outcome<Self> {
        let mut disk = Self { file: File::create(folder.join("sync.tmp"))?, round: 0 };
        for _ in 0..Self::PLACES {
            disk.sync()?;
        }
        Ok(disk)
    }

    /// Blocks of the file that are overwritten in turn, so that it does not grow, like the write-ahead log.
    const PLACES: u64 = 64;

    fn sync(&mut self) -> Outcome<()> {
        let block = [7_u8; 8192];
        self.round += 1;
        self.file.write_all_at(&block, self.round % Self::PLACES * block.len() as u64)?;
        Ok(self.file.sync_data()?)
    }
}

/// Measures from a mention or command in Telegram's queue to the reply at Telegram, one at a time, with messages in
/// between. The disk is measured between the mentions, since other programs may use it too.
pub async fn replies(scene: &Scene, mentions: usize, ask: impl Fn(&Scene, usize) -> Post) -> Outcome<Answered> {
    let mut disk = Disk::beside(scene.folder())?;
    let (mut reply, mut sync) = (Vec::new(), Vec::new());
    scene.talk(PAST);
    for number in 0..WARM_UP + mentions {
        scene.telegram.say(scene.chat, scene.line(number));
        scene.telegram.all_confirmed().await;
        scene.clock.sleep(BREATH).await;
        let watch = scene.clock.stopwatch();
        disk.sync()?;
        let synced = milliseconds(watch);
        let (cursor, mention) = (scene.telegram.cursor(), ask(scene, number));
        let watch = scene.clock.stopwatch();
        scene.telegram.say(scene.chat, mention);
        scene.telegram.next_sent(cursor).await;
        if number >= WARM_UP {
            reply.push(milliseconds(watch));
            sync.push(synced);
        }
    }
    Ok(Answered { reply: Spread::of(reply), sync: Spread::of(sync) })
}

/// Measures plain messages that all wait at once, until the last one is stored and confirmed.
pub async fn updates_per_s(scene: &Scene, updates: usize) -> f64 {
    scene.talk(updates);
    let watch = scene.clock.stopwatch();
    scene.telegram.all_confirmed().await;
    updates as f64 / watch.elapsed().as_secs_f64()
}

pub fn milliseconds(watch: Stopwatch) -> f64 {
    watch.elapsed().as_secs_f64() * 1000.0
}

pub fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1024.0 / 1024.0
}
