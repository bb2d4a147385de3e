//! Transfers that stop: an answer that is lost, a sender that is killed, a disk that is full. Nothing that was
//! acknowledged is lost, and the next one does the rest. And what a command costs that transfers nothing.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::replicas::{joined, verified};
use super::transports::{daemon, free_port};
use super::{contents, copy_folder, head, home_with_host, ok, path, refused, traced, within};
use crate::support::{Home, every, has_peer, stderr, strace};

/// Passes on what two ends say to each other. Once the client has sent a pack, the host's answers are kept from
/// it, and the line is cut when the host has said all of them.
fn proxy_that_loses_answers(to: u16) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        for client in listener.incoming() {
            let Ok(mut client) = client else { return };
            let mut server = TcpStream::connect(("127.0.0.1", to)).expect("the host");
            let mut from_client = client.try_clone().expect("a stream");
            let mut to_server = server.try_clone().expect("a stream");
            let has_sent = Arc::new(AtomicBool::new(false));
            let sends = Arc::clone(&has_sent);
            thread::spawn(move || {
                let mut piece = [0; 4096];
                while let Ok(count @ 1..) = from_client.read(&mut piece) {
                    if piece[..count].windows(4).any(|four| four == b"PACK") {
                        sends.store(true, Ordering::SeqCst);
                    }
                    if to_server.write_all(&piece[..count]).is_err() {
                        break;
                    }
                }
                let _ = to_server.shutdown(Shutdown::Write);
            });
            thread::spawn(move || {
                let mut piece = [0; 4096];
                while let Ok(count @ 1..) = server.read(&mut piece) {
                    let is_lost = has_sent.load(Ordering::SeqCst);
                    if !is_lost && client.write_all(&piece[..count]).is_err() {
                        break;
                    }
                }
                let _ = client.shutdown(Shutdown::Both);
            });
        }
    });
    port
}

/// The host took a push, and its answer was lost: the next sync finds everything there, and sends it once.
#[test]
fn an_answer_that_is_lost_after_the_host_took_it_is_found_there() {
    let (laptop, host) = home_with_host();
    let port = free_port();
    let _server = daemon(laptop.path(), port);
    let deaf = proxy_that_loses_answers(port);
    let through = |port: u16| {
        let url = format!("git://127.0.0.1:{port}/host.git");
        ok(&laptop.run(&["remote", "rm", "origin"]));
        ok(&laptop.run(&["remote", "add", "origin", &url]));
    };
    ok(&laptop.run(&["sync"]));
    let ci = joined(&laptop, &host, "ci");
    ok(&laptop.run(&["sync"]));
    for verb in ["sync", "push"] {
        through(deaf);
        ok(&laptop.run(&["create", &format!("{verb}.md"), "--text", verb]));
        let lost = laptop.run(&[verb, "--json"]);
        assert_eq!(
            refused(&lost),
            (Some(16), "unreachable".into()),
            "{verb}: {}",
            stderr(&lost)
        );
        assert_eq!(
            head(&host),
            head(&laptop.store()),
            "{verb}: the host took it"
        );
        through(port);
        let again = ok(&laptop.run(&["sync"]));
        assert!(
            again.starts_with("origin: nothing new") || again.starts_with("origin: keys sent"),
            "{again}"
        );
        ok(&ci.run(&["sync"]));
        ok(&laptop.run(&["sync"]));
        ok(&ci.run(&["sync"]));
        assert!(ok(&ci.run(&["view", &format!("{verb}.md")])).contains(verb));
        ok(&ci.run(&["sync"]));
        ok(&laptop.run(&["sync"]));
    }
    for machine in [&laptop, &ci] {
        assert_eq!(verified(machine), Some(0));
    }
}

