//! Replacement for `injected` without the feature `testkit`: executes every call and records nothing.

use axum::extract::connect_info::Connected;
use axum::response::Response;
use axum::serve::IncomingStream;

use crate::connection::StoppableListener;
use crate::params::RequestParams;
use chime_runtime::clock::Clock;

#[derive(Debug, Clone)]
pub(crate) struct AnonymousCaller;

impl Connected<IncomingStream<'_, StoppableListener>> for AnonymousCaller {
    fn connect_info(_stream: IncomingStream<'_, StoppableListener>) -> Self {
        Self
    }
}

#[derive(Debug, Default)]
pub(crate) struct NoFaults {}

impl NoFaults {
    pub(crate) async fn around(
        &self,
        _clock: &Clock,
        _caller: &AnonymousCaller,
        _method: &str,
        _params: &RequestParams,
        serving: impl Future<Output = Response>,
    ) -> Response {
        serving.await
    }
}
