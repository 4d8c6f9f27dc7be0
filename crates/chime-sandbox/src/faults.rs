//! Injected faults and the record of calls, both only with the feature `testkit`: without it every call succeeds and
//! nothing is recorded.

#[cfg(not(feature = "testkit"))]
mod absent;
#[cfg(feature = "testkit")]
mod injected;

#[cfg(not(feature = "testkit"))]
pub(super) use absent::{AnonymousCaller as Caller, NoFaults as Faults};
#[cfg(feature = "testkit")]
pub(super) use injected::{Caller, Faults};
#[cfg(feature = "testkit")]
pub use injected::{FOREVER, Fault, ReceivedCall};
