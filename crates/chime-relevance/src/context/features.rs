//! Features of messages: of a single message (`message`; its words in `lexical` and `token`, the members it names in
//! `mentions`), of message times (`rhythm`), and statistics over all candidates (`corpus`).

pub mod corpus;
pub mod lexical;
pub mod mentions;
pub mod message;
pub mod rhythm;
pub mod token;