/// Whoever sends an erasure and mail is stopped at any file: the host and the other machine are whole, and the
/// next sync does the rest.
#[test]
fn a_sender_that_is_stopped_leaves_everything_whole() {
    if !has_peer("strace", "a sync that sends is stopped at its system calls") {
        return;
    }
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let ci = joined(&laptop, &host, "ci");
    ok(&laptop.run(&["sync"]));
    ok(&ci.run(&["sync"]));
    ok(&laptop.run(&["create", "c.md", "--text", "three"]));
    ok(&laptop.run(&["erase", "a.md", "--yes", "--reason", "x"]));
    let places = [laptop.store(), host.clone(), ci.store()];
    let kept: Vec<_> = (0..3)
        .map(|at| laptop.path().join(format!("kept-{at}")))
        .collect();
    for (place, kept) in places.iter().zip(&kept) {
        copy_folder(place, kept);
    }
    // Events and mail go out in one push: a host never has the ones without the other.
    let trace = laptop.path().join("pushes");
    let mut strace = strace("");
    strace.args(["-v", "-e", "trace=execve", "-o", path(&trace)]);
    let sync = within(strace, &laptop, &laptop.command(&["sync"])).output();
    ok(&sync.expect("strace runs"));
    let trace = fs::read_to_string(trace).expect("the trace");
    assert_eq!(
        trace.matches("\"push\", \"--progress\"").count(),
        1,
        "{trace}"
    );
    let (mut stopped, mut whole) = (0, 0);
    for fault in [
        "renameat:signal=KILL",
        "mkdirat:signal=KILL",
        "fdatasync:signal=KILL",
        "clone3,vfork,clone:signal=KILL",
        "execve:signal=KILL",
        "renameat:error=ENOSPC",
        "pwrite64,write:error=ENOSPC",
    ] {
        // Between one git and the next a host has the events and not yet the mail, if they go out by themselves.
        let each = if fault.starts_with("clone3") {
            1
        } else {
            every(7)
        };
        for number in (1..).step_by(each) {
            let fault = format!("{fault}:when={number}");
            for (place, kept) in places[1..].iter().zip(&kept[1..]) {
                copy_folder(kept, place);
            }
            drop(fs::remove_dir_all(ci.state()));
            let run = traced(&laptop, &["sync"], (&kept[0], &laptop.store()), &fault);
            stopped += usize::from(!run.status.success());
            assert_eq!(verified(&laptop), Some(0), "{fault}: {}", stderr(&run));
            // The other machine takes all of it, or waits for it.
            let other = ci.run(&["sync", "--json"]);
            assert!(other.status.success(), "{fault}: {}", stderr(&other));
            assert_eq!(verified(&ci), Some(0), "{fault}");
            for machine in [&laptop, &ci] {
                let synced = machine.run(&["sync"]);
                assert!(synced.status.success(), "{fault}: {}", stderr(&synced));
                assert_eq!(head(&machine.store()), head(&host), "{fault}");
            }
            let gone = ci.run(&["view", "a.md", "--at", "1", "--json"]);
            assert_eq!(refused(&gone).1, "not_found", "{fault}");
            let left = contents(&laptop.store());
            assert!(
                !left.iter().any(|name| name.contains("init-")),
                "{fault}: {left:?}"
            );
            whole += 1;
            // Past the last call of its kind nothing fails any more.
            if run.status.success() && number > 6 {
                break;
            }
        }
    }
    assert!(
        stopped > 7 && whole > 12,
        "{stopped} stopped, {whole} whole"
    );
}

/// Runs a script in a mount namespace of its own, where `$1` is a small disk with what was there before.
/// `None` where none can be made.
fn on_a_small_disk(home: &Home, size: &str, args: &[&str]) -> Option<Output> {
    const MOUNT: &str = "cp -a \"$1\" \"$1.kept\" && mount -t tmpfs -o size=\"$2\" agekeep-test \"$1\" \
        && cp -a \"$1.kept/.\" \"$1\" && store=$1 && shift 2 && status=0 && { \"$@\" || status=$?; } \
        && rm -rf \"$store.kept\" && cp -a \"$store\" \"$store.kept\" && exit $status";
    let mut small = Command::new("unshare");
    small
        .args(["-rm", "sh", "-euc", MOUNT, "sh"])
        .args([path(&home.store()), size]);
    let mut small = within(small, home, &home.command(args));
    let output = small.output().expect("unshare runs");
    let kept = home.path().join("store.kept");
    if !kept.exists() || stderr(&output).contains("unshare") || stderr(&output).contains("mount:") {
        eprintln!(
            "\n*** NOT TESTED: no small disk can be mounted here: {} ***\n",
            stderr(&output)
        );
        return None;
    }
    // What the disk had at the end is in the store's place again.
    fs::remove_dir_all(home.store()).expect("there");
    fs::rename(kept, home.store()).expect("moves");
    Some(output)
}

