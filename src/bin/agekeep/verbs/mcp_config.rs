//! `mcp-config`: prints what an MCP client has to be told to use a store, and tries whether it works.
//! It never edits a client's files.

mod block;
mod check;
mod client;
mod diagnose;
mod entry;
mod ground;
mod launch;
mod session;

use agekeep::error::{Error, Result};
use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::json;

use self::client::{CLIENTS, Client};
use self::launch::Launch;
use crate::args::Global;
use crate::{output, shell};

/// Most characters of a server's name: clients put it in front of the names of tools.
const NAME_CHARACTERS_MAX: usize = 40;

#[derive(Args)]
#[command(after_help = "\
Standard output is what belongs into the client's file, and standard error says where that is. Nothing
is edited. The paths are those of the global options, made absolute.")]
pub(crate) struct McpConfig {
    /// The program that is to use the store
    #[arg(long, value_name = "CLIENT", value_parser = PossibleValuesParser::new(CLIENTS.map(|row| row.id)))]
    client: String,
    /// What the client is to call the server
    #[arg(long, value_name = "NAME", default_value = "agekeep")]
    name: String,
    #[command(flatten)]
    offer: Offer,
    /// Start the server as the client would, talk to it, and say what is wrong; what it views for
    /// that is on record
    #[arg(long)]
    diagnose: bool,
}

// What the server is to offer.
#[derive(Args)]
struct Offer {
    /// Offer one tool, `memory`, in place of one for each command
    #[arg(long, conflicts_with_all = ["tools", "admin"])]
    single_tool: bool,
    /// Also offer these tools
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = ["read-write", "restore"])]
    tools: Vec<String>,
    /// Also offer what only an owner should do: expire, redact, erase
    #[arg(long)]
    admin: bool,
    /// Offer only what changes no memory
    #[arg(long, conflicts_with = "admin")]
    read_only: bool,
}

pub(crate) fn run(global: &Global, args: &McpConfig) -> Result<u8> {
    check_name(&args.name)?;
    let client = Client::named(&args.client).expect("only names of rows are accepted");
    let (launch, remarks) = Launch::find(global, &args.offer, client)?;
    if args.diagnose {
        return diagnose::run(global, client, &args.name, &launch, &remarks);
    }
    let text = block::text(client, &args.name, &launch);
    let command = block::command(client, &args.name, &launch);
    if global.json {
        output::json(&json!({
            "schema": "agekeep.mcp-config/1",
            "client": client.id,
            "name": args.name,
            "block": text,
            "files": block::files(client),
            "command": command,
            "warnings": remarks,
        }))?;
        return Ok(0);
    }
    for sentence in &remarks {
        output::warn(sentence);
    }
    output::note(&block::directions(client, &args.name, command));
    output::text(&text)?;
    Ok(0)
}

/// Refuses a name that a client would not take, or that a tool's name could not begin with.
fn check_name(name: &str) -> Result<()> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    // What begins with a dash is an option to the command that adds it.
    let is_name = name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(fits)
        && name.len() <= NAME_CHARACTERS_MAX;
    if is_name {
        return Ok(());
    }
    Err(Error::Invalid {
        what: "--name",
        why: format!(
            "it has to be letters a-z, digits, - and _, begin with a letter or digit, and have at \
             most {NAME_CHARACTERS_MAX} of them"
        ),
    })
}
