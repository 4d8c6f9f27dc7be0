//! The variant without faults.

use axum::extract::connect_info::Connected;
use axum::response::Response;
use axum::serve::IncomingStream;

use crate::line::Exchange;
use crate::params::Params;
use chime_runtime::clock::Clock;

#[derive(Debug, Clone)]
pub(crate) struct Caller;

impl Connected<IncomingStream<'_, Exchange>> for Caller {
    fn connect_info(_stream: IncomingStream<'_, Exchange>) -> Self {
        Self
    }
}

#[derive(Debug, Default)]
pub(crate) struct Faults {}

impl Faults {
    pub(crate) async fn around(
        &self,
        _clock: &Clock,
        _caller: &Caller,
        _method: &str,
        _params: &Params,
        serving: impl Future<Output = Response>,
    ) -> Response {
        serving.await
    }
}
