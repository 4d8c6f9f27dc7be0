//! (room not furnished yet)
