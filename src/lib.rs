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
//!  doors: command line · tool (JSON lines) · mcp · this library
//!                       │
//!  &str ── path ──▶ MemoryPath ─┐
//!  JSON ── command ─▶ Command ──┴─ store/plan ─ redact ─▶ Redacted ─ seal ─▶ Sealed ─ store/commit
//!                                                                                        │
//!                                        journal (one fdatasync) ◀───────────────────────┤
//!                                        objects, keyring, ref, catalog ◀────────────────┘
//!                                        journal, when it is full ─▶ a pack ─▶ one of many packs
//! ```
//!
//! Each arrow is a type that only its own module makes, so plaintext cannot reach git by mistake:
//! only a text that went through redaction (`Redacted`) is sealed, and the repository takes
//! ciphertext (`Sealed`), trees, signed commits, and the three texts that are public by design.
//!
//! # Rules that hold everywhere
//!
//! - A command is atomic. Its record in the `journal` is the one commit point: when
//!   [`store::Store::execute`] answers, the command is durable; a crash at any instruction leaves
//!   the state before or after it. The ref and the objects are written at once, so that stock git
//!   sees them, and again from the journal after an unclean stop. (The design this began from made
//!   the ref update the commit point. That costs an fsync for each object, key entry and the ref,
//!   some ten for a command; one for the record gives the same promise.)
//! - A kernel lock orders processes; the head is read under it.
//! - The state is a fold over signed events. The files `catalog` and `timeline` only save reading
//!   them again.
//! - History is never rewritten: an undo is a new event, and so is a look at what somebody
//!   remembered, which is no access to it.
//! - What has expired is absent at once, before any sweep, and no read brings it back. What is
//!   erased has no key: history stays as it is, and does not open. (The grace in which a person can
//!   bring an expired memory back is counted from the sweep that removed it, not from the moment it
//!   expired: a sweep that did not run for months must not delete and erase in one breath.)
//! - Unknown formats, damage, missing keys, what was erased and things that are not there are
//!   different errors, and none is a fallback to another.
//!
//! Deliberately absent: a work tree, an index, any plaintext file; user, system and store git
//! configuration, hooks, replace refs; a clock, an environment or a home folder (callers bring
//! them; only the programs of age's plugins are looked for in `PATH`); printing and prompting.
//!
//! # The rooms, from the ground up
//!
//! A room uses only rooms above it in this table; `docs/architecture.md` draws the house, and a test
//! keeps it so.
//!
//! | room | is |
//! |---|---|
//! | [`id`] | names that never change: of stores, memories, git objects |
//! | `background` | values computed before they are asked for, on a thread of their own |
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
pub mod store;
pub mod verify;

pub use self::crypto::digest::Digest;
pub use self::id::ObjectId;
pub use agekeep_redact as redact;
pub use agekeep_redact::Text;
