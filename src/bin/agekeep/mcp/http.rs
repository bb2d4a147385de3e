//! Streamable HTTP: on loopback for everybody on this machine, elsewhere only with a token.

mod monitoring;
mod sessions;

use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agekeep::Digest;
use agekeep::error::{Error, KeyFault, Result};
use agekeep::policy::Limits;
use clap::Args;
use http_body_util::{BodyExt, Empty};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header;
use hyper::{HeaderMap, Method, Request, StatusCode};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use zeroize::Zeroizing;

pub(super) use self::monitoring::CallCounts;
use self::monitoring::{Load, StoreProbe, TEXT_FORMAT, metrics};
use self::sessions::Sessions;
use crate::http::connections::{ConnectionSlot, Connections, FILES, PhaseGuard};
use crate::http::{
    Answers, PLAIN, Response, accept, closing, listen, refusal, response, with, with_header,
};
use crate::mcp::server::McpHandler;
use crate::worker::PendingGuard;
use crate::{output, platform};

/// Shortest token, in bytes.
const TOKEN_BYTES_MIN: usize = 16;
/// Longest token file, in bytes.
const TOKEN_BYTES_MAX: u64 = 4_096;

/// The longest wait for open requests to come in and be answered when the server is told to end.
const END_WITHIN: Duration = Duration::from_secs(5);
/// The time an answer takes from the store to the client's stream.
const HAND_OVER: Duration = Duration::from_millis(50);

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
    pub(super) async fn serve(&self, handler: McpHandler) -> Result<()> {
        let address = self.address.expect("HTTP was asked for");
        let token = self.token_file.as_deref().map(token).transpose()?;
        if token.is_none() && !address.ip().is_loopback() {
            return Err(Error::invalid(
                "--http",
                format!("others can reach {address}; give a token with --token-file"),
            ));
        }
        if let Some(origin) = self.allow_origin.iter().find(|text| !text.contains("://")) {
            return Err(Error::invalid(
                "--allow-origin",
                format!("{origin} does not begin with https:// or http://"),
            ));
        }
        let (listener, bound) = listen(address)?;
        output::note(&format!("serving MCP at http://{bound}/mcp"));
        if !bound.ip().is_loopback() {
            output::warn(
                "requests, the token and memories cross the network unencrypted; put a TLS proxy \
                 in front",
            );
        }
        let closing = handler.closing();
        let (waiting, streams) = (handler.waiting(), CancellationToken::new());
        let sessions: Arc<Sessions> = Arc::default();
        let config = self.config(bound.ip(), streams.clone());
        let (calls, worker) = handler.monitored();
        let another = move || Ok(handler.for_another());
        let server = Arc::new(HttpServer {
            token,
            begun: Arc::new(watch::Sender::new(0)),
            connections: Arc::new(Connections::new(platform::let_open(FILES))),
            service: StreamableHttpService::new(another, sessions.local.clone(), config),
            sessions,
            calls,
            probe: StoreProbe::new(worker),
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
    calls: Arc<CallCounts>,
    probe: Arc<StoreProbe>,
}

impl Answers for HttpServer {
    fn connections(&self) -> &Arc<Connections> {
        &self.connections
    }

    async fn answer(&self, place: &Arc<ConnectionSlot>, request: Request<Incoming>) -> Response {
        let _inside = PendingGuard::new(&self.begun);
        if request.uri().path() == "/health" {
            // It tells whoever asks that the server runs, and nothing else. The connection stays a new
            // one, so that nobody takes the places of those who have the token.
            let refused = self.refuses_to_tell(&request).await;
            return closing(refused.unwrap_or_else(|| plain("ok\n".into())));
        }
        // The token is checked before anything is read or looked up for the request.
        if !self.lets_in(request.headers()) {
            let refused = refusal(StatusCode::UNAUTHORIZED, "a bearer token is needed\n");
            return with_header(refused, header::WWW_AUTHENTICATE, "Bearer");
        }
        let Some(receiving) = place.let_in() else {
            return refusal(StatusCode::SERVICE_UNAVAILABLE, "too many at once\n");
        };
        match request.uri().path() {
            "/mcp" | "/mcp/" => self.mcp(place, request, receiving).await,
            "/metrics" => {
                drop(receiving);
                let answer = self.metrics(&request).await;
                let sending = place.send();
                answer.map(|body| with(body, sending).boxed())
            }
            _ => refusal(StatusCode::NOT_FOUND, "MCP is served at /mcp\n"),
        }
    }
}

impl HttpServer {
    /// Answers a request of the protocol.
    async fn mcp(
        &self,
        place: &Arc<ConnectionSlot>,
        request: Request<Incoming>,
        receiving: PhaseGuard,
    ) -> Response {
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

    /// Answers with the metrics.
    async fn metrics(&self, request: &Request<Incoming>) -> Response {
        if let Some(refused) = self.refuses_to_tell(request).await {
            return closing(refused);
        }
        let store = self.probe.totals().await;
        let load = Load {
            waiting: self.probe.waiting(),
            sessions: self.sessions.count().await,
            connections: self.connections.counts(),
        };
        let answer = plain(metrics(&self.calls, &load, store));
        with_header(answer, header::CONTENT_TYPE, TEXT_FORMAT)
    }

    /// Refuses a question of a monitoring system that is for another server, or no question.
    async fn refuses_to_tell(&self, request: &Request<Incoming>) -> Option<Response> {
        // The protocol's library checks `Host` and `Origin` of all requests first, and refuses this
        // method after that.
        let mut head = Request::new(Empty::<Bytes>::new());
        *head.method_mut() = Method::OPTIONS;
        head.uri_mut().clone_from(request.uri());
        head.headers_mut().clone_from(request.headers());
        let checked = self.service.handle(head).await;
        if checked.status() != StatusCode::METHOD_NOT_ALLOWED {
            return Some(checked);
        }
        if ![Method::GET, Method::HEAD].contains(request.method()) {
            let refused = refusal(StatusCode::METHOD_NOT_ALLOWED, "ask with GET\n");
            return Some(with_header(refused, header::ALLOW, "GET, HEAD"));
        }
        let has_body = !request.body().is_end_stream();
        has_body.then(|| refusal(StatusCode::BAD_REQUEST, "no body is read here\n"))
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

/// Makes an answer that nobody may keep for later.
fn plain(text: String) -> Response {
    let answer = response(StatusCode::OK, PLAIN, text);
    with_header(answer, header::CACHE_CONTROL, "no-store")
}

/// Reads the token in a file and returns its digest.
fn token(path: &Path) -> Result<Digest> {
    const WHAT: &str = "token file";
    let failed = |source| Error::io("read", path)(source);
    let bad = |why: &str| Error::BadKeyFile {
        what: WHAT,
        path: path.into(),
        why: why.into(),
    };
    let about = fs::metadata(path).map_err(failed)?;
    if !about.is_file() {
        return Err(bad("it is not a regular file"));
    }
    if platform::is_open_to_others(&about) {
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
