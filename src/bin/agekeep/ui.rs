//! `ui`: pages to look at the store with a browser, for the person at this machine.
//!
//! ```text
//! browser ──▶ http ──▶ server: who may ask ─▶ worker (one thread, one store, in order)
//!                                               └─ pages: tree │ memory │ timeline │ search │ undo │ report
//! ```
//!
//! The server listens on loopback alone. The address that it prints holds a token that works once:
//! it is exchanged for a cookie, and the address is worth nothing from then on.

mod gate;
mod layout;
mod pages;
mod query;
mod server;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use agekeep::error::{Error, Result};
use agekeep::event::Context;
use agekeep::store::revision::Revision;
use clap::Args;
use serde_json::json;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use self::gate::RequestGate;
use self::server::UiServer;
use crate::args::Global;
use crate::http::{accept, listen};
use crate::worker::{self, OpenStore, StoreWorker};
use crate::{output, platform};

/// The longest wait for what is being carried out when the server is told to end.
const END_WITHIN: Duration = Duration::from_secs(5);

#[derive(Args)]
pub(crate) struct UiArgs {
    /// The port of 127.0.0.1 to serve at [default: one that is free]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// Also let the pages carry out an undo, after its plan was shown; without it they only look
    #[arg(long)]
    allow_undo: bool,
}

/// What is the same for all pages of a server.
struct PageFacts {
    /// What the command line said of the store, for what opens it by itself.
    global: Arc<Global>,
    /// The store's folder.
    place: String,
    /// Who looks, for the record.
    context: Context,
    allow_undo: bool,
}

pub(crate) fn run(global: Global, args: &UiArgs) -> Result<u8> {
    global.refuse_made_up_time()?;
    let mut context = global.context();
    context.door = Some("ui");
    if context.actor.is_none() {
        return Err(Error::invalid(
            "the actor",
            "every look in these pages is recorded with a person's name, and nobody is named",
        ));
    }
    let began = (global.clock())().format("%Y%m%dT%H%M%SZ");
    let session = format!("ui-{began}-{}", std::process::id());
    context.session.get_or_insert(session);
    let global = Arc::new(global);
    let facts = PageFacts {
        global: global.clone(),
        place: global.existing_store()?.display().to_string(),
        context,
        allow_undo: args.allow_undo,
    };
    let as_json = global.json;
    let open: OpenStore = if args.allow_undo {
        Box::new(Global::open)
    } else {
        Box::new(Global::open_for_reading)
    };
    let worker = StoreWorker::start(global, open)?;
    let runtime = worker::runtime()?;
    let served = runtime.block_on(serve(worker, facts, args.port, as_json));
    runtime.shutdown_background();
    served.map(|()| 0)
}

async fn serve(worker: StoreWorker, facts: PageFacts, port: u16, as_json: bool) -> Result<()> {
    // What keeps the store from being opened is said now, and not in a page; and the first page
    // finds history read.
    let opened = worker.ask(|kept| {
        let store = kept.store()?;
        store.moment(&Revision::head()).map(drop)
    });
    opened.await.unwrap_or(Ok(()))?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let (listener, bound) = listen(address)?;
    let (gate, token) = RequestGate::new(bound.port());
    let url = format!("http://{bound}/?token={token}");
    if as_json {
        output::json(&json!({"schema": "agekeep.ui/1", "url": url}))?;
    } else {
        output::line(&url)?;
    }
    output::note(
        "Open this address in a browser on this machine. It works once. Ctrl-C ends the server.",
    );
    let closing = CancellationToken::new();
    let told = closing.clone();
    tokio::spawn(async move {
        platform::end_of_process().await;
        told.cancel();
    });
    let mut waiting = worker.waiting();
    let server = Arc::new(UiServer::new(gate, worker, facts));
    accept(listener, server, &closing).await;
    let _ = timeout(END_WITHIN, waiting.wait_for(|count| *count == 0)).await;
    Ok(())
}
