//! Selects the focus: the set of messages with the highest expected F1 (`expected_f1`).

pub mod expected_f1;
