//! What a commit message says in the clear.

use crate::crypto::digest::Digest;
use crate::event::{self, Message, PublicFile};
use crate::id::MemoryId;

/// Subject and trailers of a commit.
pub(super) struct Said<'a> {
    pub(super) message: Message<'a>,
    pub(super) command: &'a str,
    outcome: &'a str,
    pub(super) memories: Vec<MemoryId>,
    /// What the commit before hashes to; `None` where there is none.
    pub(super) chain: Option<Digest>,
}

impl<'a> Said<'a> {
    /// Reads a message that has the form of a store's.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let message = Message::split(text).ok()?;
        let (command, outcome) = message.subject.split_once(' ')?;
        let word = |c: char| c.is_ascii_lowercase() || c == '_';
        let known = matches!(outcome, "ok" | "error" | "denied");
        if command.is_empty() || !command.chars().all(word) || !known {
            return None;
        }
        let (before, last) = match message.trailers.strip_suffix('\n')?.rsplit_once('\n') {
            Some((before, last)) => (Some(before), last),
            None => (None, message.trailers.trim_end()),
        };
        let memory = |line: &str| MemoryId::from_hex(line.strip_prefix("Memory: ")?);
        let memories = before.into_iter().flat_map(|lines| lines.split('\n'));
        let chain = match last.strip_prefix("Chain: ")? {
            "none" => None,
            chain => Some(Digest::from_hex(chain.strip_prefix("sha256:")?)?),
        };
        Some(Self {
            command,
            outcome,
            memories: memories.map(memory).collect::<Option<_>>()?,
            chain,
            message,
        })
    }

    /// Whether it may change memories at all.
    pub(super) fn may_write(&self) -> bool {
        self.outcome == "ok" && event::may_alter(self.command)
    }

    /// The public file it may put in place anew.
    pub(super) fn decides(&self) -> Option<PublicFile> {
        PublicFile::changed_by(self.command).filter(|_| self.outcome == "ok")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_one_form_is_read() {
        let id = "3f0c00000000000000000000000000aa";
        let chain = format!("Chain: sha256:{}", "0".repeat(64));
        let good = format!("create ok\n\n-----BEGIN\n-----END\n\nMemory: {id}\n{chain}\n");
        let said = Said::parse(&good).expect("a message");
        assert_eq!((said.command, said.memories.len()), ("create", 1));
        assert!(said.may_write() && said.chain.is_some());
        assert!(Said::parse("init ok\n\nx\n\nChain: none\n").is_some());
        for bad in [
            good.trim_end().to_owned(),
            good.clone() + "\n",
            good.clone() + "More: x\n",
            good.replace("create ok", "create"),
            good.replace("create ok", "create fine"),
            good.replace("create ok", "Create ok"),
            good.replace("Memory: 3f", "Memory: 3F"),
            good.replace("Memory:", "Memoir:"),
            good.replace("sha256:0", "sha256:"),
            good.replace(&chain, ""),
            "hello\n".to_owned(),
            String::new(),
        ] {
            assert!(Said::parse(&bad).is_none(), "{bad:?}");
        }
    }

    #[test]
    fn looks_and_refusals_write_nothing() {
        for subject in ["view ok", "create error", "delete denied", "policy_set ok"] {
            let message = format!("{subject}\n\nx\n\nChain: none\n");
            let said = Said::parse(&message).expect("a message");
            assert!(!said.may_write(), "{subject}");
        }
    }
}
