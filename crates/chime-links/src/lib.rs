//! Fetches web pages that members link to, and reads their text; searches the web.
//!
//! A member can write any address, so fetching connects only to servers that [`AddressPolicy`] allows: public ones that
//! are not the operator's own. It is checked at each redirect, for exactly the addresses that are connected to.

mod fetch;
mod page;
mod policy;
mod search;

pub use fetch::{Fetcher, WebContent};
pub use page::{PageText, UnreadablePage, page_text};
pub use policy::AddressPolicy;
pub use search::{WebResult, WebSearch};
