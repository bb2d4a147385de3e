//! Who can open the store: adding a member seals the two small keyring files anew, removing one
//! gives everything that comes next new keys.

use zeroize::Zeroizing;

use crate::crypto::recipients;
use crate::crypto::recipients::{Member, Role};
use crate::crypto::seal::Recipient;
use crate::crypto::sign::{SignerRole, Validity, VerifyingKey};
use crate::error::{Error, MembershipFault, Result};
use crate::event::{
    ADD_MEMBER_COMMAND, Context, Place, PublicFile, REKEY_COMMAND, REMOVE_MEMBER_COMMAND,
};
use crate::id::MemoryId;
use crate::memory_tool::path::MemoryPath;
use crate::policy::Policy;
use crate::store::answer::Meta;
use crate::store::decide::{Decision, PolicyChange, check_clear_name, check_permitted, decide};
use crate::store::history::refresh;
use crate::store::log::parse_path;
use crate::store::past::{
    Look, erased, in_contents, looked_at, no_file_at, timeline, try_record_look,
};
use crate::store::reseal::{Progress, Rekey, Rekeyed, Scope, rotate};
use crate::store::signers::{Removed, Signer, check_role};
use crate::store::{Store, decide, lock, reseal, signers};

impl Store {
    /// Everybody who can open the store, as the newest commit says.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        &self.state.decisions.members
    }

    /// Adds a reader or an auditor. The cost does not depend on how many memories there are.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a name or a recipient that cannot be one, [`MembershipFault::Already`] if
    /// the name or the recipient is there; [`Error::NotAReader`] if the caller is none; otherwise as
    /// for [`Store::execute`].
    pub fn add_member(
        &mut self,
        name: &str,
        role: Role,
        recipient: &Recipient,
        context: &Context,
    ) -> Result<Meta> {
        recipients::check_name(name).map_err(|why| Error::Invalid {
            what: "the name",
            why: why.into(),
        })?;
        let lock = lock(&mut self.ledger)?;
        refresh(self)?;
        check_clear_name(self, "the name", name)?;
        let mut members = self.state.decisions.members.clone();
        let same = |other: &&Member| other.name == name || other.recipient == *recipient;
        if let Some(other) = members.iter().find(same) {
            return Err(Error::Membership(MembershipFault::Already {
                name: other.name.clone(),
                role: other.role.as_str(),
            }));
        }
        members.push(Member {
            role,
            name: name.to_owned(),
            recipient: recipient.clone(),
        });
        check_permitted(self, ADD_MEMBER_COMMAND)?;
        let next = self.ledger.keyring.prepare_wrap(&members)?;
        let text = recipients::to_file(&members);
        let decision = Decision {
            command: ADD_MEMBER_COMMAND,
            member: Some(name),
            file: None,
        };
        let (file, entry, head) = (
            PublicFile::Recipients,
            next.entry(),
            self.ledger.journal.head(),
        );
        let meta = decide(self, decision, file, &text, Some(entry), context);
        let meta = meta.inspect_err(|_| {
            if self.ledger.journal.head() == head {
                next.give_up();
            }
        })?;
        drop(lock);
        Ok(meta)
    }

    /// Removes a reader or an auditor: whatever comes next is closed to them.
    ///
    /// For a reader every live memory is sealed anew, to a fresh identity; `progress` is told how
    /// many are done, and of how many. Cut off, the same call goes on where it was.
    ///
    /// # Errors
    /// [`MembershipFault::Nobody`], [`MembershipFault::LastReader`] or, for the
    /// caller, [`MembershipFault::Oneself`]; otherwise as for [`Store::add_member`].
    pub fn remove_member(
        &mut self,
        name: &str,
        context: &Context,
        progress: &mut Progress<'_>,
    ) -> Result<Rekeyed> {
        rotate(
            self,
            Decision {
                command: REMOVE_MEMBER_COMMAND,
                member: Some(name),
                file: None,
            },
            &|store| {
                let leaver = check_leaver(store, name)?;
                let mut members = store.state.decisions.members.clone();
                members.retain(|member| member.name != name);
                Ok(Rekey {
                    members,
                    scope: match leaver.role {
                        Role::Auditor => Scope::Audit,
                        Role::Reader => Scope::All,
                    },
                })
            },
            context,
            progress,
        )
    }

    /// Gives everything that comes next new keys, and seals every live memory to a fresh identity.
    ///
    /// # Errors
    /// As for [`Store::remove_member`].
    pub fn rekey(&mut self, context: &Context, progress: &mut Progress<'_>) -> Result<Rekeyed> {
        rotate(
            self,
            Decision {
                command: REKEY_COMMAND,
                ..Decision::default()
            },
            &|store| {
                Ok(Rekey {
                    members: store.state.decisions.members.clone(),
                    scope: Scope::All,
                })
            },
            context,
            progress,
        )
    }

    /// Puts another policy in place, as an event of its own: for the owner, never for an agent. Where
    /// it does not say where the keyring is, that stays as it is.
    ///
    /// # Errors
    /// [`Error::Policy`] if it cannot be followed, [`Error::Invalid`] if a secret stands in it;
    /// otherwise as for [`Store::execute`].
    pub fn set_policy(&mut self, policy: &Policy, context: &Context) -> Result<Meta> {
        decide::set_policy(self, policy, context)
    }

    /// Makes another policy of the one in force, which nobody else changes meanwhile, as
    /// [`Store::set_policy`] does. Where it comes out the same, nothing is recorded.
    ///
    /// # Errors
    /// That of `change`; otherwise as for [`Store::set_policy`].
    pub fn change_policy(
        &mut self,
        change: impl FnOnce(&Policy) -> Result<Policy>,
        context: &Context,
    ) -> Result<PolicyChange> {
        decide::change_policy(self, change, context)
    }

    /// The memory at a path now, or the one with an id, and where it is. Nothing is recorded: it is
    /// no look at what the memory holds.
    ///
    /// # Errors
    /// [`Error::NotThere`] if there is none; otherwise as for [`Store::moment`].
    pub fn find_memory(&mut self, memory: &str) -> Result<(MemoryId, MemoryPath)> {
        decide::find_memory(self, memory)
    }

    /// The identities of a memory: of the one at a path now, or, with an id, of any that has a key.
    /// It is recorded, and nothing is handed out that is not.
    ///
    /// # Errors
    /// [`Error::NotThere`] if there is none, [`Error::MissingKey`] if its key is gone; otherwise as
    /// for [`Store::rekey`].
    pub fn export_keys(&mut self, memory: &str, context: &Context) -> Result<Exported> {
        export_keys(self, memory, context)
    }

    /// Seals the live memories a glob fits to fresh identities; all else keeps its keys.
    ///
    /// # Errors
    /// [`Error::Policy`] for a glob that does not parse, [`Error::NotThere`] if it fits no memory;
    /// otherwise as for [`Store::rekey`].
    pub fn rekey_some(
        &mut self,
        glob: &str,
        context: &Context,
        progress: &mut Progress<'_>,
    ) -> Result<Rekeyed> {
        reseal::rekey_some(self, glob, context, progress)
    }

    /// Everybody who may write, in the order of the file `signers`.
    #[must_use]
    pub fn signer_list(&self) -> Vec<Signer> {
        signers::signer_list(&self.state)
    }

    /// Lets somebody write what a role allows, as an event of its own: from the next event on.
    ///
    /// # Errors
    /// [`SigningFault::Exists`](crate::error::SigningFault::Exists) if the name or the key is a signer's, [`Error::Invalid`] if the name
    /// cannot be one or the time of the key is over; otherwise as for [`Store::execute`].
    pub fn add_signer(
        &mut self,
        name: &str,
        key: &VerifyingKey,
        role: SignerRole,
        validity: Validity,
        context: &Context,
    ) -> Result<(Signer, Meta)> {
        signers::add_signer(self, name, key, role, validity, context)
    }

    /// Gives a signer another role, as an event of its own: from the next event on. What they wrote
    /// before stays valid.
    ///
    /// # Errors
    /// [`SigningFault::NoSuch`](crate::error::SigningFault::NoSuch) if nobody has the name, [`SigningFault::Exists`](crate::error::SigningFault::Exists) if it is their role
    /// already, [`SigningFault::Last`](crate::error::SigningFault::Last) if no owner was left; otherwise as for [`Store::execute`].
    #[allow(clippy::missing_panics_doc)] // never: the expectation says why
    pub fn set_signer_role(
        &mut self,
        name: &str,
        role: SignerRole,
        context: &Context,
    ) -> Result<(Signer, Meta)> {
        signers::set_signer_role(self, name, role, context)
    }

    /// Lets somebody write no more, as an event of its own. What they wrote before stays valid.
    ///
    /// # Errors
    /// [`SigningFault::NoSuch`](crate::error::SigningFault::NoSuch) if nobody has the name, [`SigningFault::Last`](crate::error::SigningFault::Last) if no owner was left;
    /// otherwise as for [`Store::execute`].
    pub fn remove_signer(&mut self, name: &str, context: &Context) -> Result<Removed> {
        signers::remove_signer(self, name, context)
    }
}

