//! Standard input and output as a transport. It reads no more than can be answered, and ends at the
//! end of input only when everything before it is answered.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use agekeep::error::Result;
use agekeep::jsonl;
use agekeep::policy::Limits;
use rmcp::RoleServer;
use rmcp::service::{RxJsonRpcMessage, ServiceExt, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::io::{StdioReader, StdioWriter, stdio_pipes};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::watch;
use tokio::task::yield_now;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::mcp::call::REPAIRED;
use crate::mcp::server::McpHandler;
use crate::worker::PendingGuard;

/// Most calls that may wait for their turn, and most answers that may wait for the client to read
/// them, before the server stops reading.
const WAITING_MAX: usize = 64;
/// The longest time that a client may read nothing, after the end of its input, before the
/// remaining answers are given up.
const READ_WITHIN: Duration = Duration::from_secs(3);

/// Serves one client until it ends.
pub(super) async fn serve(handler: McpHandler) -> Result<()> {
    let (input, output) = stdio_pipes();
    let input = RepairedInput::new(input);
    let lines = AsyncRwTransport::new_server(input, output)
        .with_max_line_length(Limits::default().request_bytes);
    let paced = BackpressuredInput {
        lines,
        waiting: handler.waiting(),
        unread: Arc::new(watch::Sender::new(0)),
        closing: handler.closing(),
        has_begun: true,
        is_at_end: false,
    };
    // A client that goes away before it has introduced itself is no failure.
    if let Ok(running) = handler.serve(paced).await {
        let _ = running.waiting().await;
    }
    Ok(())
}

/// A transport that reads lines as fast as calls are answered and answers are read. It also ends
/// when the server is told to end, or the client stops reading.
struct BackpressuredInput {
    lines: AsyncRwTransport<RoleServer, RepairedInput<StdioReader>, StdioWriter>,
    waiting: watch::Receiver<usize>,
    unread: Arc<watch::Sender<usize>>,
    closing: CancellationToken,
    /// Set if the task that took the last message has begun, and so is counted.
    has_begun: bool,
    is_at_end: bool,
}

impl BackpressuredInput {
    /// Waits until there is room for another call.
    async fn room(&mut self) {
        let few = |count: &usize| *count <= WAITING_MAX;
        let _ = self.waiting.wait_for(few).await;
        let _ = self.unread.subscribe().wait_for(few).await;
    }

    /// Waits until every call is answered, and the client has read the answers or stopped reading.
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

/// `receive` may be dropped and called again: it notes each step that is done before the next.
impl Transport<RoleServer> for BackpressuredInput {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let unread = PendingGuard::new(&self.unread);
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
            // With one thread, that task runs before this one is polled again.
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
            // A client that listens for changes would wait for ever.
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

// Lines of input in which half a surrogate pair is repaired: the protocol's library would drop a
// message, and the client would wait for its answer for ever. The message is marked, so that it is
// refused and recorded.

/// The number of bytes that are read at once.
const CHUNK_BYTES: usize = 16 * 1024;

/// A reader that repairs its input, and hands it on line by line.
pub(super) struct RepairedInput<R> {
    input: R,
    /// The bytes that were read and are not handed on yet.
    held: Vec<u8>,
    /// The number of bytes in `held` that were searched for a line end, and the number that may be
    /// handed on.
    scanned: usize,
    ready: usize,
}

impl<R> RepairedInput<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            input,
            held: Vec::new(),
            scanned: 0,
            ready: 0,
        }
    }

    /// Looks for the end of a line, and repairs the line.
    fn look(&mut self) {
        let end = self.held[self.scanned..].iter().position(|b| *b == b'\n');
        let Some(end) = end.map(|end| self.scanned + end) else {
            self.scanned = self.held.len();
            // It is too long for a message: the library will drop it.
            if self.held.len() > Limits::default().request_bytes {
                self.ready = self.held.len();
            }
            return;
        };
        let mut end = end;
        if let Some(repaired) = repair_surrogates(&self.held[..end]) {
            self.held.splice(..end, repaired.bytes());
            end = repaired.len();
        }
        self.ready = end + 1;
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for RepairedInput<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        while self.ready == 0 {
            let mut chunk = [0; CHUNK_BYTES];
            let mut read = ReadBuf::new(&mut chunk);
            ready!(Pin::new(&mut self.input).poll_read(cx, &mut read))?;
            if read.filled().is_empty() {
                // An unfinished line is no message, and is handed on as it is.
                self.ready = self.held.len();
                break;
            }
            self.held.extend_from_slice(read.filled());
            self.look();
        }
        let some = self.ready.min(buffer.remaining());
        buffer.put_slice(&self.held[..some]);
        self.held.drain(..some);
        self.ready -= some;
        if self.ready == 0 {
            self.scanned = 0;
            self.look();
        }
        Poll::Ready(Ok(()))
    }
}

/// Repairs and marks the message on a line; `None` if there is nothing to repair.
fn repair_surrogates(line: &[u8]) -> Option<String> {
    let half = |bytes: &[u8]| bytes == b"\\ud" || bytes == b"\\uD";
    if !line.windows(3).any(half) || serde_json::from_slice::<Value>(line).is_ok() {
        return None;
    }
    let mut message = jsonl::despite_surrogates(std::str::from_utf8(line).ok()?)?;
    let params = message.get_mut("params")?.as_object_mut()?;
    let meta = params.entry("_meta").or_insert_with(|| json!({}));
    meta.as_object_mut()?
        .insert(REPAIRED.into(), Value::Bool(true));
    Some(message.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tokio::io::AsyncReadExt;

    /// Reads the input through [`RepairedInput`], which gets at most `step` bytes at once.
    fn through(input: &[u8], step: usize) -> Vec<u8> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let (mut from, to) = tokio::io::duplex(step);
            let (mut repaired, mut out) = (RepairedInput::new(to), Vec::new());
            let feed = async {
                use tokio::io::AsyncWriteExt;
                from.write_all(input).await.expect("written");
                drop(from);
            };
            let ((), read) = tokio::join!(feed, repaired.read_to_end(&mut out));
            read.expect("read");
            out
        })
    }

    #[test]
    fn half_a_pair_is_mended_and_marked_and_nothing_else_is_touched() {
        let good = r#"{"id":1,"params":{"text":"\ud83d\ude00 \\ud800"}}"#;
        let half = r#"{"id":2,"params":{"text":"\ud83d!","_meta":{"x":1}}}"#;
        let input = format!("{good}\n{half}\nnot \\ud8 JSON\n{good}\n{{\"cut");
        for step in [1, 7, 4096] {
            let out = String::from_utf8(through(input.as_bytes(), step)).expect("text");
            let lines: Vec<&str> = out.split('\n').collect();
            assert_eq!(
                [lines[0], lines[2], lines[3], lines[4]],
                [good, "not \\ud8 JSON", good, "{\"cut"]
            );
            let repaired: Value = serde_json::from_str(lines[1]).expect("JSON");
            assert_eq!(repaired["id"], 2);
            assert_eq!(repaired["params"]["text"], "\u{fffd}!");
            assert_eq!(repaired["params"]["_meta"], json!({"x": 1, REPAIRED: true}));
        }
    }

    proptest! {
        #[test]
        fn what_is_whole_comes_out_as_it_went_in(
            lines in prop::collection::vec("[a-z{}\\[\\]\",:0-9é\u{2028}]{0,40}", 0..6),
            step in 1_usize..64,
        ) {
            let input = lines.join("\n");
            prop_assert_eq!(through(input.as_bytes(), step), input.into_bytes());
        }
    }
}
