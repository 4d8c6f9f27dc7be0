//! Connections that the end of the sandbox or an injected fault closes at once.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// Listener that accepts connections until `stop` is cancelled, which also closes all of them.
pub(super) struct StoppableListener {
    listener: TcpListener,
    stop: CancellationToken,
}

pub(super) struct CuttableConnection {
    stream: TcpStream,
    /// Closes the connection at once when cancelled.
    pub(super) cut: CancellationToken,
    until_cut: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl StoppableListener {
    pub(super) fn new(listener: TcpListener, stop: CancellationToken) -> Self {
        Self { listener, stop }
    }
}

impl Listener for StoppableListener {
    type Io = CuttableConnection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (CuttableConnection, SocketAddr) {
        let (stream, address) = Listener::accept(&mut self.listener).await;
        // Responses are small: waiting to fill a packet would only delay them. A failure is harmless.
        stream.set_nodelay(true).ok();
        let cut = self.stop.child_token();
        let until_cut = Box::pin(cut.clone().cancelled_owned());
        (CuttableConnection { stream, cut, until_cut }, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl CuttableConnection {
    fn check_cut(&self) -> io::Result<()> {
        if self.cut.is_cancelled() { Err(io::ErrorKind::ConnectionReset.into()) } else { Ok(()) }
    }
}

impl AsyncRead for CuttableConnection {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        // The server always polls a connection for reading, if only to notice its end. So a cut takes effect here at
        // once.
        if self.until_cut.as_mut().poll(context).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl AsyncWrite for CuttableConnection {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.check_cut()?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.check_cut()?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
