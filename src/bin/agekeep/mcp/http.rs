//! Streamable HTTP: on loopback for everybody on this machine, elsewhere only with a token.

mod connections;
mod sessions;

use std::convert::Infallible;
use std::fs;
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use agekeep::Digest;
use agekeep::error::{Error, KeyFault, Result};
use agekeep::policy::Limits;
use clap::Args;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{self, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Request, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use zeroize::Zeroizing;

use self::connections::{ConnectionSlot, Connections, FILES};
use self::sessions::Sessions;
use crate::mcp::server::McpHandler;
use crate::mcp::worker::PendingGuard;
use crate::{output, terminal};

/// Shortest token, in bytes.
const TOKEN_BYTES_MIN: usize = 16;
/// Longest token file, in bytes.
const TOKEN_BYTES_MAX: u64 = 4_096;

/// The longest wait for open requests to come in and be answered when the server is told to end.
const END_WITHIN: Duration = Duration::from_secs(5);
/// The time an answer takes from the store to the client's stream.
const HAND_OVER: Duration = Duration::from_millis(50);

/// Most connections that may wait to be accepted: as many as Linux allows.
const BACKLOG: u32 = 4_096;
/// The wait before the server accepts again after the machine had nothing left for a connection:
/// the one closed to make room is gone by then, and another try costs little.
const ACCEPT_AGAIN: Duration = Duration::from_millis(10);
/// Most bytes of a request's head. A few hundred are enough for MCP.
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// The longest time a connection may wait for the head of its next request. Common clients close a
/// connection that they have not used for ninety seconds, and none should meet a server that is
/// about to close it.
const NEXT_HEAD_WITHIN: Duration = Duration::from_secs(120);

// The options for how clients reach the server.
#[derive(Args)]
pub(super) struct Http {
    /// Serve streamable HTTP at this address, such as 127.0.0.1:8700, instead of standard input and
    /// output. Port 0 means any free port
    #[arg(long = "http", value_name = "ADDR")]
    address: Option<SocketAddr>,
    /// The file with the bearer token that each request needs. Required if other machines can reach
    /// the address
    #[arg(long, value_name = "FILE", requires = "address")]
    token_file: Option<PathBuf>,
    /// Another host name under which clients may reach the server
    #[arg(long, value_name = "HOST", requires = "address")]
    allow_host: Vec<String>,
    /// Another web origin whose pages may call the server, such as `https://tools.example.com`
    #[arg(long, value_name = "ORIGIN", requires = "address")]
    allow_origin: Vec<String>,
}

impl Http {
    /// Tells whether HTTP is asked for.
    pub(super) fn is_asked_for(&self) -> bool {
        self.address.is_some()
    }

    /// Serves clients until the process is told to end.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an address that others can reach without a token, or an origin
    /// without a scheme; [`Error::BadKeyFile`] or [`Error::Key`] for an unusable token file;
    /// [`Error::Io`] if the address cannot be had or the token file cannot be read.
    pub(super) async fn serve(&self, door: McpHandler) -> Result<()> {
        let address = self.address.expect("HTTP was asked for");
        let token = self.token_file.as_deref().map(token).transpose()?;
        if token.is_none() && !address.ip().is_loopback() {
            return Err(Error::Invalid {
                what: "--http",
                why: format!("others can reach {address}; give a token with --token-file"),
            });
        }
        let failed = |source| Error::Io {
            doing: "listen at",
            path: address.to_string().into(),
            source,
        };
        if let Some(origin) = self.allow_origin.iter().find(|text| !text.contains("://")) {
            return Err(Error::Invalid {
                what: "--allow-origin",
                why: format!("{origin} does not begin with https:// or http://"),
            });
        }
        let listener = listen(address).map_err(failed)?;
        let bound = listener.local_addr().map_err(failed)?;
        output::note(&format!("serving MCP at http://{bound}/mcp"));
        if !bound.ip().is_loopback() {
            output::warn(
                "requests, the token and memories cross the network unencrypted; put a TLS proxy \
                 in front",
            );
        }
        let closing = door.closing();
        let (waiting, streams) = (door.waiting(), CancellationToken::new());
        let sessions: Arc<Sessions> = Arc::default();
        let config = self.config(bound.ip(), streams.clone());
        let another = move || Ok(door.for_another());
        let server = Arc::new(HttpServer {
            token,
            begun: Arc::new(watch::Sender::new(0)),
            connections: Arc::new(Connections::new(terminal::let_open(FILES))),
            service: StreamableHttpService::new(another, sessions.local.clone(), config),
            sessions,
        });
        let begun = server.begun.subscribe();
        accept(listener, server, &closing).await;
        // A client that is slow to send its request, or does not read its answer, is not waited
        // for.
        let _ = timeout(END_WITHIN, answered(begun, waiting)).await;
        streams.cancel();
        sleep(HAND_OVER).await;
        Ok(())
    }

    fn config(&self, ip: IpAddr, streams: CancellationToken) -> StreamableHttpServerConfig {
        let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).into();
        if !ip.is_unspecified() {
            hosts.push(ip.to_string());
        }
        hosts.extend(self.allow_host.iter().cloned());
        let local = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];
        let origins = local.map(str::to_owned).into_iter();
        let origins = origins.chain(self.allow_origin.iter().map(|origin| with_port(origin)));
        StreamableHttpServerConfig::default()
            .with_allowed_hosts(hosts)
            .with_allowed_origins(origins)
            .with_json_response(true)
            .with_max_request_body_bytes(Limits::default().request_bytes)
            .with_cancellation_token(streams)
    }
}

fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4(),
        SocketAddr::V6(_) => TcpSocket::new_v6(),
    }?;
    // An earlier server may have left connections behind.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Accepts connections until the server is told to end.
async fn accept(listener: TcpListener, server: Arc<HttpServer>, closing: &CancellationToken) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = closing.cancelled() => return,
        };
        match accepted {
            Ok((stream, from)) => {
                let place = server.connections.admit(from.ip());
                tokio::spawn(serve(stream, place, server.clone(), closing.clone()));
                // Other tasks run before the next connection is accepted: a head that has arrived
                // is read, and the connection closed for this one goes, however many connections
                // wait.
                yield_now().await;
            }
            Err(error) if is_of_the_client(&error) => {}
            Err(_) => {
                server.connections.make_room();
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
async fn serve(
    stream: TcpStream,
    place: Arc<ConnectionSlot>,
    server: Arc<HttpServer>,
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

/// Waits until every request that has begun is answered.
async fn answered(mut begun: watch::Receiver<usize>, mut waiting: watch::Receiver<usize>) {
    let _ = begun.wait_for(|count| *count == 0).await;
    let _ = waiting.wait_for(|count| *count == 0).await;
    // Other tasks may still be passing an answer to its stream of events.
    sleep(HAND_OVER).await;
}

/// Adds the port of its scheme to an origin without one, which would stand for every port.
fn with_port(origin: &str) -> String {
    let port = match origin.split_once("://") {
        Some(("https", _)) => 443,
        Some(("http", _)) => 80,
        _ => return origin.to_owned(),
    };
    let is_port = |text: &str| text == "*" || text.bytes().all(|b| b.is_ascii_digit());
    match origin.rsplit_once(':') {
        Some((_, last)) if is_port(last) => origin.to_owned(),
        _ => format!("{origin}:{port}"),
    }
}

/// The server that answers requests.
struct HttpServer {
    token: Option<Digest>,
    /// The number of requests that have begun and are not answered.
    begun: Arc<watch::Sender<usize>>,
    connections: Arc<Connections>,
    /// The sessions of clients of the older protocol version.
    sessions: Arc<Sessions>,
    service: StreamableHttpService<McpHandler, LocalSessionManager>,
}

type Response = hyper::Response<BoxBody<Bytes, Infallible>>;

impl HttpServer {
    /// Answers a request whose head has arrived.
    async fn answer(&self, place: &Arc<ConnectionSlot>, request: Request<Incoming>) -> Response {
        let _inside = PendingGuard::new(&self.begun);
        // The token is checked before anything is read or looked up for the request.
        if !self.lets_in(request.headers()) {
            let mut refused = refusal(StatusCode::UNAUTHORIZED, "a bearer token is needed\n");
            let challenge = HeaderValue::from_static("Bearer");
            refused
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, challenge);
            return refused;
        }
        let Some(receiving) = place.let_in() else {
            return refusal(StatusCode::SERVICE_UNAVAILABLE, "too many at once\n");
        };
        if !matches!(request.uri().path(), "/mcp" | "/mcp/") {
            return refusal(StatusCode::NOT_FOUND, "MCP is served at /mcp\n");
        }
        let in_session = self.sessions.use_named(request.headers());
        let request = request.map(|body| with(body, receiving));
        let response = tokio::select! {
            response = self.service.handle(request) => response,
            () = place.late() => refusal(StatusCode::REQUEST_TIMEOUT, "the body took too long\n"),
        };
        if in_session.is_none() {
            self.sessions.begin(response.headers()).await;
        }
        let sending = (place.send(), in_session);
        response.map(|body| with(body, sending).boxed())
    }

    /// Tells whether a request brings the token, if one is set. Compares digests, so that the time
    /// it takes tells nothing of the token.
    fn lets_in(&self, headers: &HeaderMap) -> bool {
        let Some(token) = self.token else {
            return true;
        };
        let brought = headers.get(header::AUTHORIZATION).and_then(|value| {
            let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
            let is_bearer = scheme.eq_ignore_ascii_case("bearer");
            is_bearer.then(|| Digest::of(token.trim().as_bytes()))
        });
        brought == Some(token)
    }
}

/// Ties a value to a body: it is dropped when the body was read or sent to its end, or given up.
fn with<B: Body<Data = Bytes>>(
    body: B,
    kept: impl Send + Sync + 'static,
) -> impl Body<Data = Bytes, Error = B::Error> {
    body.map_frame(move |frame| {
        let _ = &kept;
        frame
    })
}

/// Makes an answer after which the connection is closed.
fn refusal(status: StatusCode, why: &'static str) -> Response {
    let mut refusal = Response::new(Full::new(Bytes::from_static(why.as_bytes())).boxed());
    *refusal.status_mut() = status;
    let close = HeaderValue::from_static("close");
    refusal.headers_mut().insert(header::CONNECTION, close);
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    refusal.headers_mut().insert(header::CONTENT_TYPE, plain);
    refusal
}

/// Reads the token in a file and returns its digest.
fn token(path: &Path) -> Result<Digest> {
    const WHAT: &str = "token file";
    let failed = |source| Error::Io {
        doing: "read",
        path: path.into(),
        source,
    };
    let bad = |why: &str| Error::BadKeyFile {
        what: WHAT,
        path: path.into(),
        why: why.into(),
    };
    let about = fs::metadata(path).map_err(failed)?;
    if !about.is_file() {
        return Err(bad("it is not a regular file"));
    }
    if about.permissions().mode() & 0o077 != 0 {
        let path = path.into();
        return Err(Error::Key(KeyFault::NotPrivate { what: WHAT, path }));
    }
    if about.len() > TOKEN_BYTES_MAX {
        return Err(bad("it is too long"));
    }
    let bytes = Zeroizing::new(fs::read(path).map_err(failed)?);
    let token = bytes.trim_ascii();
    if token.len() < TOKEN_BYTES_MIN {
        return Err(bad("it is shorter than 16 bytes"));
    }
    if !token.iter().all(u8::is_ascii_graphic) {
        return Err(bad("it is not one word of printable ASCII"));
    }
    Ok(Digest::of(token))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_at_one_port() {
        for (given, is) in [
            ("https://a.example", "https://a.example:443"),
            ("http://a.example", "http://a.example:80"),
            ("http://[::1]", "http://[::1]:80"),
            ("http://[::1]:9", "http://[::1]:9"),
            ("https://a.example:8443", "https://a.example:8443"),
            ("https://a.example:*", "https://a.example:*"),
        ] {
            assert_eq!(with_port(given), is);
        }
    }
}