/// The disk of a machine that takes much is full: it says so, has what it had, and takes all of it later.
#[test]
fn a_sync_onto_a_full_disk_says_so_and_loses_nothing() {
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let ci = joined(&laptop, &host, "ci");
    ok(&laptop.run(&["sync"]));
    for number in 0..24_u64 {
        // Random text does not compress.
        let word =
            |at: u64| (at + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(2 * number + 1));
        let text: String = (0..1_000).map(|at| format!("{:x} ", word(at))).collect();
        ok(&laptop.run(&["create", &format!("{number}.md"), "--text", &text]));
    }
    ok(&laptop.run(&["erase", "b.md", "--yes", "--reason", "x"]));
    ok(&laptop.run(&["sync"]));
    let before = head(&ci.store());
    let used = Command::new("du").arg("-sk").arg(ci.store()).output();
    let used: u64 = ok(&used.expect("du runs"))
        .split_whitespace()
        .next()
        .and_then(|kilobytes| kilobytes.parse().ok())
        .expect("a number");
    for more in [80, 200, 320] {
        let size = format!("{}k", used + more);
        let Some(sync) = on_a_small_disk(&ci, &size, &["sync", "--json"]) else {
            return;
        };
        assert!(!sync.status.success(), "{more} kilobytes are enough");
        let (_, name) = refused(&sync);
        let is_clear = ["io", "unreachable"].contains(&name.as_str());
        assert!(is_clear, "{more}: {}", stderr(&sync));
        assert_eq!(head(&ci.store()), before, "{more}");
        assert_eq!(verified(&ci), Some(0), "{more}");
    }
    ok(&ci.run(&["sync"]));
    assert_eq!(verified(&ci), Some(0));
}

/// System calls that name a file or a descriptor, wait for a disk, or start something: by name, how many of
/// each.
fn calls(trace: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for line in trace.lines() {
        let call = line
            .split_once(' ')
            .map_or(line, |(_, call)| call.trim_start());
        let Some((name, _)) = call.split_once('(') else {
            continue;
        };
        // The end of a call that began further up; memory, as much as it takes.
        if name.starts_with('<') || line.contains("MAP_ANONYMOUS") {
            continue;
        }
        *counts.entry(name.to_owned()).or_default() += 1;
    }
    counts
}

/// Runs a command, and returns its system calls as strace writes them.
fn trace_of(home: &Home, command: &Command, file: &Path) -> String {
    let mut strace = strace("");
    strace.args(["-e", "trace=%file,%desc,%network,execve", "-o", path(file)]);
    let traced = within(strace, home, command).output();
    ok(&traced.expect("strace runs"));
    fs::read_to_string(file).expect("the trace")
}

/// A command that transfers nothing makes the same system calls whether or not the store has remotes, and
/// reads nothing of them.
#[test]
fn remotes_cost_a_command_no_system_call() {
    if !has_peer("strace", "the system calls of commands are counted") {
        return;
    }
    let (laptop, host) = home_with_host();
    ok(&laptop.run(&["sync"]));
    let _ci = joined(&laptop, &host, "ci");
    ok(&laptop.run(&["sync"]));
    let (kept, trace) = (laptop.path().join("kept"), laptop.path().join("trace"));
    for number in 0..256 {
        // An object's folder is made with the first object in it, and names are by chance.
        let fan = laptop.store().join(format!("objects/{number:02x}"));
        fs::create_dir_all(fan).expect("made");
    }
    copy_folder(&laptop.store(), &kept);
    for args in [
        &["view", "a.md"][..],
        &["create", "new.md", "--text", "new"],
        &["edit", "a.md", "--old", "one", "--new", "1"],
        &["delete", "a.md"],
        &["log"],
    ] {
        let counted = |has_remotes: bool| {
            copy_folder(&kept, &laptop.store());
            drop(fs::remove_dir_all(laptop.state()));
            if !has_remotes {
                fs::remove_file(laptop.store().join("local.toml")).expect("there");
            }
            let text = trace_of(&laptop, &laptop.command(args), &trace);
            assert!(!text.contains("local.toml"), "{args:?}: {text}");
            calls(&text)
        };
        let (with, without) = (counted(true), counted(false));
        assert!(without.values().sum::<usize>() > 50, "{without:?}");
        assert_eq!(with, without, "{args:?}");
    }
    // The control: a policy that closes copies has them read when they were in touch.
    copy_folder(&kept, &laptop.store());
    drop(fs::remove_dir_all(laptop.state()));
    ok(&laptop.run(&["policy", "set", "replicas.closes_after", "30d"]));
    let command = laptop.command(&["view", "a.md"]);
    assert!(trace_of(&laptop, &command, &trace).contains("local.toml"));
}