/// The member of a name, if they can be removed.
fn check_leaver(store: &Store, name: &str) -> Result<Member> {
    let members = &store.state.decisions.members;
    let found = members.iter().find(|member| member.name == name);
    let leaver = found.ok_or_else(|| {
        Error::Membership(MembershipFault::Nobody {
            name: recipients::check_name(name)
                .is_ok()
                .then(|| name.to_owned()),
        })
    })?;
    let others = members.iter().filter(|member| member.name != name);
    if others.filter(|member| member.role == Role::Reader).count() == 0 {
        return Err(Error::Membership(MembershipFault::LastReader {
            name: name.into(),
        }));
    }
    if store.ledger.keyring.is_of(&leaver.recipient) {
        return Err(Error::Membership(MembershipFault::Oneself {
            name: name.into(),
        }));
    }
    Ok(leaver.clone())
}

// A memory's own identities, for recovery with stock age.

/// What opens every version of one memory.
#[non_exhaustive]
pub struct Exported {
    /// The memory.
    pub id: MemoryId,
    /// Its newest path.
    pub path: Option<MemoryPath>,
    /// Its identities as an age identity file, the newest first.
    pub identities: Zeroizing<String>,
    /// The event that records that they were taken.
    pub event: u64,
}

/// The command of an event that says who took keys out.
const COMMAND: &str = "keys_export";

