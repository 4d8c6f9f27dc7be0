//! Features of messages: of one alone (`message`; its words in `lexical` and `token`, whom it names in `mentions`), of their times
//! (`rhythm`), and statistics over all candidates (`corpus`).

pub mod corpus;
pub mod lexical;
pub mod mentions;
pub mod message;
pub mod rhythm;
pub mod token;
