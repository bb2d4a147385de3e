//! The server: lets requests in, reads forms, has the worker make the page, and answers with headers
//! that let a browser do nothing but show it.

use std::sync::Arc;

use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Method, Request, StatusCode};

use crate::http::connections::{ConnectionSlot, Connections, FILES, PhaseGuard};
use crate::http::{Answers, Response, closing, response, with, with_header};
use crate::platform;
use crate::report;
use crate::ui::PageFacts;
use crate::ui::gate::{RequestGate, Unwelcome, unwelcome};
use crate::ui::layout;
use crate::ui::pages::{self, PageAnswer};
use crate::ui::query::Query;
use crate::worker::StoreWorker;

/// Most bytes of a form.
const FORM_BYTES_MAX: usize = 16 * 1024;

/// What every answer says: it is shown, and that is all.
const HEADERS: [(HeaderName, &str); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; \
         frame-ancestors 'none'; base-uri 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    // With `no-referrer`, browsers send forms with `Origin: null`, which is refused.
    (header::REFERRER_POLICY, "same-origin"),
    (header::CACHE_CONTROL, "no-store"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";

/// Where a report that is looked at has its style.
pub(super) const REPORT_STYLE: &str = "/report.css";

/// A file's path, its kind, and what makes it.
type FileForAll = (&'static str, &'static str, fn() -> String);

/// What pages look like, and their sign; neither is a secret.
const FILES_FOR_ALL: &[FileForAll] = &[
    ("/style.css", CSS, || include_str!("style.css").into()),
    (REPORT_STYLE, CSS, report::style),
    ("/icon.svg", "image/svg+xml", || {
        include_str!("icon.svg").into()
    }),
];

/// The server that answers requests.
pub(super) struct UiServer {
    gate: RequestGate,
    worker: StoreWorker,
    facts: Arc<PageFacts>,
    connections: Arc<Connections>,
}

impl UiServer {
    pub(super) fn new(gate: RequestGate, worker: StoreWorker, facts: PageFacts) -> Self {
        Self {
            gate,
            worker,
            facts: Arc::new(facts),
            connections: Arc::new(Connections::new(platform::let_open(FILES))),
        }
    }

    /// Answers a request, or says why not.
    async fn try_answer(
        &self,
        place: &Arc<ConnectionSlot>,
        request: Request<Incoming>,
    ) -> Result<Response, Unwelcome> {
        self.gate.check(&request)?;
        let path = request.uri().path();
        let is_get = request.method() == Method::GET;
        if let Some(file) = FILES_FOR_ALL.iter().find(|file| is_get && file.0 == path) {
            return Ok(answer(StatusCode::OK, file.1, file.2()));
        }
        if is_get && path == "/" {
            let query = Query::parse(request.uri().query().unwrap_or_default());
            let cookie = self
                .gate
                .exchange(query.text("token").unwrap_or_default())?;
            let mut entered = redirect(&self.gate.entrance());
            let cookie = HeaderValue::try_from(cookie).expect("hexadecimal digits");
            entered.headers_mut().insert(header::SET_COOKIE, cookie);
            return Ok(entered);
        }
        let page = self.gate.page(&request)?.to_owned();
        if !pages::exists(&page, is_get) {
            return Err(if pages::exists(&page, !is_get) {
                unwelcome(
                    StatusCode::METHOD_NOT_ALLOWED,
                    "A page is asked for with GET. An undo is sent with POST, by the button below \
                     its plan.",
                )
            } else {
                unwelcome(StatusCode::NOT_FOUND, "There is no such page.")
            });
        }
        let Some(receiving) = place.let_in() else {
            return Err(unwelcome(
                StatusCode::SERVICE_UNAVAILABLE,
                "Too many requests at once.",
            ));
        };
        let made = if is_get {
            drop(receiving);
            let query = Query::parse(request.uri().query().unwrap_or_default());
            self.make(page, query).await
        } else {
            let form = self.form(place, request, receiving).await?;
            self.act(form).await?
        };
        Ok(match made {
            PageAnswer::Page(status, page) => answer(status, HTML, page.into_string()),
            PageAnswer::Elsewhere(link) => redirect(&link),
            PageAnswer::File(page, kept_as) => file(page.into_string(), kept_as),
        })
    }

    /// Has a page made, after everything that was asked before.
    async fn make(&self, page: String, query: Query) -> PageAnswer {
        let facts = self.facts.clone();
        let token = self.gate.form_token().to_owned();
        let made = self
            .worker
            .ask(move |state| pages::make(state, &facts, &page, &query, &token));
        made.await.unwrap_or_else(failed)
    }

    /// Has an undo carried out, if this server may.
    async fn act(&self, form: Query) -> Result<PageAnswer, Unwelcome> {
        if !self.gate.is_own_form(form.text("csrf")) {
            return Err(unwelcome(
                StatusCode::FORBIDDEN,
                "This form is not from a page of this server, or from an earlier one. Go back, \
                      reload the page and send it again.",
            ));
        }
        if !self.facts.allow_undo {
            return Err(unwelcome(
                StatusCode::FORBIDDEN,
                "These pages only look: nothing was changed. To undo from a page, start \
                      `agekeep ui --allow-undo`.",
            ));
        }
        let facts = self.facts.clone();
        let made = self
            .worker
            .ask(move |state| pages::act(state, &facts, &form));
        Ok(made.await.unwrap_or_else(failed))
    }

    /// Reads a form that a page of this server sent.
    async fn form(
        &self,
        place: &Arc<ConnectionSlot>,
        request: Request<Incoming>,
        receiving: PhaseGuard,
    ) -> Result<Query, Unwelcome> {
        self.gate.check_origin(&request)?;
        let kind = request.headers().get(header::CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if kind.split(';').next() != Some("application/x-www-form-urlencoded") {
            return Err(unwelcome(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "This is not a form.",
            ));
        }
        let body = Limited::new(with(request.into_body(), receiving), FORM_BYTES_MAX);
        let read = tokio::select! {
            read = body.collect() => read,
            () = place.late() => return Err(unwelcome(StatusCode::REQUEST_TIMEOUT, "The form took too long.")),
        };
        let Ok(read) = read else {
            return Err(unwelcome(
                StatusCode::PAYLOAD_TOO_LARGE,
                "The form is too long.",
            ));
        };
        Ok(Query::parse(&String::from_utf8_lossy(&read.to_bytes())))
    }
}

impl Answers for UiServer {
    fn connections(&self) -> &Arc<Connections> {
        &self.connections
    }

    async fn answer(&self, place: &Arc<ConnectionSlot>, request: Request<Incoming>) -> Response {
        let answered = self.try_answer(place, request).await;
        let response = answered.unwrap_or_else(|refused| refuse(&refused));
        let sending = place.send();
        response.map(|body| with(body, sending).boxed())
    }
}

/// Answers for a page whose making failed.
fn failed() -> PageAnswer {
    let why = "Making this page failed. Nothing is known to be wrong with the store: \
               `agekeep verify` checks it.";
    PageAnswer::Page(
        StatusCode::INTERNAL_SERVER_ERROR,
        layout::refused("This did not work", why, true),
    )
}

/// Answers a request that is not let in; the connection is closed.
fn refuse(refused: &Unwelcome) -> Response {
    let title = refused.status.canonical_reason().unwrap_or("Refused");
    let page = layout::refused(title, refused.why, refused.may_go_on);
    let response = closing(answer(refused.status, HTML, page.into_string()));
    if refused.status == StatusCode::METHOD_NOT_ALLOWED {
        return with_header(response, header::ALLOW, "GET, POST");
    }
    response
}

fn redirect(to: &str) -> Response {
    let mut response = answer(StatusCode::SEE_OTHER, HTML, String::new());
    let to = HeaderValue::try_from(to).expect("links are ASCII");
    response.headers_mut().insert(header::LOCATION, to);
    response
}

/// Answers with a page that a browser keeps under a name, if it has one.
fn file(page: String, kept_as: Option<String>) -> Response {
    let mut response = answer(StatusCode::OK, HTML, page);
    if let Some(name) = kept_as {
        let attachment = HeaderValue::try_from(format!("attachment; filename=\"{name}\""));
        let attachment = attachment.expect("names of reports are ASCII without quotes");
        response
            .headers_mut()
            .insert(header::CONTENT_DISPOSITION, attachment);
    }
    response
}

fn answer(status: StatusCode, kind: &'static str, body: String) -> Response {
    let answer = response(status, kind, body);
    let headers = HEADERS.into_iter();
    headers.fold(answer, |answer, (name, value)| {
        with_header(answer, name, value)
    })
}
