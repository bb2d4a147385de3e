//! Standard input and output as a transport: no more is read than can be answered, and the end of
//! input is the end only when everything that came before it is answered.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use agekeep::error::Result;
use agekeep::policy::Limits;
use rmcp::RoleServer;
use rmcp::service::{RxJsonRpcMessage, ServiceExt, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::io::{StdioReader, StdioWriter, stdio_pipes};
use tokio::sync::watch;
use tokio::task::yield_now;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::mcp::keeper::Waiting;
use crate::mcp::mended::Mended;
use crate::mcp::server::Door;

/// Calls that may wait for their turn, and answers that may wait for the client to read them, before
/// reading on waits too.
const WAITING_MAX: usize = 64;
/// How long a client that is about to go may read nothing before the rest is not kept for it.
const READ_WITHIN: Duration = Duration::from_secs(3);

/// Serves one client, to its end.
pub(super) async fn serve(door: Door) -> Result<()> {
    let (input, output) = stdio_pipes();
    let input = Mended::new(input);
    let lines = AsyncRwTransport::new_server(input, output)
        .with_max_line_length(Limits::default().request_bytes);
    let paced = Paced {
        lines,
        waiting: door.waiting(),
        unread: Arc::new(watch::Sender::new(0)),
        closing: door.closing(),
        has_begun: true,
        is_at_end: false,
    };
    // A client that goes away before it has introduced itself is no failure.
    if let Ok(running) = door.serve(paced).await {
        let _ = running.waiting().await;
    }
    Ok(())
}

/// Lines that are read as fast as calls are answered and answers are read. They are at their end too
/// when the server is told to end, or nobody reads any more.
struct Paced {
    lines: AsyncRwTransport<RoleServer, Mended<StdioReader>, StdioWriter>,
    waiting: watch::Receiver<usize>,
    unread: Arc<watch::Sender<usize>>,
    closing: CancellationToken,
    /// Whether the task that the last message was handed to has begun, and so is counted.
    has_begun: bool,
    is_at_end: bool,
}

impl Paced {
    /// Waits until there is room for another call.
    async fn room(&mut self) {
        let few = |count: &usize| *count <= WAITING_MAX;
        let _ = self.waiting.wait_for(few).await;
        let _ = self.unread.subscribe().wait_for(few).await;
    }

    /// Waits until all is answered, and the answers are read or nobody reads them.
    async fn end(&mut self) {
        let _ = self.waiting.wait_for(|count| *count == 0).await;
        let mut unread = self.unread.subscribe();
        while *unread.borrow_and_update() > 0 {
            if timeout(READ_WITHIN, unread.changed()).await.is_err() {
                return;
            }
        }
    }
}

/// What waits may be dropped and asked again: every step that is done is noted before the next.
impl Transport<RoleServer> for Paced {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let unread = Waiting::new(&self.unread);
        let (sending, closing) = (self.lines.send(message), self.closing.clone());
        async move {
            let sent = sending.await;
            if sent.is_err() {
                closing.cancel();
            }
            drop(unread);
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        if !self.has_begun {
            // On one thread that task comes before this one is asked again.
            yield_now().await;
            self.has_begun = true;
        }
        if !self.is_at_end {
            let closing = self.closing.clone();
            let next = async {
                self.room().await;
                self.lines.receive().await
            };
            let message = tokio::select! {
                biased;
                () = closing.cancelled() => None,
                message = next => message,
            };
            self.has_begun = false;
            if message.is_some() {
                return message;
            }
            self.is_at_end = true;
            // Who listens for changes would wait for ever.
            self.closing.cancel();
            yield_now().await;
        }
        self.end().await;
        None
    }

    async fn close(&mut self) -> io::Result<()> {
        if *self.unread.borrow() > 0 {
            // Closing would wait for the answer that is stuck, and so for ever.
            return Ok(());
        }
        self.lines.close().await
    }
}
