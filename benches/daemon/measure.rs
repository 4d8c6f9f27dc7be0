//! The measurements themselves.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use chime_runtime::clock::Stopwatch;

use crate::Outcome;
use crate::figures::Spread;
use crate::scene::Scene;

/// Talk before the first mention.
const PAST: usize = 200;
/// Mentions before the clock runs: connections are opened, pages and statements cached.
const WARM_UP: usize = 10;
/// Between two mentions. Real ones come further apart; this leaves the daemon time to be at rest.
const BREATH: Duration = Duration::from_millis(10);

/// What a run of mentions came to.
pub struct Answered {
    pub reply: Spread,
    /// The disk beside it.
    pub sync: Spread,
}

/// Makes 8 KiB durable, as a commit does, in a file beside the database.
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

    /// Places in the file that are written in turn: like the log, it does not grow.
    const PLACES: u64 = 64;

    fn sync(&mut self) -> Outcome<()> {
        let block = [7_u8; 8192];
        self.round += 1;
        self.file.write_all_at(&block, self.round % Self::PLACES * block.len() as u64)?;
        Ok(self.file.sync_data()?)
    }
}

/// From a mention in Telegram's queue to the reply at Telegram's door, one at a time, with talk in between. The disk is
/// measured between the mentions: it may be as busy with others as the processors are.
pub async fn replies(scene: &Scene, mentions: usize) -> Outcome<Answered> {
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
        let (cursor, mention) = (scene.telegram.cursor(), scene.mention(number));
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

/// Plain messages that wait all at once, until the last of them is stored and confirmed.
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
