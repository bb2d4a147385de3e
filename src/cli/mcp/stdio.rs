//! Standard input and output as a transport: no more is read than can be answered, and the end of
//! input is the end only when everything that came before it is answered.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use agekeep::error::Result;
use agekeep::policy::Limits;
use rmcp::service::ServiceExt;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::io::stdio_pipes;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::server::Door;

/// Calls that may wait for their turn before reading on waits too.
const WAITING_MAX: usize = 256;

/// Serves one client, to its end.
pub(super) async fn serve(door: Door) -> Result<()> {
    let (input, output) = stdio_pipes();
    let closing = door.closing();
    let paced = Paced {
        input,
        waiting: door.waiting(),
        hold: None,
        is_at_end: false,
        closed: Box::pin(closing.clone().cancelled_owned()),
        closing,
    };
    let transport = AsyncRwTransport::new_server(paced, output)
        .with_max_line_length(Limits::default().request_bytes);
    // A client that goes away before it has introduced itself is no failure.
    if let Ok(running) = door.serve(transport).await {
        let _ = running.waiting().await;
    }
    Ok(())
}

type Hold = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Input that is read as fast as calls are answered. It is at its end too when the server is told to
/// end.
struct Paced<R> {
    input: R,
    waiting: watch::Receiver<usize>,
    hold: Option<Hold>,
    is_at_end: bool,
    closed: Hold,
    closing: CancellationToken,
}

impl<R> Paced<R> {
    /// Ready when at most so many calls wait.
    fn poll_at_most(&mut self, cx: &mut Context<'_>, most: usize) -> Poll<()> {
        if self.hold.is_none() && *self.waiting.borrow() <= most {
            return Poll::Ready(());
        }
        let hold = self.hold.get_or_insert_with(|| {
            let mut waiting = self.waiting.clone();
            Box::pin(async move {
                let _ = waiting.wait_for(|count| *count <= most).await;
            })
        });
        ready!(hold.as_mut().poll(cx));
        self.hold = None;
        Poll::Ready(())
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Paced<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.is_at_end {
            return self.poll_at_most(cx, 0).map(Ok);
        }
        if self.closed.as_mut().poll(cx).is_pending() {
            ready!(self.poll_at_most(cx, WAITING_MAX));
            let before = buffer.filled().len();
            ready!(Pin::new(&mut self.input).poll_read(cx, buffer))?;
            if buffer.filled().len() > before {
                return Poll::Ready(Ok(()));
            }
        }
        self.is_at_end = true;
        // Who listens for changes would wait for ever.
        self.closing.cancel();
        // What was read last has been handed to tasks that have not begun, and so are not counted
        // yet: on one thread each of them comes before this one is asked again.
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}
