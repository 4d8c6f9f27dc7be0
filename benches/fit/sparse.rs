//! Measures the value of features: the loss on left-out chats without them.
//!
//! A feature has the same name in all parts that use it. Only these parts are fitted again, on the same rows and
//! starting from their previous weights. A removal is thus tried in seconds; the result is fitted completely and
//! measured at the end with `--without`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chime_eval::score::{QueryFigures, mean, score};
use chime_eval::{Selector, SelectorLimits};
use chime_relevance::context::Scorers;

use crate::Outcome;
use crate::chats::Chat;
use crate::learn::Fitted;
use crate::written::{Part, Written};

/// Most messages selected.
const LIMITS: SelectorLimits = SelectorLimits { k: 20, tokens: 1600 };

/// Features that are left out, each as `family.name`.
#[derive(Debug, Clone, Default)]
pub struct Dropped(BTreeSet<String>);

impl Dropped {
    pub fn named(features: &[String]) -> Outcome<Self> {
        let is_known =
            |feature: &&String| feature.split_once('.').is_some_and(|(family, _)| FAMILIES.contains(&family));
        match features.iter().find(|feature| !is_known(feature)) {
            Some(unknown) => Err(format!("`{unknown}` is no feature: {}", FAMILIES.join(", ")).into()),
            None => Ok(Self(features.iter().cloned().collect())),
        }
    }

    /// Returns the mask of a part's features that are left out.
    pub fn of(&self, part: Part, names: &[&str]) -> Vec<bool> {
        names.iter().map(|name| self.0.contains(&format!("{}.{name}", family(part)))).collect()
    }

    fn with(&self, features: &[String]) -> Self {
        Self(self.0.iter().chain(features).cloned().collect())
    }
}

const FAMILIES: [&str; 5] = ["links", "segment", "focus", "pair", "novelty"];

/// Returns the family of a part; parts of one family share features.
fn family(part: Part) -> &'static str {
    match part {
        Part::Links => "links",
        Part::SegmentLink => "segment",
        Part::FocusBare | Part::FocusText => "focus",
        Part::Pairwise | Part::Refine(_) => "pair",
        Part::Novelty => "novelty",
    }
}

/// Fitted parts, each for every fold.
#[derive(Default)]
pub struct Elimination {
    parts: Vec<(Part, Vec<String>, Vec<Fitted>)>,
}

/// Weights by fold, and the features that they lack.
type Weights = (Vec<Written>, Dropped);

/// Means over the left-out folds.
#[derive(Debug, Clone, Copy)]
struct Worth {
    cov: f64,
    f1: f64,
    /// Tokens of the focus for a trigger that starts a new subject.
    new_tokens: f64,
}

impl Elimination {
    pub fn add(&mut self, part: Part, names: &[&str], fits: Vec<Fitted>) {
        self.parts.push((part, names.iter().map(|name| (*name).to_owned()).collect(), fits));
    }

    /// Prints the loss without each group of features.
    pub fn try_group(&self, chats: &[Chat], start: &Weights, group: &str) -> Outcome<()> {
        let features: Vec<String> = group.split(',').map(str::to_owned).collect();
        let before = worth(chats, &start.0)?;
        let after = worth(chats, &self.without(start, &features)?.0)?;
        println!("without {group}: {}", lost(before, after));
        Ok(())
    }

    /// Backward elimination, least important features first: removes features that cost less than `loss`.
    pub fn run(&self, chats: &[Chat], mut weights: Weights, loss: f64) -> Outcome<()> {
        /// Most additional tokens for a trigger that starts a new subject, per removed feature.
        const TOKENS: f64 = 2.0;
        let begin = worth(chats, &weights.0)?;
        let mut now = begin;
        for feature in self.by_importance(&weights.1) {
            let features = [feature];
            let tried = self.without(&weights, &features)?;
            let after = worth(chats, &tried.0)?;
            let stays =
                now.cov - after.cov >= loss || now.f1 - after.f1 >= loss || after.new_tokens - now.new_tokens >= TOKENS;
            println!("{} {}: {}", if stays { "keep" } else { "drop" }, features[0], lost(now, after));
            if !stays {
                (weights, now) = (tried, after);
            }
        }
        println!("in all: {}", lost(begin, now));
        println!("--without {}", weights.1.0.into_iter().collect::<Vec<_>>().join(","));
        Ok(())
    }

