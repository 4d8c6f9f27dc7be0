//! Which messages to take: the set with the highest expected F1 (`expected_f1`), and whether a second matter is as likely
//! (`ambiguity`).

pub mod expected_f1;
