//! Who may ask: checks of a request's head, before anything is read or looked up for it.
//!
//! | against | check |
//! |---|---|
//! | other users of the machine | the token, which works once, then the session's cookie |
//! | their servers at other ports of 127.0.0.1, which get cookies too | the cookie's path, which nobody can guess |
//! | a name on the Internet that leads to 127.0.0.1 | `Host` |
//! | other pages in the browser | `SameSite=Strict`, `Sec-Fetch-Site`, `Origin` where it is said; for what changes something it has to be, with the form's token |

use std::sync::{Mutex, PoisonError};

use agekeep::Digest;
use agekeep::id::random_token;
use hyper::header::{self, HeaderName};
use hyper::{HeaderMap, Method, Request, StatusCode};

/// The name of the session's cookie.
const COOKIE: &str = "agekeep";
/// The header by which a browser says which page asks.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// What a request must bring.
pub(super) struct RequestGate {
    port: u16,
    /// The first part of every page's path.
    room: String,
    /// The token of the printed address, until it is used.
    token: Mutex<Option<Digest>>,
    /// The session that it was exchanged for.
    session: Mutex<Option<Digest>>,
    /// What every form of a page that changes something brings.
    form: String,
}

/// Why a request is refused: a status, and a sentence for the person who may have made it.
pub(super) struct Unwelcome {
    pub(super) status: StatusCode,
    pub(super) why: &'static str,
    /// True if a browser that has the cookie may only not have sent it: after a link on another
    /// page it does not.
    pub(super) may_go_on: bool,
}

/// Makes a refusal.
pub(super) fn unwelcome(status: StatusCode, why: &'static str) -> Unwelcome {
    Unwelcome {
        status,
        why,
        may_go_on: false,
    }
}

impl RequestGate {
    /// Makes the gate of the server at a port, and the token that opens it once.
    pub(super) fn new(port: u16) -> (Self, String) {
        let token = random_token();
        let gate = Self {
            port,
            room: random_token()[..32].to_owned(),
            token: Mutex::new(Some(Digest::of(token.as_bytes()))),
            session: Mutex::default(),
            form: random_token(),
        };
        (gate, token)
    }

    /// Returns the path of the first page, below which all others are.
    pub(super) fn entrance(&self) -> String {
        format!("/{}/", self.room)
    }

    /// Returns the token for forms.
    pub(super) fn form_token(&self) -> &str {
        &self.form
    }

    /// Checks what every request must have: this server's name, no other page's `Origin`, and a
    /// known method.
    pub(super) fn check<B>(&self, request: &Request<B>) -> Result<(), Unwelcome> {
        if self.host(request).is_none() {
            return Err(unwelcome(
                StatusCode::FORBIDDEN,
                "This server answers only to its own name: open the address that agekeep printed.",
            ));
        }
        if request.headers().contains_key(header::ORIGIN) {
            self.check_origin(request)?;
        }
        if ![Method::GET, Method::POST].contains(request.method()) {
            return Err(unwelcome(
                StatusCode::METHOD_NOT_ALLOWED,
                "Pages are asked for with GET, and forms are sent with POST.",
            ));
        }
        Ok(())
    }

    /// Returns the name that the request calls the server by, if it is one of its own.
    fn host<'a, B>(&self, request: &'a Request<B>) -> Option<&'a str> {
        let host = only(request.headers(), header::HOST)?;
        let (name, port) = host.rsplit_once(':')?;
        let is_own = ["127.0.0.1", "localhost"].contains(&name) && port == self.port.to_string();
        (is_own && request.uri().authority().is_none()).then_some(host)
    }

    /// Exchanges the token of the printed address for a session, and returns the cookie to set.
    pub(super) fn exchange(&self, token: &str) -> Result<String, Unwelcome> {
        let mut kept = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        // Digests are compared, so that the time it takes tells nothing of the token.
        if *kept != Some(Digest::of(token.as_bytes())) {
            let used = "This address was used already, or is not the one that agekeep printed. It \
                        works once: go on in the window where it was opened, or start `agekeep ui` \
                        again.";
            return Err(unwelcome(StatusCode::UNAUTHORIZED, used));
        }
        *kept = None;
        let session = random_token();
        let mut known = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        *known = Some(Digest::of(session.as_bytes()));
        let path = self.entrance();
        Ok(format!(
            "{COOKIE}={session}; HttpOnly; SameSite=Strict; Path={path}"
        ))
    }

    /// Lets a request for a page in, and returns the page's name.
    pub(super) fn page<'a, B>(&self, request: &'a Request<B>) -> Result<&'a str, Unwelcome> {
        if !self.is_in_session(request.headers()) {
            let why = "Open the address that agekeep printed when it started: it lets you in once.";
            return Err(Unwelcome {
                may_go_on: true,
                ..unwelcome(StatusCode::UNAUTHORIZED, why)
            });
        }
        let site = only(request.headers(), FETCH_SITE);
        if request.headers().contains_key(FETCH_SITE)
            && !site.is_some_and(|site| ["same-origin", "none"].contains(&site))
        {
            return Err(unwelcome(
                StatusCode::FORBIDDEN,
                "Another page asked for this one. Only pages of this server may.",
            ));
        }
        let path = request.uri().path().strip_prefix('/').unwrap_or_default();
        match path.split_once('/') {
            Some((room, page)) if room == self.room => Ok(page),
            _ => Err(unwelcome(StatusCode::NOT_FOUND, "There is no such page.")),
        }
    }

    /// Checks that a request was sent by a page of this server.
    pub(super) fn check_origin<B>(&self, request: &Request<B>) -> Result<(), Unwelcome> {
        let origin = only(request.headers(), header::ORIGIN);
        let own = self.host(request).map(|host| format!("http://{host}"));
        if origin.is_some() && origin == own.as_deref() {
            return Ok(());
        }
        Err(unwelcome(
            StatusCode::FORBIDDEN,
            "Another page sent this. Only pages of this server may.",
        ))
    }

    /// Tells whether a form brings the token for forms.
    pub(super) fn is_own_form(&self, token: Option<&str>) -> bool {
        token.is_some_and(|token| Digest::of(token.as_bytes()) == Digest::of(self.form.as_bytes()))
    }

    fn is_in_session(&self, headers: &HeaderMap) -> bool {
        let session = *self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let all = headers.get_all(header::COOKIE).into_iter();
        let mut cookies = all
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(';'))
            .filter_map(|cookie| cookie.trim().split_once('='));
        let is_it = |value: &str| Some(Digest::of(value.as_bytes())) == session;
        cookies.any(|(name, value)| name == COOKIE && is_it(value))
    }
}

/// Returns the value of a header that stands there once.
fn only(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut all = headers.get_all(name).into_iter();
    let value = all.next()?.to_str().ok()?;
    all.next().is_none().then_some(value)
}