    /// Fits the parts that have one of `features` again.
    fn without(&self, (written, dropped): &Weights, features: &[String]) -> Outcome<Weights> {
        let (mut written, dropped) = (written.clone(), dropped.with(features));
        for (part, names, fits) in &self.parts {
            let is_of = |name: &String| features.contains(&format!("{}.{name}", family(*part)));
            if !names.iter().any(is_of) {
                continue;
            }
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let dropped = dropped.of(*part, &names);
            for (written, fitted) in written.iter_mut().zip(fits) {
                written.set(*part, &fitted.without(&dropped), &names);
            }
        }
        Ok((written, dropped))
    }

    /// Returns all features in use, least important first.
    fn by_importance(&self, dropped: &Dropped) -> Vec<String> {
        let mut importance: BTreeMap<String, f64> = BTreeMap::new();
        for (part, names, fits) in &self.parts {
            for (place, name) in names.iter().enumerate() {
                let most = importance.entry(format!("{}.{name}", family(*part))).or_default();
                *most = fits.iter().map(|fitted| fitted.importance(place)).fold(*most, f64::max);
            }
        }
        let mut features: Vec<(String, f64)> =
            importance.into_iter().filter(|(feature, _)| !dropped.0.contains(feature)).collect();
        features.sort_by(|a, b| a.1.total_cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
        features.into_iter().map(|(feature, _)| feature).collect()
    }
}

/// Measures the chats of every fold with weights that did not see them.
fn worth(chats: &[Chat], written: &[Written]) -> Outcome<Worth> {
    let folds = written.len() - 1;
    let mut of_folds = Vec::with_capacity(folds);
    for (fold, written) in written.iter().take(folds).enumerate() {
        let scorers = Arc::new(Scorers::read(&written.links(), &written.subjects())?);
        let (mut tags, mut new) = (Vec::new(), Vec::new());
        for chat in chats.iter().filter(|chat| chat.fold == fold && !chat.is_test && chat.kind.has_tags()) {
            for query in &chat.queries {
                let figures = figures(chat, query, &scorers);
                if query.gold.context.is_empty() { new.push(figures) } else { tags.push(figures) }
            }
        }
        let (tags, new) = (mean(&tags), mean(&new));
        let of = |means: &BTreeMap<String, f64>, name| means.get(name).copied().unwrap_or_default();
        of_folds.push([of(&tags, "cov"), of(&tags, "F1"), of(&new, "tok")]);
    }
    let mean = |place: usize| of_folds.iter().map(|figures| figures[place]).sum::<f64>() / folds.max(1) as f64;
    Ok(Worth { cov: mean(0), f1: mean(1), new_tokens: mean(2) })
}

fn figures(chat: &Chat, query: &chime_eval::pack::PackQuery, scorers: &Arc<Scorers>) -> QueryFigures {
    let history = chat.prepared.history(&query.ask);
    let prediction =
        Selector::Chime.select(&query.ask.query_id, &history, LIMITS, scorers, &chat.prepared.past(&query.ask));
    score(query, &prediction, &chat.prepared.lengths, LIMITS.k)
}

fn lost(before: Worth, after: Worth) -> String {
    format!(
        "cov {:.4} ({:+.4}), F1 {:.4} ({:+.4}), {:.0} tokens of something new ({:+.1})",
        after.cov,
        after.cov - before.cov,
        after.f1,
        after.f1 - before.f1,
        after.new_tokens,
        after.new_tokens - before.new_tokens
    )
}
