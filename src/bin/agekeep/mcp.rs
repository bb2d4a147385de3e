//! `mcp`: the store as a server of the Model Context Protocol, for one client on standard input and
//! output, or for many over HTTP.
//!
//! ```text
//! stdio | http ──▶ server (the protocol) ──▶ worker (one thread, one store, in order)
//!                                              └─ call: memory commands │ history_tools │ resource
//! ```

mod call;
mod history_tools;
#[cfg(feature = "http")]
mod http;
mod notify;
mod resource;
mod server;
mod stdio;
mod tool;

use std::sync::Arc;

use agekeep::error::Result;
use agekeep::policy::expiration::TimeSpan;
use clap::{Args, ValueEnum};
use rmcp::model::Tool;

use self::notify::ChangeNotifier;
use self::server::McpHandler;
use self::tool::{Group, SPECS, Spec};
use crate::args::Global;
use crate::verbs::{init, prompt, replicas};
use crate::worker::{self, StoreWorker};
use crate::{platform, terminal};

#[derive(Args)]
pub(crate) struct Mcp {
    /// Create the store if there is none
    #[arg(long)]
    init: bool,
    /// Sync with the store's only remote, or origin, at the start and then this often, such as 60s
    #[arg(long, value_name = "TIME")]
    sync: Option<TimeSpan>,
    #[cfg(feature = "http")]
    #[command(flatten)]
    http: http::Http,
    #[command(flatten)]
    wanted: ToolOptions,
}

// The options that choose the tools.
#[derive(Args)]
struct ToolOptions {
    /// Offer one tool, `memory`, with the input of the memory tool, instead of one tool for each
    /// command
    #[arg(long, conflicts_with_all = ["tools", "admin"])]
    single_tool: bool,
    /// Also offer these tools
    #[arg(long, value_delimiter = ',', value_name = "TOOLS")]
    tools: Vec<More>,
    /// Also offer the administrator's tools: sweep, redact and erase
    #[arg(long)]
    admin: bool,
    /// Offer only tools that change no memory, and refuse all others
    #[arg(long, conflicts_with = "admin")]
    read_only: bool,
    /// How to annotate edits for clients: `strict` marks every tool that replaces text as
    /// destructive, `recoverable` only tools whose effect one restore does not undo
    #[arg(long, value_name = "HOW", default_value = "recoverable")]
    annotations: Annotations,
}

/// Tools that are offered when they are asked for.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum More {
    /// `memory_read` and `memory_write`
    ReadWrite,
    /// `memory_restore`
    Restore,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Annotations {
    Recoverable,
    Strict,
}

/// The tools that a client is offered.
struct OfferedTools {
    specs: Vec<&'static Spec>,
    read_only: bool,
    strict: bool,
}

impl OfferedTools {
    fn of(args: &ToolOptions) -> Self {
        let wanted = |group| match group {
            Group::Memory | Group::Look => !args.single_tool,
            Group::Single => args.single_tool && !args.read_only,
            Group::SingleLook => args.single_tool && args.read_only,
            Group::ReadWrite => args.tools.contains(&More::ReadWrite),
            Group::Restore => args.tools.contains(&More::Restore),
            Group::Admin => args.admin,
        };
        let offered = |spec: &&Spec| wanted(spec.group) && (spec.is_read_only() || !args.read_only);
        Self {
            specs: SPECS.tools.iter().filter(offered).collect(),
            read_only: args.read_only,
            strict: args.annotations == Annotations::Strict,
        }
    }

    fn find(&self, name: &str) -> Option<&'static Spec> {
        self.specs.iter().copied().find(|spec| spec.name == name)
    }

    fn tools(&self) -> Vec<Tool> {
        let tool = |spec: &&'static Spec| spec.to_tool(self.strict);
        self.specs.iter().map(tool).collect()
    }

    /// Returns the text that tells a model about its memory.
    fn guidance(&self) -> String {
        let is_one_tool = self
            .specs
            .iter()
            .any(|spec| matches!(spec.group, Group::Single | Group::SingleLook));
        prompt::guidance(&prompt::PromptOptions {
            tools: if is_one_tool {
                prompt::ToolNaming::Memory
            } else {
                prompt::ToolNaming::Mcp
            },
            topics: prompt::Topics::default(),
            read_only: self.read_only,
            policy: None,
        })
    }
}

pub(crate) fn run(mut global: Global, args: &Mcp) -> Result<u8> {
    // The terminal, if there is one, belongs to the client.
    global.unattended = true;
    let offer = OfferedTools::of(&args.wanted);
    let mut defaults = global.context();
    // These are the calls of an agent, and not of the person at this machine.
    defaults.actor = global.agent();
    defaults.door = Some("mcp");
    defaults.of_agent = true;
    if !args.is_for_many() {
        // One client, one process, one session.
        let began = (global.clock())().format("%Y%m%dT%H%M%SZ");
        let session = format!("mcp-{began}-{}", std::process::id());
        defaults.session.get_or_insert(session);
    }
    let runtime = worker::runtime()?;
    let make_store = args.init;
    let open = Box::new(move |global: &Global| init::open_or_make(global, make_store));
    let global = Arc::new(global);
    let worker = StoreWorker::start(Arc::clone(&global), open)?;
    if let Some(every) = args.sync {
        replicas::keep_in_sync(global, every);
    }
    let served = runtime.block_on(async {
        let notifier = ChangeNotifier::new(worker.clone(), make_store);
        tokio::spawn(notifier.clone().run());
        let handler = McpHandler::new(worker, notifier, offer, defaults);
        let (closing, waiting) = (handler.closing(), handler.waiting());
        tokio::spawn(async move {
            platform::end_of_process().await;
            closing.cancel();
        });
        let served = args.serve(handler).await;
        // Calls that came in are carried out and answered, also when the server is told to end.
        let mut waiting = waiting;
        let _ = waiting.wait_for(|count| *count == 0).await;
        served
    });
    // A thread that waits for input would wait for ever.
    runtime.shutdown_background();
    served.map(|()| 0)
}

impl Mcp {
    #[cfg(feature = "http")]
    fn is_for_many(&self) -> bool {
        self.http.is_asked_for()
    }

    #[cfg(not(feature = "http"))]
    #[allow(clippy::unused_self)] // of the other form it is not
    fn is_for_many(&self) -> bool {
        false
    }

    async fn serve(&self, handler: McpHandler) -> Result<()> {
        #[cfg(feature = "http")]
        if self.http.is_asked_for() {
            return self.http.serve(handler).await;
        }
        terminal::tell_what_is_awaited(
            "an MCP client, which starts this program by itself (`agekeep mcp-config`),",
        );
        stdio::serve(handler).await
    }
}
