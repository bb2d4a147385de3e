//! A command that is run with a limit on its time, its memory and what it writes.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::Home;

/// No honest run takes as long, also on a machine that does much else; a hang always does.
const LIMIT: Duration = Duration::from_secs(20);
/// Kibibytes of address space; a file of sixty gigabytes does not fit.
const MEMORY_KIB: &str = "4194304";
/// Blocks of 512 bytes that one file may have: half a gigabyte.
const FILE_BLOCKS: &str = "1048576";

/// How a command ended, and what it said.
pub(crate) struct Ran {
    pub(crate) args: String,
    /// Its exit code; none if it was killed, by us or by what it did.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) took: Duration,
    pub(crate) hung: bool,
}

impl Ran {
    pub(crate) fn is_ok(&self) -> bool {
        self.code == Some(0)
    }

    /// What is wrong with how it ended, whatever was done to the store.
    pub(crate) fn fault(&self) -> Option<String> {
        if self.hung {
            return Some(format!("`{}` hangs", self.args));
        }
        let is_crash = self.code.is_none_or(|code| code == 101);
        if is_crash || self.stderr.contains("panicked at") {
            let code = self.code;
            return Some(format!(
                "`{}` crashes ({code:?}): {}",
                self.args, self.stderr
            ));
        }
        let is_mute = self.stdout.is_empty() && self.stderr.is_empty();
        (!self.is_ok() && is_mute).then(|| format!("`{}` fails and says nothing", self.args))
    }
}

/// Runs a command of a home with this input.
pub(crate) fn run_in(home: &Home, args: &[&str], input: &str) -> Ran {
    run(&home.command(args), input)
}

/// Runs a command within the limits.
pub(crate) fn run(command: &Command, input: &str) -> Ran {
    let began = Instant::now();
    let mut child = limited(command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let (mut stdin, input) = (child.stdin.take().expect("piped"), input.to_owned());
    let writer = thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    let stdout = read_all(child.stdout.take().expect("piped"));
    let stderr = read_all(child.stderr.take().expect("piped"));
    let hung = !ends_in_time(&mut child, began);
    let status = child.wait().expect("it ended");
    writer.join().expect("the writer ends");
    Ran {
        args: shown(command),
        code: status.code().filter(|_| !hung),
        stdout: stdout.join().expect("the reader ends"),
        stderr: stderr.join().expect("the reader ends"),
        took: began.elapsed(),
        hung,
    }
}

/// The arguments of a command, each as far as it says something.
fn shown(command: &Command) -> String {
    let args = command.get_args().map(|arg| arg.to_string_lossy());
    let args = args.map(|arg| arg.chars().take(60).collect::<String>());
    args.collect::<Vec<_>>().join(" ")
}

/// The same command, by a shell that sets its limits first.
pub(crate) fn limited(command: &Command) -> Command {
    let mut shell = Command::new("/bin/sh");
    let script =
        format!("ulimit -v {MEMORY_KIB}; ulimit -c 0; ulimit -f {FILE_BLOCKS}; exec \"$0\" \"$@\"");
    shell.env_clear().args(["-c", &script]);
    shell.arg(command.get_program()).args(command.get_args());
    let set = command.get_envs();
    shell.envs(set.filter_map(|(name, value)| Some((name, value?))));
    shell.current_dir(command.get_current_dir().expect("a home"));
    shell
}

fn read_all(mut pipe: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        drop(pipe.read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn ends_in_time(child: &mut Child, began: Instant) -> bool {
    let mut pause = Duration::from_millis(1);
    while child.try_wait().expect("our child").is_none() {
        if began.elapsed() > LIMIT {
            child.kill().expect("our child");
            return false;
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(8));
    }
    true
}
