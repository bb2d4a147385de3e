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
//! # The modules, in reading order
//!
//! | module | is |
//! |---|---|
//! | [`path`], [`command`], [`text`](Text) | what comes in, made canonical |
//! | [`redact`] | secrets replaced by markers: rules as data, and what finds them |
//! | `edit`, `listing` | pure work on text, word for word as the memory tool's contract says |
//! | [`diff`], `merge`, `blame` | pure work on versions of a text: what changed, both changes in one, who wrote a line |
//! | [`store`] | the open store: whether its `keys` are those that history names, and the `upgrade` of one of format 1; `plan` what a command does, `commit` it, make a `batch` durable, `queue` several callers; fold `history`, make one; look into the `past`, `undo`; `decide` who and how, `reseal` to new keys; a full journal's `checkpoint`, `compact`; what is `living`, the `sweep`, `hold`s, `erase` and its `receipt`s; `take` texts out, `foresee` what a command would do; what `news` there is |
//! | [`event`], `catalog` | the record of a command, and the state that all records add up to |
//! | [`retention`] | what goes away and what stays: what a sweep would do, what to erase, holds, receipts |
//! | [`revision`], `timeline` | a moment as people name it, and where in history it is |
//! | [`export`] | texts taken out as they are: which, and what is said of each |
//! | [`past`], [`scan`], [`undo`] | what is found when history is looked at, or looked through for secrets; what an undo would do, and to what |
//! | `version`, `seal`, `aead` | header and padding; age; the cipher for small fixed things |
//! | `keyring` | the keys outside history, whose loss is erasure; `commitment`: what history says of them; `next`: how they change all at once |
//! | `sign`, [`recipients`], [`policy`] | who may write and what, who can open, what the owner decided |
//! | [`keyfile`] | the identity and signing key of a person or machine, as files; who is asked to unlock them |
//! | [`verify`] | proof that nothing was touched, or where something was |
//! | `repository`, `journal`, `disk` | git objects, packs and the ref; the commit point; the one way to touch a file, fsync and lock |
//! | `ahead` | what takes long and can be done before it is asked for |
//! | `pin`, [`note`] | what was seen of a store, kept outside it: by a user, for each place, and by an auditor |
//! | [`answer`], [`wire`], [`log`] | what goes out |
//!
//! # Example
//!
//! ```
//! use agekeep::command::Command;
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

mod aead;
mod ahead;
mod base64;
mod blame;
mod catalog;
mod digest;
mod disk;
mod edit;
mod journal;
mod keyring;
mod listing;
mod merge;
mod pin;
mod repository;
mod seal;
mod sign;
mod timeline;
mod version;

pub mod answer;
pub mod command;
pub mod diff;
pub mod error;
pub mod event;
pub mod export;
#[cfg(any(fuzzing, test))]
#[doc(hidden)]
pub mod fuzzing;
pub mod id;
pub mod keyfile;
pub mod log;
pub mod note;
pub mod past;
pub mod path;
pub mod policy;
pub mod recipients;
pub mod retention;
pub mod revision;
pub mod scan;
pub mod store;
pub mod undo;
pub mod verify;
pub mod wire;

pub use crate::digest::Digest;
pub use crate::repository::object::ObjectId;
pub use agekeep_redact as redact;
pub use agekeep_redact::Text;
