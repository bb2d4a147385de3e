//! The memory of an AI agent, kept as a compliance team would keep it.
//!
//! An agent speaks the *memory tool*: `view create str_replace insert delete rename` below
//! `/memories`, and the older pair `memory_read memory_write`. Every command, reads and refusals
//! included, becomes one signed commit in a bare git repository. Texts, paths and the audit record
//! in each commit message are encrypted with age.
//!
//! # The path of a write
//!
//! ```text
//!  command line · tool (JSON lines) · mcp · this library
//!   │ Command, Context                                                       memory_tool, event
//!   ▼
//!  execute: begin_commands ─ lock, what others wrote, the pin                store, store/recovery
//!   │       check_role, quotas                                               store/signers, store/quota
//!   ▼
//!  plan: path ─▶ MemoryPath, redact ─▶ Redacted                              store/plan, crates/redact
//!   ▼
//!  commit: seal ─▶ Sealed, event, trees, signature ─▶ PendingCommit          store/commit
//!   ▼
//!  enqueue: append ─ one record, one fdatasync: the commit point             store/batch, journal
//!   ▼
//!  place_batch: keys, objects, the ref, caches                               store/batch, repository
//!           a full journal ─▶ a pack; small packs are merged                 store/journal_checkpoint
//! ```
//!
//! `MemoryPath`, `Redacted` and `Sealed` are types that only their own module makes, so plaintext
//! cannot reach git by mistake: only a redacted text is encrypted, and the repository takes versions
//! as ciphertext alone.
//!
//! # Rules that hold everywhere
//!
//! - A command is atomic. Its record in the `journal` is the one commit point: when
//!   [`store::Store::execute`] answers, the command is durable; a crash at any instruction leaves
//!   the state before or after it. The ref and the objects are for stock git: a single command
//!   writes them before its answer; a process that goes on does so after the answer, about a second
//!   later at most; and after an unclean stop they are written from the journal.
//! - A kernel lock orders processes; the head is read under it.
//! - Signed events are the truth. The files `catalog` and `timeline` are caches of what they add up to.
//! - History is never rewritten. An undo is a new event. Looking at texts in history is recorded too, and
//!   does not count as an access to a memory.
//! - Agents cannot see expired memories, swept or not, and no read brings one back. Erased memories
//!   cannot be decrypted: their keys are gone, and history stays as it is. (The grace in which a person
//!   can restore an expired memory runs from the sweep that removed it, not from its expiry: a sweep
//!   that did not run for months must not delete and erase at once.)
//! - Unknown formats, damage, missing keys, erased memories and things that are not there are
//!   different errors, and none is a fallback to another.
//!
//! Deliberately absent: a work tree, an index, any plaintext file; user, system and store git
//! configuration, hooks, replace refs; a clock, an environment or a home folder (callers bring
//! them; only the programs of age's plugins are looked for in `PATH`); printing and prompting.
//!
//! # The rooms, from the ground up
//!
//! A room uses only rooms that stand before it here. `docs/architecture.md` is the map, and
//! `docs/glossary.md` explains the words.
//!
//! | room | is |
//! |---|---|
//! | [`id`] | names that never change: of stores, memories, git objects |
//! | `background` | values precomputed on a background thread |
//! | [`error`] | everything that can go wrong, with its exit code and what to do about it |
//! | `disk` | the one way to touch a file: open, replace, sync, lock |
//! | [`crypto`] | age, SSH keys and signatures, small ciphers, digests; people's key files; who can open a store |
//! | `repository` | git objects, packs and the one ref |
//! | `journal` | one checksummed record a command: the commit point |
//! | `keyring` | the keys outside history; destroying one is erasure |
//! | [`memory_tool`] | the memory tool's contract without a store: paths, commands, edits of one text |
//! | [`diff`] | what changed between versions, both changes merged, who wrote a line |
//! | `version` | one version of a memory as it is sealed: header, padding, text |
//! | [`event`] | the record of a command, and who may record it |
//! | [`policy`] | what the owner decided: limits, redaction, expiration |
//! | `state` | what all events add up to, in two caches |
//! | [`store`] | the open store: plan, commit, undo, expire, erase, look back |
//! | [`verify`](mod@verify) | proof that nothing was changed, or where something was |
//! | [`remote`] | copies elsewhere: push, pull and clone by the git program |
//! | [`report`] | what happened in a period: counts, registers, what expires when |
//! | [`jsonl`] | calls and answers as JSON lines |
//!
//! [`redact`], which finds secrets in texts, is a crate of its own (`crates/redact`) that knows nothing
//! of stores. The program is `src/bin/agekeep`, behind the feature `cli`.
//!
//! # Example
//!
//! ```
//! use agekeep::memory_tool::command::Command;
//! use agekeep::event::Context;
//! use agekeep::policy::Policy;
//! use agekeep::store::{Identity, Keys, SigningKey, Store};
//!
//! # fn main() -> agekeep::error::Result<()> {
//! # let folder = tempfile::tempdir().expect("a temporary folder");
//! let keys = Keys { identity: Identity::generate(), signing_key: Some(SigningKey::generate()), state: None, keyring: None };
//! let mut context = Context::default();
//! context.actor = Some("support-agent".into());
//! let mut store = Store::init(
//!     &folder.path().join("store"),
//!     keys,
//!     &Policy::default(),
//!     &context,
//!     Box::new(chrono::Utc::now),
//! )?;
//! let create = Command::Create { path: "/memories/a.md".into(), file_text: "one\n".into() };
//! let answer = store.execute(&create, &context)?;
//! assert_eq!(answer.content.as_str(), "File created successfully at: /memories/a.md");
//! assert_eq!(store.log().count(), 2); // init and create
//! # Ok(())
//! # }
//! ```

mod background;
mod disk;
mod journal;
mod keyring;
mod repository;
mod state;
mod version;

pub mod crypto;
pub mod diff;
pub mod error;
pub mod event;
#[cfg(any(fuzzing, test))]
#[doc(hidden)]
pub mod fuzzing;
pub mod id;
pub mod jsonl;
pub mod memory_tool;
pub mod policy;
pub mod remote;
pub mod report;
pub mod store;
pub mod verify;

pub use self::crypto::digest::Digest;
pub use self::id::ObjectId;
pub use agekeep_redact as redact;
pub use agekeep_redact::Text;
