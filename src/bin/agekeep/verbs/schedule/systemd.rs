//! A systemd service and its timer.

use std::path::{Path, PathBuf};

use agekeep::error::{Error, Result};
use clap::{Args, ValueEnum};

use crate::verbs::schedule::{HOPELESS, ScheduleFile, Sweep, filled};

#[derive(Args)]
pub(crate) struct Systemd {
    /// Only this one, to be written to its file
    #[arg(value_name = "UNIT")]
    unit: Option<Unit>,
    /// For the service manager of your account instead of the machine's: no root is needed, and
    /// less of the machine can be closed to it
    #[arg(long)]
    user: bool,
    /// Sync before the sweep and after it; without the first there is no sweep
    #[arg(long)]
    pub(super) sync: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Unit {
    Service,
    Timer,
}

/// The restrictions that only the machine's service manager can apply everywhere. `ProcSubset=pid`
/// is not among them: it would hide the boot's id, by which a store knows an unclean stop. Those of
/// `service.txt` need no namespaces, and so work for a service manager of an account too.
const CLOSED_BY_ROOT: &str = include_str!("service_of_root.txt");

/// Returns the files for the units of the machine, or for those of an account.
fn names(args: &Systemd) -> [String; 2] {
    let folder = if args.user {
        "~/.config/systemd/user"
    } else {
        "/etc/systemd/system"
    };
    ["service", "timer"].map(|kind| format!("{folder}/agekeep-expire.{kind}"))
}

/// Makes the units that are asked for.
pub(super) fn files(sweep: &Sweep, args: &Systemd) -> Result<Vec<ScheduleFile>> {
    if sweep.program.contains(['"', '\'', '\\']) {
        return Err(Error::invalid(
            "the path of this program",
            "systemd starts nothing with a quote or a backslash in its path",
        ));
    }
    let [service, timer] = names(args);
    let all = [
        (Unit::Service, service, to_service(sweep, args)),
        (Unit::Timer, timer, include_str!("timer.txt").to_owned()),
    ];
    let wanted = |unit: &Unit| args.unit.is_none_or(|only| only == *unit);
    let wanted = all.into_iter().filter(|(unit, ..)| wanted(unit));
    Ok(wanted
        .map(|(_, name, text)| ScheduleFile { name, text })
        .collect())
}

/// Writes the directions for the units, as comments; nothing if one unit is printed for its file.
pub(super) fn afterwards(sweep: &Sweep, args: &Systemd) -> String {
    if args.unit.is_some() {
        return String::new();
    }
    let (sudo, user) = if args.user {
        ("", " --user")
    } else {
        ("sudo ", "")
    };
    let [service, timer] = names(args);
    let print = |unit| {
        let mut form = vec!["systemd", unit];
        form.extend(args.user.then_some("--user"));
        form.extend(args.sync.then_some("--sync"));
        sweep.schedule(&form)
    };
    let first = if args.user {
        "#   mkdir -p ~/.config/systemd/user\n#   loginctl enable-linger  # or it runs only while you are logged in\n"
    } else {
        ""
    };
    filled(
        include_str!("systemd.txt"),
        &[
            ("first", first.into()),
            ("print service", print("service")),
            ("print timer", print("timer")),
            ("service", service),
            ("timer", timer),
            ("sudo", sudo.into()),
            ("user", user.into()),
            ("status", sweep.status()),
        ],
    )
}

/// Says what stands in the way of a service of the machine.
pub(super) fn obstacle(sweep: &Sweep, args: &Systemd) -> Option<String> {
    (!args.user && is_temporary(sweep)).then(|| {
        "one of its files is below /tmp or /var/tmp, which the system empties; for that file, the \
         service shares these folders with everybody"
            .into()
    })
}

/// Writes the service. It names the keys by their paths: a copy by `LoadCredential=` can have an
/// access list, which shows as a group that may read it, and agekeep refuses such a key.
fn to_service(sweep: &Sweep, args: &Systemd) -> String {
    // After `:` systemd does not put in variables of the environment: a `$` is a `$`.
    let started = |key: &str, words: &[String]| format!("{key}=:{}\n", all_quoted(words));
    let (mut before, mut after) = (String::new(), String::new());
    if args.sync {
        let sync = sweep.command(&["sync"]);
        before = started("ExecStartPre", &sync);
        after = started("ExecStartPost", &sync);
    }
    let variables = sweep.variables();
    let variables = variables
        .iter()
        .map(|(name, value)| format!("Environment={}\n", quoted(&format!("{name}={value}"))));
    let all: Vec<_> = sweep.written().into_iter().chain(sweep.read()).collect();
    let (needs, families, network) = if args.sync {
        (
            "It needs the network and no privilege. git reads the account's own settings.",
            "AF_UNIX AF_INET AF_INET6",
            "",
        )
    } else {
        (
            "It needs no network and no privilege, and of the files only what it is told of.",
            "none",
            "PrivateNetwork=true\n",
        )
    };
    let (mut account, mut of_root) = (String::new(), String::new());
    if !args.user {
        account = format!("User={}\n", sweep.account());
        of_root = format!("{CLOSED_BY_ROOT}{network}{}", rooms(sweep, args.sync));
    }
    let text = filled(
        include_str!("service.txt"),
        &[
            ("mounts", all_quoted(&all)),
            ("account", account),
            ("variables", variables.collect()),
            ("before", before),
            ("sweep", started("ExecStart", &sweep.expire())),
            ("after", after),
            ("hopeless", HOPELESS.map(|code| code.to_string()).join(" ")),
            ("needs", needs.into()),
            ("families", families.into()),
        ],
    );
    text + &of_root
}

/// Writes the settings for what the service sees of the file system.
fn rooms(sweep: &Sweep, sync: bool) -> String {
    let (written, read) = (sweep.written(), sweep.read());
    let temporary = if is_temporary(sweep) {
        "# Not PrivateTmp=: something of the store's is there.\n"
    } else {
        "PrivateTmp=true\n"
    };
    let home = |paths: &[String]| -> Vec<String> {
        let below = |path: &&String| is_below(path, &["/home", "/root", "/run/user"]);
        paths.iter().filter(below).cloned().collect()
    };
    let (written_at_home, read_at_home) = (home(&written), home(&read));
    let at_home: Vec<_> = written_at_home.iter().chain(&read_at_home).collect();
    let linked = |path: &&String| real(path) != Path::new(path.as_str());
    let home = if sync {
        // git reads its settings and ssh's keys there.
        "ProtectHome=read-only\n".to_owned()
    } else if at_home.is_empty() {
        "ProtectHome=true\n".to_owned()
    } else if at_home.into_iter().any(|path| linked(&path)) {
        // A link would lead out of the few paths that are let in.
        "ProtectHome=read-only\n".to_owned()
    } else {
        let line = |key, paths: &[String]| match paths {
            [] => String::new(),
            paths => format!("{key}={}\n", all_quoted(paths)),
        };
        format!(
            "ProtectHome=tmpfs\n{}{}",
            line("BindPaths", &written_at_home),
            line("BindReadOnlyPaths", &read_at_home)
        )
    };
    format!("{temporary}{home}ReadWritePaths={}\n", all_quoted(&written))
}

fn is_temporary(sweep: &Sweep) -> bool {
    let mut paths = sweep.written().into_iter().chain(sweep.read());
    paths.any(|path| is_below(&path, &["/tmp", "/var/tmp"]))
}

/// Tells whether a path is in one of these folders, by its name or once links are resolved.
fn is_below(path: &str, folders: &[&str]) -> bool {
    folders.iter().any(|folder| {
        let in_truth = real(path).starts_with(real(folder));
        in_truth || Path::new(path).starts_with(folder)
    })
}

/// Resolves the links in a path, as far as it exists.
fn real(path: &str) -> PathBuf {
    let path = Path::new(path);
    let there = path.ancestors().find_map(|above| {
        let rest = path.strip_prefix(above).ok()?;
        let real = above.canonicalize().ok()?;
        Some(if rest.as_os_str().is_empty() {
            real
        } else {
            real.join(rest)
        })
    });
    there.unwrap_or_else(|| path.to_owned())
}

fn all_quoted(words: &[String]) -> String {
    let words: Vec<_> = words.iter().map(|word| quoted(word)).collect();
    words.join(" ")
}

/// Quotes a word for systemd, where `%` begins a specifier, and a backslash an escape.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-+.,@/=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    let word = word.replace('\\', r"\\").replace('"', "\\\"");
    format!("\"{}\"", word.replace('%', "%%"))
}
