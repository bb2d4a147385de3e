//! `schedule`: prints what has the machine sweep every day, for a person to read and put in place.

mod cron;
mod k8s;
mod obstacle;
mod sweep;
mod systemd;

use agekeep::error::Result;
use clap::{Args, Subcommand};
use serde_json::json;

use self::sweep::Sweep;
use crate::args::Global;
use crate::{output, shell};

/// Exit codes of a sweep after which trying again changes nothing: a person has to look.
const HOPELESS: [u8; 7] = [2, 7, 9, 10, 12, 13, 14];

#[derive(Args)]
#[command(after_help = "\
It only prints. The paths are those of the global options, made absolute; AGEKEEP_PASSPHRASE_FILE is
carried over. Give a sweeper keys of its own: an auditor's identity and a signing key that may do this and
little else (`agekeep signers add sweeper KEY --role sweeper`).")]
pub(crate) struct Schedule {
    #[command(subcommand)]
    form: Form,
}

#[derive(Subcommand)]
enum Form {
    /// A service that sweeps once, and a timer that starts it every day
    Systemd(systemd::Systemd),
    /// A line for the crontab of the account that the store belongs to
    Cron,
    /// A daily job for Kubernetes, with the keys from a Secret and the store on a volume
    K8s(k8s::K8s),
}

/// A text, and the file it is for.
struct File {
    name: String,
    text: String,
}

pub(crate) fn run(global: &Global, args: &Schedule) -> Result<u8> {
    let sweep = Sweep::find(global)?;
    let (form, files, afterwards) = match &args.form {
        Form::Systemd(args) => (
            "systemd",
            systemd::files(&sweep, args)?,
            systemd::afterwards(&sweep, args),
        ),
        Form::Cron => ("cron", vec![cron::file(&sweep)], String::new()),
        Form::K8s(args) => ("k8s", vec![k8s::file(&sweep, args)?], String::new()),
    };
    for sentence in obstacle::all(&sweep, &args.form) {
        output::warn(&sentence);
    }
    if global.json {
        let files: Vec<_> = files
            .iter()
            .map(|file| json!({"name": file.name, "text": file.text}))
            .collect();
        output::json(&json!({"schema": "agekeep.schedule/1", "form": form, "files": files}))?;
    } else {
        let mut pieces: Vec<_> = files
            .iter()
            .map(|file| format!("# {}\n{}", file.name, file.text))
            .collect();
        pieces.extend(Some(afterwards).filter(|text| !text.is_empty()));
        output::text(&pieces.join("\n"))?;
    }
    Ok(0)
}
