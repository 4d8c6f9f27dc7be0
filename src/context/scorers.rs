//! The fitted numbers that choose, together: those that ship, or others while weights are being fitted.

use std::sync::{Arc, LazyLock};

use crate::context::links::LinkModel;
use crate::context::matters::Weights;

#[derive(Debug, Clone)]
pub struct Scorers {
    /// Which message goes on from which.
    pub links: LinkModel,
    /// What a talk takes up across silences; without them every chat is read as a busy one.
    pub matters: Option<Weights>,
}

static SHIPPED: LazyLock<Arc<Scorers>> =
    LazyLock::new(|| Arc::new(Scorers { links: LinkModel::shipped().clone(), matters: Weights::shipped().cloned() }));

impl Scorers {
    pub fn shipped() -> Arc<Self> {
        Arc::clone(&SHIPPED)
    }

    /// From the two files as they are written.
    pub fn read(links: &str, matters: &str) -> serde_json::Result<Self> {
        Ok(Self { links: serde_json::from_str(links)?, matters: Some(serde_json::from_str(matters)?) })
    }
}
