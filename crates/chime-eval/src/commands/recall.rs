//! `chime-eval recall`: measures the search for old messages and sessions.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use crate::arguments::EvalRecallOptions;
use crate::commands::{FiguresByPack, ProgressBar, create, try_out, write_predictions};
use crate::context::Evaluated;
use crate::pack_file::read_pack;
use crate::recall::evaluate;
use chime_core::embed::Embedder;

pub async fn recall(options: &EvalRecallOptions) -> Result<(), Box<dyn std::error::Error>> {
    let embedder = Arc::new(Embedder::shipped()?);
    options.predictions.as_deref().map_or(Ok(()), try_out)?;
    let (mut predictions, mut all) = (Vec::new(), BTreeMap::new());
    for folder in &options.packs {
        let pack = read_pack(folder)?;
        let mut bar = ProgressBar::new(&pack.name, pack.questions.len());
        let Evaluated { figures, predictions: of_pack } =
            evaluate(&pack, options.retriever, options.scope, &embedder, options.k, || bar.step()).await?;
        bar.end();
        predictions.extend(of_pack);
        all.insert(pack.name, figures);
    }
    if let Some(path) = &options.predictions {
        write_predictions(create(path)?, &predictions)?;
    }
    let text = if options.json { serde_json::to_string(&all)? } else { table(&all) };
    // Fails if the reader closed the pipe, as `head` does, which is not an error.
    let _ = writeln!(std::io::stdout(), "{text}");
    Ok(())
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
