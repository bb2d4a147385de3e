//! HTTP/1.1 for the servers of the program: it accepts connections, bounds what they may cost, and
//! hands each request to who answers it.

pub(crate) mod connections;

use std::convert::Infallible;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use agekeep::error::{Error, Result};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::yield_now;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use self::connections::{ConnectionSlot, Connections};

/// Most connections that may wait to be accepted: as many as Linux allows.
const BACKLOG: u32 = 4_096;
/// The wait before the server accepts again after the machine had nothing left for a connection:
/// the one closed to make room is gone by then, and another try costs little.
const ACCEPT_AGAIN: Duration = Duration::from_millis(10);
/// Most bytes of a request's head. A few hundred are enough.
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// The longest time a connection may wait for the head of its next request. Common clients close a
/// connection that they have not used for ninety seconds, and none should meet a server that is
/// about to close it.
const NEXT_HEAD_WITHIN: Duration = Duration::from_secs(120);

pub(crate) type Response = hyper::Response<BoxBody<Bytes, Infallible>>;

/// Who answers the requests of a server.
pub(crate) trait Answers: Send + Sync + 'static {
    /// Returns the connections of the server.
    fn connections(&self) -> &Arc<Connections>;

    /// Answers a request whose head has arrived.
    fn answer(
        &self,
        place: &Arc<ConnectionSlot>,
        request: Request<Incoming>,
    ) -> impl Future<Output = Response> + Send;
}

/// Begins to listen at an address, and returns the one that it got.
///
/// # Errors
/// [`Error::Io`] if the address cannot be had.
pub(crate) fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr)> {
    let begin = || {
        let socket = match address {
            SocketAddr::V4(_) => TcpSocket::new_v4(),
            SocketAddr::V6(_) => TcpSocket::new_v6(),
        }?;
        // An earlier server may have left connections behind.
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        let listener = socket.listen(BACKLOG)?;
        let bound = listener.local_addr()?;
        Ok((listener, bound))
    };
    begin().map_err(Error::io("listen at", address.to_string().as_ref()))
}

/// Accepts connections until the server is told to end.
pub(crate) async fn accept<S: Answers>(
    listener: TcpListener,
    server: Arc<S>,
    closing: &CancellationToken,
) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = closing.cancelled() => return,
        };
        match accepted {
            Ok((stream, from)) => {
                let place = server.connections().admit(from.ip());
                tokio::spawn(serve(stream, place, server.clone(), closing.clone()));
                // Other tasks run before the next connection is accepted: a head that has arrived
                // is read, and the connection closed for this one goes, however many connections
                // wait.
                yield_now().await;
            }
            Err(error) if is_of_the_client(&error) => {}
            Err(_) => {
                server.connections().make_room();
                sleep(ACCEPT_AGAIN).await;
            }
        }
    }
}

/// Tells whether a connection failed because its client has gone away.
fn is_of_the_client(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionAborted | ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset
    )
}

/// Serves a connection until it ends or loses its place.
async fn serve<S: Answers>(
    stream: TcpStream,
    place: Arc<ConnectionSlot>,
    server: Arc<S>,
    closing: CancellationToken,
) {
    let answer = service_fn(|request| {
        let (server, place) = (server.clone(), place.clone());
        async move { Ok::<_, Infallible>(server.answer(&place, request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(NEXT_HEAD_WITHIN)
        .max_header_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), answer);
    let (mut connection, mut lost) = (pin!(connection), pin!(place.lost()));
    tokio::select! {
        biased;
        () = &mut lost => return,
        () = closing.cancelled() => connection.as_mut().graceful_shutdown(),
        _ = connection.as_mut() => return,
    }
    tokio::select! {
        biased;
        () = lost => {}
        _ = connection => {}
    }
}

/// Ties a value to a body: it is dropped when the body was read or sent to its end, or given up.
pub(crate) fn with<B: Body<Data = Bytes>>(
    body: B,
    kept: impl Send + Sync + 'static,
) -> impl Body<Data = Bytes, Error = B::Error> {
    body.map_frame(move |frame| {
        let _ = &kept;
        frame
    })
}

/// The kind of a plain text.
pub(crate) const PLAIN: &str = "text/plain; charset=utf-8";

/// Makes an answer with a body of this kind.
pub(crate) fn response(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Response {
    let mut response = Response::new(Full::new(body.into()).boxed());
    *response.status_mut() = status;
    with_header(response, header::CONTENT_TYPE, kind)
}

/// Sets a header of an answer.
pub(crate) fn with_header(
    mut response: Response,
    name: HeaderName,
    value: &'static str,
) -> Response {
    let value = HeaderValue::from_static(value);
    response.headers_mut().insert(name, value);
    response
}

/// Has the connection closed after an answer.
pub(crate) fn closing(response: Response) -> Response {
    with_header(response, header::CONNECTION, "close")
}

/// Makes an answer after which the connection is closed.
pub(crate) fn refusal(status: StatusCode, why: &'static str) -> Response {
    closing(response(status, PLAIN, why))
}
