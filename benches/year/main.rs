//! Simulates a year of a busy group on a moved clock, through the whole daemon: sessions, folds and caps are checked
//! after each day. Prints the time, the size and the cost of a day. `cargo bench --bench year`

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

#[path = "../rig/busy.rs"]
mod busy;

use chime_runtime::clock::Clock;
use chime_world::World;
use clap::Parser;

/// Allocator of the program, since the daemon runs in this process.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Simulates many days of a busy group.
#[derive(Debug, Parser)]
struct Arguments {
    /// Number of days
    #[arg(long, default_value_t = 365)]
    days: u32,
    /// Messages per day
    #[arg(long, default_value_t = 200)]
    messages: u32,
    /// Passed by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> std::io::Result<()> {
    let arguments = Arguments::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(World::with(&busy::SETTINGS, async |w| {
        let watch = Clock::system().stopwatch();
        let lived = busy::live(w, arguments.days, arguments.messages).await;
        let seconds = watch.elapsed().as_secs_f64();
        let bytes = w.read_store(chime_store::size).await;
        let messages = u64::from(arguments.days * (arguments.messages + 2));
        println!("{} days, {messages} messages in {seconds:.1} s", arguments.days);
        println!("{} sessions, {} of them in History", lived.sessions, lived.folded);
        println!(
            "tokens at most: a summary {}, Recent {}, History {}",
            lived.mini_tokens, lived.recent_tokens, lived.history_tokens
        );
        println!("{:.2} MB for 10,000 messages", bytes as f64 / 1e6 * 10_000.0 / messages as f64);
        println!("{} model calls, {} tokens a day", lived.model_calls, lived.tokens / u64::from(arguments.days));
    }));
    Ok(())
}
