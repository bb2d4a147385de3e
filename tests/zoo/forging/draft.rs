//! A commit in the making: right in everything until a scenario changes one thing.

use std::path::{Path, PathBuf};
use std::process::Command as Process;

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{Memory, Zoo};
use crate::support::{feed, git, stderr};

/// What stands in the `gpgsig` header.
pub(crate) enum Signature {
    By(PathBuf),
    /// By a key, but for another purpose than commits.
    For(PathBuf, &'static str),
    Copied(String),
    Absent,
}

/// What a commit is made of. What is `None` is what the rest asks for.
pub(crate) struct Draft {
    /// `parent` and `tree` are filled in where they are null.
    pub(crate) record: Value,
    pub(crate) tree: String,
    pub(crate) parents: Vec<String>,
    pub(crate) author: String,
    pub(crate) committer: Option<String>,
    pub(crate) seconds: i64,
    /// Lines between the committer and the signature.
    pub(crate) headers: String,
    pub(crate) subject: Option<String>,
    pub(crate) armored: Option<String>,
    /// The ids in `Memory` trailers.
    pub(crate) named: Option<Vec<String>>,
    pub(crate) chain: Option<String>,
    pub(crate) signature: Signature,
}

impl Draft {
    /// Moves the event, and its commit, to a time.
    pub(crate) fn at(&mut self, time: DateTime<Utc>) {
        self.record["time"] = time.to_rfc3339_opts(SecondsFormat::Millis, true).into();
        self.seconds = time.timestamp();
    }

    fn subject(&self) -> String {
        let word = |name: &str| self.record[name].as_str().expect("a word").to_owned();
        let right = || format!("{} {}", word("command"), word("outcome"));
        self.subject.clone().unwrap_or_else(right)
    }

    fn named(&self) -> Vec<String> {
        let touches = || self.record["memories"].as_array().into_iter().flatten();
        let right = || touches().map(|touch| super::text(&touch["id"])).collect();
        self.named.clone().unwrap_or_else(right)
    }
}

impl Zoo<'_> {
    /// The owner's next event.
    #[allow(clippy::needless_pass_by_value)] // so that the call shows the JSON and nothing else
    pub(crate) fn draft(&self, command: &str, memories: Value) -> Draft {
        self.draft_after(self.events.len() - 1, command, memories)
    }

    /// The owner's event after another, a minute later.
    #[allow(clippy::needless_pass_by_value)] // as above
    pub(crate) fn draft_after(&self, event: usize, command: &str, memories: Value) -> Draft {
        let parent = self.commit_of(event);
        let mut draft = Draft {
            record: json!({
                "agekeep": 1, "event": event + 1, "parent": null, "tree": null, "time": null,
                "command": command, "outcome": "ok", "door": "cli", "actor": "notes-agent",
                "memories": memories, "rules": 1,
            }),
            tree: self.git(&["rev-parse", &format!("{parent}^{{tree}}")]),
            parents: vec![parent],
            author: "owner".into(),
            committer: None,
            seconds: 0,
            headers: String::new(),
            subject: None,
            armored: None,
            named: None,
            chain: None,
            signature: Signature::By(self.home.signing_key()),
        };
        draft.at(self.time_of(event) + TimeDelta::minutes(1));
        draft
    }

    /// Writes the commit object; its name.
    pub(crate) fn write(&self, draft: &Draft) -> String {
        let parent = draft.parents.first().map(|parent| self.chain_of(parent));
        let mut record = draft.record.clone();
        let fields = record.as_object_mut().expect("an object");
        if fields["tree"].is_null() {
            fields["tree"] = draft.tree.clone().into();
        }
        match &parent {
            Some(digest) if fields["parent"].is_null() => fields["parent"] = digest.clone().into(),
            None if fields["parent"].is_null() => drop(fields.shift_remove("parent")),
            _ => {}
        }
        let armored = draft.armored.clone();
        let armored = armored.unwrap_or_else(|| self.seal_record(&record));
        let named: String = draft
            .named()
            .iter()
            .map(|id| format!("Memory: {id}\n"))
            .collect();
        let right = || parent.map_or("none".into(), |digest| format!("sha256:{digest}"));
        let chain = draft.chain.clone().unwrap_or_else(right);
        let parents: String = draft
            .parents
            .iter()
            .map(|id| format!("parent {id}\n"))
            .collect();
        let person = |name: &str| format!("{name} <{name}@agekeep> {} +0000", draft.seconds);
        let committer = draft.committer.as_ref().unwrap_or(&draft.author);
        let head = format!(
            "tree {}\n{parents}author {}\ncommitter {}\n{}",
            draft.tree,
            person(&draft.author),
            person(committer),
            draft.headers,
        );
        let message = format!(
            "{}\n\n{armored}\n\n{named}Chain: {chain}\n",
            draft.subject()
        );
        let signature = sign(&draft.signature, &format!("{head}\n{message}"));
        let args = [
            "hash-object",
            "-t",
            "commit",
            "-w",
            "--stdin",
            "--literally",
        ];
        self.git_fed(&args, format!("{head}{signature}\n{message}"))
    }

