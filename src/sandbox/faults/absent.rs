//! Nothing goes wrong.

use axum::extract::connect_info::Connected;
use axum::response::Response;
use axum::serve::IncomingStream;

use crate::clock::Clock;
use crate::sandbox::line::Exchange;
use crate::sandbox::params::Params;

#[derive(Debug, Clone)]
pub(in crate::sandbox) struct Caller;

impl Connected<IncomingStream<'_, Exchange>> for Caller {
    fn connect_info(_stream: IncomingStream<'_, Exchange>) -> Self {
        Self
    }
}

#[derive(Debug, Default)]
pub(in crate::sandbox) struct Faults {}

impl Faults {
    pub(in crate::sandbox) async fn around(
        &self,
        _clock: &Clock,
        _caller: &Caller,
        _call: (&str, &Params),
        serving: impl Future<Output = Response>,
    ) -> Response {
        serving.await
    }
}
