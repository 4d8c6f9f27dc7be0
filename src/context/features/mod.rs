//! What is read off messages: of one alone (`message`, its words in `lexical` and `token`, whom it speaks to in `mentions`), of
//! their order in time (`rhythm`), and of all candidates together (`corpus`).

pub mod corpus;
pub mod lexical;
pub mod mentions;
pub mod message;
pub mod rhythm;
pub mod token;
