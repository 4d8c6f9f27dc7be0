//! The fitted numbers that choose, together: those that ship, or others while weights are being fitted.

use std::sync::{Arc, LazyLock};

use crate::context::replies::model::ReplyModel;
use crate::context::weights::Weights;

#[derive(Debug, Clone)]
pub struct Scorers {
    /// Which message goes on from which.
    pub links: ReplyModel,
    /// What a tag is about.
    pub matters: Weights,
}

#[expect(clippy::expect_used, reason = "the files are part of the program, and tests read them")]
static SHIPPED: LazyLock<Arc<Scorers>> =
    LazyLock::new(|| Arc::new(Scorers::read(ReplyModel::WRITTEN, Weights::WRITTEN).expect("files of the right form")));

impl Scorers {
    pub fn shipped() -> Arc<Self> {
        Arc::clone(&SHIPPED)
    }

    /// From the two files as they are written.
    pub fn read(links: &str, matters: &str) -> serde_json::Result<Self> {
        Ok(Self { links: serde_json::from_str(links)?, matters: serde_json::from_str(matters)? })
    }
}