/// See [`Store::export_keys`].
pub(super) fn export_keys(store: &mut Store, memory: &str, context: &Context) -> Result<Exported> {
    let wanted = match MemoryId::from_hex(memory) {
        Some(id) => Wanted::Id(id),
        None => Wanted::Path(parse_path(&store.state, memory)?),
    };
    in_contents(store, |store| hand_out(store, &wanted, context))
}

fn hand_out(store: &mut Store, wanted: &Wanted, context: &Context) -> Result<Exported> {
    check_role(store, COMMAND)?;
    let newest = timeline(&store.state).len() - 1;
    let moment = timeline(&store.state)
        .moment(newest)
        .expect("the newest event");
    let version = match wanted {
        Wanted::Id(id) => timeline(&store.state).versions(*id, newest).next_back(),
        Wanted::Path(path) => timeline(&store.state).at(path, newest),
    };
    let version = version.ok_or_else(|| match wanted {
        Wanted::Id(id) => Error::MissingKey {
            memory: id.to_string(),
        },
        Wanted::Path(path) => no_file_at(path, moment, timeline(&store.state)),
    })?;
    if let Some(event) = timeline(&store.state).erased_by(version.id) {
        return Err(erased(version.id, event));
    }
    let keys = store.ledger.keyring.memory_keys(version.id)?;
    let look = Look {
        command: COMMAND,
        path: version
            .path
            .clone()
            .map(|path| Place::Of(version.id, Some(path))),
        at: Vec::new(),
        touches: vec![looked_at(&version)],
    };
    let event = try_record_look(store, look, context)?;
    let mut identities = Zeroizing::new(String::with_capacity(100 * keys.len()));
    for key in &keys {
        identities.push_str(&key.to_text());
        identities.push('\n');
    }
    Ok(Exported {
        id: version.id,
        path: version.path,
        identities,
        event,
    })
}

/// How a memory is named.
enum Wanted {
    Id(MemoryId),
    Path(MemoryPath),
}
