//! `chime-eval recall`: measures the search for old messages and sessions.

use std::sync::Arc;

use crate::arguments::EvalRecallOptions;
use crate::commands::{FiguresByPack, each_pack};
use crate::pack::Pack;
use crate::recall::evaluate;
use chime::cli::progress::ProgressBar;
use chime_core::embed::Embedder;

pub async fn recall(options: &EvalRecallOptions) -> Result<(), Box<dyn std::error::Error>> {
    let embedder = Arc::new(Embedder::shipped()?);
    let retrieve = async |pack: &Pack, bar: &mut ProgressBar| {
        let (mut done, total) = (0, pack.questions.len() as u64);
        let progress = || {
            done += 1;
            bar.show(done, total, &pack.name);
        };
        evaluate(pack, options.retriever, options.scope, &embedder, options.k, progress).await
    };
    each_pack(&options.output, retrieve, table).await
}

fn table(all: &FiguresByPack) -> String {
    const SHOWN: [&str; 7] = ["turn@5", "turn@10", "turn@20", "all@20", "sess@5", "sess@10", "sess@20"];
    let mut lines = Vec::new();
    for (pack, headings) in all {
        lines.push(pack.clone());
        for (heading, figures) in headings {
            let figure = |name: &str| figures.get(name).copied().unwrap_or(0.0);
            let shown: String = SHOWN.iter().map(|name| format!("  {name} {:.3}", figure(name))).collect();
            lines.push(format!("  {heading:<16} n {:>5.0}{shown}", figure("n")));
        }
    }
    lines.join("\n")
}
