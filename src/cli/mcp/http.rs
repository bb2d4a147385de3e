//! Streamable HTTP: on loopback for whoever is on this machine, elsewhere only with a token.

use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agekeep::Digest;
use agekeep::error::{Error, KeyFault, Result};
use agekeep::policy::Limits;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use clap::Args;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use zeroize::Zeroizing;

use super::super::output;
use super::keeper::Waiting;
use super::server::Door;

/// Shortest token, in bytes.
const TOKEN_BYTES_MIN: usize = 16;
/// Longest token file, in bytes.
const TOKEN_BYTES_MAX: u64 = 4_096;

/// How long a request may take to come in when the server is told to end.
const END_WITHIN: Duration = Duration::from_secs(5);
/// How long an answer is on its way from the store to the client's stream.
const HAND_OVER: Duration = Duration::from_millis(50);

/// Requests at once.
const REQUESTS_MAX: usize = 256;
/// Sessions at once; one that is not used ends after five minutes.
const SESSIONS_MAX: usize = 1_000;
/// What a request brings that begins no session.
const KNOWN: [&str; 2] = ["mcp-session-id", "mcp-protocol-version"];

// How the server is reached.
#[derive(Args)]
pub(super) struct Http {
    /// Serve streamable HTTP at this address, such as 127.0.0.1:8700, instead of standard input
    /// and output; port 0 is any that is free
    #[arg(long = "http", value_name = "ADDR")]
    address: Option<SocketAddr>,
    /// The file that holds the bearer token each request must bring; needed where the address is
    /// not of this machine alone
    #[arg(long, value_name = "FILE", requires = "address")]
    token_file: Option<PathBuf>,
    /// A name that clients may reach the server by, besides this machine's and the address
    #[arg(long, value_name = "HOST", requires = "address")]
    allow_host: Vec<String>,
    /// A web origin whose pages may call, such as `https://tools.example.com`, besides this
    /// machine's
    #[arg(long, value_name = "ORIGIN", requires = "address")]
    allow_origin: Vec<String>,
}

impl Http {
    /// Whether HTTP is asked for.
    pub(super) fn is_asked_for(&self) -> bool {
        self.address.is_some()
    }

    /// Serves clients until the process is told to end.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an address others can reach without a token, or a token that is
    /// none; [`Error::Io`] if the address cannot be had.
    pub(super) async fn serve(&self, door: Door) -> Result<()> {
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
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let bound = listener.local_addr().map_err(failed)?;
        output::note(&format!("serving MCP at http://{bound}/mcp"));
        if !bound.ip().is_loopback() {
            output::warn(
                "requests, the token and memories go over the network as they are: put a proxy \
                 that speaks TLS in front",
            );
        }
        let closing = door.closing();
        let (waiting, streams) = (door.waiting(), CancellationToken::new());
        let gate = Gate {
            token,
            begun: Arc::new(watch::Sender::new(0)),
            sessions: Arc::default(),
        };
        let begun = gate.begun.subscribe();
        let app = self.app(door, bound.ip(), gate, streams.clone());
        let ending = closing.clone();
        let overdue = async move {
            ending.cancelled().await;
            // A client that is slow to say what it wants is not waited for, nor one that does not
            // read.
            let _ = timeout(END_WITHIN, answered(begun, waiting)).await;
            streams.cancel();
            sleep(HAND_OVER).await;
        };
        let served = axum::serve(listener, app).with_graceful_shutdown(closing.cancelled_owned());
        tokio::select! {
            ended = served.into_future() => ended.map_err(failed),
            () = overdue => Ok(()),
        }
    }

    fn app(&self, door: Door, ip: IpAddr, gate: Gate, streams: CancellationToken) -> Router {
        let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).into();
        if !ip.is_unspecified() {
            hosts.push(ip.to_string());
        }
        hosts.extend(self.allow_host.iter().cloned());
        let local = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];
        let origins = local.map(str::to_owned).into_iter();
        let origins = origins.chain(self.allow_origin.iter().map(|origin| with_port(origin)));
        let config = StreamableHttpServerConfig::default()
            .with_allowed_hosts(hosts)
            .with_allowed_origins(origins)
            .with_json_response(true)
            .with_max_request_body_bytes(Limits::default().request_bytes)
            .with_cancellation_token(streams);
        let sessions = gate.sessions.clone();
        let service = StreamableHttpService::new(move || Ok(door.for_another()), sessions, config);
        let app = Router::new().nest_service("/mcp", service);
        app.layer(middleware::from_fn_with_state(gate, enter))
    }
}

/// Waits until every request that has begun is answered.
async fn answered(mut begun: watch::Receiver<usize>, mut waiting: watch::Receiver<usize>) {
    let _ = begun.wait_for(|count| *count == 0).await;
    let _ = waiting.wait_for(|count| *count == 0).await;
    // An answer in a stream of events is on its way there, in other tasks.
    sleep(HAND_OVER).await;
}

/// An origin as a page of it says it: one without a port is one at the port of its scheme, and not
/// at every port.
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

/// What every request comes through.
#[derive(Clone)]
struct Gate {
    token: Option<Digest>,
    /// How many are inside.
    begun: Arc<watch::Sender<usize>>,
    /// Of clients of the older era.
    sessions: Arc<LocalSessionManager>,
}

impl Gate {
    /// Whether there is no room for a request, which may begin a session.
    async fn is_full(&self, begins: bool) -> bool {
        let requests = *self.begun.borrow();
        requests > REQUESTS_MAX
            || begins && self.sessions.sessions.read().await.len() >= SESSIONS_MAX
    }
}

/// Counts a request until its answer begins, and lets it through if it brings the token.
async fn enter(State(gate): State<Gate>, request: Request, next: Next) -> Response {
    let _inside = Waiting::new(&gate.begun);
    let has = |name: &&str| request.headers().contains_key(*name);
    let begins = !KNOWN.iter().any(has);
    if gate.is_full(begins).await {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many at once\n").into_response();
    }
    check_token(gate.token, request, next).await
}

/// Lets through what brings the token. Digests are compared, so that the time it takes tells
/// nothing of the token.
async fn check_token(token: Option<Digest>, request: Request, next: Next) -> Response {
    let Some(token) = token else {
        return next.run(request).await;
    };
    let header = request.headers().get(header::AUTHORIZATION);
    let brought = header.and_then(|value| {
        let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
        let is_bearer = scheme.eq_ignore_ascii_case("bearer");
        is_bearer.then(|| Digest::of(token.trim().as_bytes()))
    });
    if brought == Some(token) {
        return next.run(request).await;
    }
    let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
    (
        StatusCode::UNAUTHORIZED,
        challenge,
        "a bearer token is needed\n",
    )
        .into_response()
}

/// The digest of the token in a file.
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
    if about.is_file() && about.permissions().mode() & 0o077 != 0 {
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
