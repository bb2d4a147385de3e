//! A `CronJob` for Kubernetes.
//!
//! The keys come from a Secret, and cannot be used where that is mounted: its files belong to root,
//! and the pod's `fsGroup`, which lets another user read them, makes them readable by that group,
//! whatever `defaultMode` says. agekeep refuses a key file that others can read. So a first
//! container copies them, as the user of the sweep and for nobody else, to a folder in memory.

use std::path::PathBuf;

use agekeep::crypto::keyfile;
use agekeep::error::{Error, Result};
use clap::Args;

use crate::environment::Places;
use crate::terminal;
use crate::verbs::schedule::{HOPELESS, ScheduleFile, Sweep, filled};

#[derive(Args)]
pub(crate) struct K8s {
    /// The container image with agekeep [default: a placeholder]
    #[arg(long, value_name = "IMAGE")]
    image: Option<String>,
    /// The `PersistentVolumeClaim` of the volume with the store in its folder `store`
    #[arg(long, value_name = "NAME", default_value = "agekeep")]
    claim: String,
}

#[derive(Args)]
pub(crate) struct CopyKeys {
    /// The mounted files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The folder for the copies, which have mode 0400
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
}

/// Copies the keys: an image of agekeep alone has no other program for it.
pub(crate) fn copy_keys(args: &CopyKeys) -> Result<u8> {
    for file in &args.files {
        let name = file
            .file_name()
            .ok_or_else(|| Error::invalid("the path of a key", "it has no file name"))?;
        keyfile::copy_private(file, &args.to.join(name))?;
    }
    Ok(0)
}

const PLACEHOLDER: &str = concat!("registry.example/agekeep:", env!("CARGO_PKG_VERSION"));

/// The name of the secret, its mount, and the folder of its copies, as in `cronjob.yaml`.
const SECRET: &str = "agekeep-sweeper";
const SECRET_FOLDER: &str = "/secret";
const KEYS_FOLDER: &str = "/keys";

impl K8s {
    /// Says what keeps it from working as it is.
    pub(super) fn obstacle(&self) -> Option<String> {
        self.image.is_none().then(|| {
            format!(
                "the image {PLACEHOLDER} does not exist; name one with agekeep in it with \
                     --image"
            )
        })
    }
}

pub(super) fn file(sweep: &Sweep, args: &K8s) -> Result<ScheduleFile> {
    let image = args.image.as_deref().unwrap_or(PLACEHOLDER);
    let image = checked("--image", image)?;
    let claim = checked("--claim", &args.claim)?;
    let pod = in_pod(sweep);
    let secrets = secrets(sweep);
    let copied = secrets
        .iter()
        .map(|(key, _)| format!("{SECRET_FOLDER}/{key}"));
    let copied: Vec<_> = copied.map(|path| quoted(&path)).collect();
    let expire = pod.expire();
    let words = expire[1..].iter();
    let words = words.map(|word| format!("                - {}\n", quoted(word)));
    let variables = pod.variables();
    let variables = variables.iter().map(|(name, value)| {
        let value = quoted(value);
        format!("                - name: {name}\n                  value: {value}\n")
    });
    // A line that begins with one of these marks is only for some.
    let is_for_it = |line: &&str| {
        !(line.starts_with("{{keyring}}") && pod.places.keyring.is_none()
            || line.starts_with("{{placeholder}}") && args.image.is_some())
    };
    let lines = include_str!("cronjob.yaml").split_inclusive('\n');
    let text = filled(
        &lines.filter(is_for_it).collect::<String>(),
        &[
            ("keyring", String::new()),
            ("placeholder", String::new()),
            ("make", make(&secrets)?),
            ("status", pod.status()),
            ("hopeless", HOPELESS.map(|code| code.to_string()).join(", ")),
            ("image", image),
            ("copied", copied.join(", ")),
            ("args", words.collect()),
            ("variables", variables.collect()),
            ("claim", claim),
        ],
    );
    Ok(ScheduleFile {
        name: "agekeep-expire.yaml".into(),
        text,
    })
}

/// Checks a name that a person gave, and quotes it for YAML.
fn checked(what: &'static str, name: &str) -> Result<String> {
    if name.is_empty() || name.contains(|c: char| c.is_control() || c.is_whitespace()) {
        return Err(Error::invalid(what, "it is empty or contains a space"));
    }
    Ok(quoted(name))
}

/// Returns the sweep as the pod sees it.
fn in_pod(sweep: &Sweep) -> Sweep {
    let key = |name: &str| format!("{KEYS_FOLDER}/{name}");
    Sweep {
        program: "agekeep".into(),
        places: Places {
            store: "/data/store".into(),
            identity: key("identity"),
            signing_key: key("signing_key"),
            keyring: sweep
                .places
                .keyring
                .as_ref()
                .map(|_| "/keyring/keyring".into()),
        },
        state_base: Some("/data/state".into()),
        passphrase_file: sweep.passphrase_file.as_ref().map(|_| key("passphrase")),
        recorded: sweep.recorded.clone(),
        hosts: Vec::new(),
    }
}

/// Lists the keys of the secret, and the files of this machine that they are made from.
fn secrets(sweep: &Sweep) -> Vec<(&'static str, &String)> {
    let mut all = vec![
        ("identity", &sweep.places.identity),
        ("signing_key", &sweep.places.signing_key),
    ];
    let passphrase = sweep.passphrase_file.iter();
    all.extend(passphrase.map(|path| ("passphrase", path)));
    all
}

/// Makes the command that creates the secret.
fn make(secrets: &[(&'static str, &String)]) -> Result<String> {
    let mut make: Vec<String> = ["kubectl", "create", "secret", "generic", SECRET]
        .map(Into::into)
        .into();
    for (key, path) in secrets {
        make.push(from_file(key, path)?);
    }
    Ok(terminal::command(&[], &make))
}

/// Makes an option of `kubectl`, which splits its value at commas, and takes a `=` for the end of
/// the key.
fn from_file(key: &str, path: &str) -> Result<String> {
    if path.contains('=') {
        return Err(Error::invalid(
            "the path of a key",
            format!(
                "kubectl cannot make a secret of a file with `=` in its path ({path}); name a copy \
                 or a link"
            ),
        ));
    }
    let entry = format!("{key}={path}");
    Ok(if entry.contains([',', '"']) {
        format!("--from-file=\"{}\"", entry.replace('"', "\"\""))
    } else {
        format!("--from-file={entry}")
    })
}

/// Writes a text in double quotes, which YAML reads as JSON does.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
