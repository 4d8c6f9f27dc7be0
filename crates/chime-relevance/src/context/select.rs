//! Selects the focus: the set with the highest expected F1 (`expected_f1`), and a second subject if it is about as
//! likely (`ambiguity`).

pub mod expected_f1;
