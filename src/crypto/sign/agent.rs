//! An ssh-agent that signs with a key it holds (draft-miller-ssh-agent, sections 3 and 4).
//!
//! This module implements two requests of the protocol. The available crate would turn on every key
//! type of `ssh-key`, RSA and three curves, and wait for an agent forever. Running `ssh-keygen -Y
//! sign`, as git does, costs a process for each command and makes no bare signatures.

use std::fmt;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::disk::LocalSocket;

/// Longest wait for an answer: long enough for a person to confirm or to touch a token, and short
/// compared with the wait of other processes for the store's lock, which is held meanwhile.
const WAIT: Duration = Duration::from_secs(15);
/// Largest answer that is read, in bytes: OpenSSH's agent sends no larger ones.
const ANSWER_BYTES_MAX: usize = 256 * 1024;

const FAILURE: u8 = 5;
const LIST: u8 = 11;
const LISTED: u8 = 12;
const SIGN: u8 = 13;
const SIGNED: u8 = 14;

/// A client of an agent. It keeps the connection, so that a signature costs one round trip.
pub(super) struct Agent {
    socket: Option<PathBuf>,
    /// The argument for `ssh-add` in hints.
    file: PathBuf,
    line: Mutex<Option<LocalSocket>>,
}

/// The reasons why an agent did not sign.
pub(super) enum AgentFault {
    /// No socket is known.
    Nowhere,
    /// No agent listens at the socket, or it hung up.
    Gone(io::Error),
    /// It did not answer in time.
    Silent,
    /// It does not have the key.
    Keyless,
    /// It has the key but refuses to sign with it.
    Refused,
    /// Its answer does not match the request.
    False,
}

impl Agent {
    pub(super) fn at(socket: Option<&Path>, file: PathBuf) -> Self {
        Self {
            socket: socket.map(Path::to_owned),
            file,
            line: Mutex::new(None),
        }
    }

    /// Asks the agent for a signature over `data` with the key whose public half is `key`, both in
    /// SSH's wire form (RFC 4253).
    pub(super) fn sign(&self, key: &[u8], data: &[u8]) -> Result<Vec<u8>, AgentFault> {
        let request = [&[SIGN], &*string(key), &*string(data), &[0; 4]].concat();
        let answer = self.ask(&request)?;
        match answer.split_first() {
            Some((&SIGNED, mut rest)) => take_string(&mut rest)
                .filter(|_| rest.is_empty())
                .map(<[u8]>::to_vec)
                .ok_or(AgentFault::False),
            Some((&FAILURE, _)) if self.has(key)? => Err(AgentFault::Refused),
            Some((&FAILURE, _)) => Err(AgentFault::Keyless),
            _ => Err(AgentFault::False),
        }
    }

    /// Tells whether the agent lists a key.
    fn has(&self, key: &[u8]) -> Result<bool, AgentFault> {
        let answer = self.ask(&[LIST])?;
        let Some((&LISTED, rest)) = answer.split_first() else {
            return Err(AgentFault::False);
        };
        let (count, mut rest) = rest.split_first_chunk().ok_or(AgentFault::False)?;
        for _ in 0..u32::from_be_bytes(*count) {
            let listed = take_string(&mut rest).ok_or(AgentFault::False)?;
            take_string(&mut rest).ok_or(AgentFault::False)?;
            if listed == key {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Sends a request and reads the answer. If the connection is lost, it reconnects once, because
    /// a new agent may listen there.
    fn ask(&self, request: &[u8]) -> Result<Vec<u8>, AgentFault> {
        let mut kept = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.take().map(|line| (exchange(&line, request), line));
        let (answer, line) = match known {
            Some((answer, line)) if !matches!(answer, Err(AgentFault::Gone(_))) => (answer, line),
            _ => {
                let socket = self.socket.as_ref().ok_or(AgentFault::Nowhere)?;
                let line = LocalSocket::connect(socket).map_err(AgentFault::Gone)?;
                (exchange(&line, request), line)
            }
        };
        // A late answer must not be taken for the answer to the next request.
        *kept = answer.is_ok().then_some(line);
        answer
    }

    /// Returns advice on what to do about a fault.
    pub(super) fn hint(&self, fault: &AgentFault) -> String {
        let add = format!("`ssh-add {}`", self.file.display());
        match fault {
            AgentFault::Nowhere => format!(
                "start an agent with `eval $(ssh-agent)` and run {add}, or name the file of a key \
                 without a passphrase with --signing-key"
            ),
            AgentFault::Gone(_) => format!(
                "start an agent with `eval $(ssh-agent)`, which sets SSH_AUTH_SOCK, and run {add}"
            ),
            AgentFault::Keyless => format!("run {add}"),
            AgentFault::Refused => {
                "confirm when it asks; `ssh-add -l` shows what it holds, and `ssh-add -X` unlocks it"
                    .into()
            }
            AgentFault::Silent => {
                "see whether it waits for a confirmation or a touch, and try again".into()
            }
            AgentFault::False => format!("start another agent and run {add}"),
        }
    }
}

impl fmt::Display for AgentFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nowhere => f.write_str("SSH_AUTH_SOCK names none"),
            Self::Gone(why) => write!(f, "it cannot be reached ({why})"),
            Self::Silent => write!(f, "it did not answer within {} s", WAIT.as_secs()),
            Self::Keyless => f.write_str("it does not have the key"),
            Self::Refused => f.write_str("it has the key and refused"),
            Self::False => f.write_str("its answer is no signature by that key"),
        }
    }
}

/// Sends a length-prefixed message and reads one.
fn exchange(mut line: &LocalSocket, request: &[u8]) -> Result<Vec<u8>, AgentFault> {
    let until = Instant::now() + WAIT;
    line.set_write_timeout(Some(WAIT)).map_err(fault)?;
    line.write_all(&string(request)).map_err(fault)?;
    let mut length = [0; 4];
    read_exact(line, &mut length, until)?;
    let length = u32::from_be_bytes(length) as usize;
    if length > ANSWER_BYTES_MAX {
        return Err(AgentFault::False);
    }
    let mut answer = vec![0; length];
    read_exact(line, &mut answer, until)?;
    Ok(answer)
}

/// Fills `bytes` by the deadline. An agent that trickles bytes counts as silent too.
fn read_exact(
    mut line: &LocalSocket,
    mut bytes: &mut [u8],
    until: Instant,
) -> Result<(), AgentFault> {
    while !bytes.is_empty() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(AgentFault::Silent);
        }
        line.set_read_timeout(Some(left)).map_err(fault)?;
        match line.read(bytes) {
            Ok(0) => return Err(AgentFault::Gone(io::ErrorKind::UnexpectedEof.into())),
            Ok(read) => bytes = &mut bytes[read..],
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(fault(e)),
        }
    }
    Ok(())
}

fn fault(error: io::Error) -> AgentFault {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => AgentFault::Silent,
        _ => AgentFault::Gone(error),
    }
}

/// Prefixes bytes with their length.
fn string(bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).expect("what is signed is short");
    [&length.to_be_bytes(), bytes].concat()
}

/// Takes a length-prefixed string off the front.
fn take_string<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, after) = rest.split_first_chunk()?;
    let (string, after) = after.split_at_checked(u32::from_be_bytes(*length) as usize)?;
    *rest = after;
    Some(string)
}