    /// Writes the commit and makes it the head.
    pub(crate) fn adopt_draft(&self, draft: &Draft) {
        self.adopt(&self.write(draft));
    }

    /// The head again, made by hand with what the draft says besides.
    pub(crate) fn head_again(&self) -> Draft {
        let last = self.events.len() - 1;
        let record = self.record_of(&self.commit_of(last));
        let mut draft = self.draft_after(last - 1, "view", json!([]));
        let message = self.git(&["log", "-1", "--format=%B", &self.commit_of(last)]);
        let armored = message.split("\n\n").nth(1).expect("a record");
        draft.armored = Some(armored.into());
        draft.record = record;
        draft.seconds = self.time_of(last).timestamp();
        draft.tree = self.git(&["rev-parse", &format!("{}^{{tree}}", self.commit_of(last))]);
        draft
    }

    /// The record of a commit, opened with stock age.
    pub(crate) fn record_of(&self, commit: &str) -> Value {
        let message = self.git(&["log", "-1", "--format=%B", commit]);
        let armored = message.split("\n\n").nth(1).expect("a record");
        let key = self.home.path().join("audit.key");
        let identity = self.audit["identities"][0].as_str().expect("an identity");
        crate::support::forge::private(&key, identity);
        let mut age = Process::new("age");
        age.args(["-d", "-i"]).arg(key);
        let opened = feed(age, format!("{armored}\n").as_bytes());
        assert!(opened.status.success(), "{}", stderr(&opened));
        serde_json::from_slice(&opened.stdout).expect("JSON")
    }

    /// The armored record of an event, as its commit has it.
    pub(crate) fn armored_of(&self, event: usize) -> String {
        let message = self.git(&["log", "-1", "--format=%B", &self.commit_of(event)]);
        message.split("\n\n").nth(1).expect("a record").to_owned()
    }

    /// SHA-256 of a commit object.
    pub(crate) fn chain_of(&self, commit: &str) -> String {
        let bytes = git(&self.store(), &["cat-file", "commit", commit]).stdout;
        format!("{:x}", Sha256::digest(bytes))
    }

    /// A touch that reads a memory, or takes it away.
    pub(super) fn touch(&self, memory: &Memory, change: &str) -> Value {
        json!({
            "id": memory.id,
            "change": change,
            "path": self.sealed_path(&memory.id, &memory.path),
            "version": memory.version,
            "bytes": memory.bytes,
        })
    }

    /// The text of a version, behind its header, if this identity opens it.
    fn opened_text(&self, identity: &str, blob: &[u8]) -> Option<Vec<u8>> {
        let key = self.home.path().join("memory.key");
        crate::support::forge::private(&key, identity);
        let mut age = Process::new("age");
        age.args(["-d", "-i"]).arg(key);
        let opened = feed(age, blob);
        let end = opened.stdout.iter().position(|byte| *byte == b'\n')?;
        opened
            .status
            .success()
            .then(|| opened.stdout[end + 1..].to_vec())
    }

    /// A touch that writes a version, which `next` says, with this blob.
    pub(super) fn write_touch(&self, next: &Memory, change: &str, blob: &str) -> Value {
        let mut touch = self.touch(next, change);
        let bytes = git(&self.store(), &["cat-file", "blob", blob]).stdout;
        let identity = self.memory_identity(&next.id);
        if let Some(text) = self.opened_text(&identity, &bytes) {
            touch["bytes"] = text.len().into();
        }
        touch["blob"] = blob.into();
        touch["sha256"] = format!("{:x}", Sha256::digest(bytes)).into();
        touch
    }
}

/// The `gpgsig` header, or nothing.
fn sign(signature: &Signature, unsigned: &str) -> String {
    let pem = match signature {
        Signature::Absent => return String::new(),
        Signature::Copied(pem) => pem.clone(),
        Signature::By(key) => ssh_sign(key, "git", unsigned),
        Signature::For(key, purpose) => ssh_sign(key, purpose, unsigned),
    };
    format!("gpgsig {}\n", pem.trim_end().replace('\n', "\n "))
}

fn ssh_sign(key: &Path, purpose: &str, unsigned: &str) -> String {
    let mut keygen = Process::new("ssh-keygen");
    keygen.args(["-Y", "sign", "-n", purpose, "-f"]).arg(key);
    let signed = feed(keygen, unsigned.as_bytes());
    assert!(signed.status.success(), "{}", stderr(&signed));
    String::from_utf8(signed.stdout).expect("PEM")
}
