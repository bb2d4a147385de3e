//! Public verbs on members, signers, the policy and keys. Adding a member re-encrypts the two small
//! keyring files; removing one rotates the keys for everything written from then on.

use std::path::Path;

use zeroize::Zeroizing;

use crate::crypto::recipients::{self, Member, Role};
use crate::crypto::seal::Recipient;
use crate::crypto::sign::{SignerRole, Validity, VerifyingKey};
use crate::error::{Error, MembershipFault, Result};
use crate::event::{
    ADD_MEMBER_COMMAND, Context, Moment, PathRef, PublicFile, REKEY_COMMAND, REMOVE_MEMBER_COMMAND,
};
use crate::id::MemoryId;
use crate::keyring::backup::{self, Audience};
use crate::memory_tool::path::MemoryPath;
use crate::policy::Policy;
use crate::store::answer::Meta;
use crate::store::config::{
    self, ConfigChange, PolicyChange, change_public_file, check_clear_name, check_permitted,
    require_reader,
};
use crate::store::history::read::{
    HistoryRead, erased, look_change, no_file_at, try_record_history_read,
};
use crate::store::keyring_location::move_keyring;
use crate::store::log::parse_path;
use crate::store::recovery::refresh;
use crate::store::rekey::{self, ProgressFn, Rekey, RekeyScope, Rekeyed, rotate};
use crate::store::signers::{self, Removed, Signer, check_role};
use crate::store::timeline::{newest_moment, timeline, with_contents, with_lock};
use crate::store::{State, Store, lock};

impl Store {
    /// Returns everybody who can open the store, as of the newest commit.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        &self.state.config.members
    }

    /// Adds a reader or an auditor. The cost does not depend on the number of memories.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an invalid name or recipient, [`MembershipFault::Already`] if either
    /// is a member's already; [`Error::NotAReader`] if the caller is not a reader; otherwise as for
    /// [`Store::execute`].
    pub fn add_member(
        &mut self,
        name: &str,
        role: Role,
        recipient: &Recipient,
        context: &Context,
    ) -> Result<Meta> {
        recipients::check_name(name).map_err(|why| Error::invalid("the name", why))?;
        let lock = lock(&mut self.ledger)?;
        refresh(self)?;
        check_clear_name(self, "the name", name)?;
        let mut members = self.state.config.members.clone();
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
        let decision = ConfigChange::new(ADD_MEMBER_COMMAND, Some(name));
        let (file, entry, head) = (
            PublicFile::Recipients,
            next.entry(),
            self.ledger.journal.head(),
        );
        let meta = change_public_file(self, decision, file, &text, Some(entry), context);
        let meta = meta.inspect_err(|_| {
            if self.ledger.journal.head() == head {
                next.abort();
            }
        })?;
        drop(lock);
        Ok(meta)
    }

    /// Removes a reader or an auditor, who can open nothing written from then on.
    ///
    /// For a reader, every live memory is re-encrypted to a fresh identity, and `progress` gets
    /// the number done and the total. If the call is interrupted, the same call continues where it
    /// stopped.
    ///
    /// # Errors
    /// [`MembershipFault::Nobody`], [`MembershipFault::LastReader`] or, for the
    /// caller, [`MembershipFault::Oneself`]; otherwise as for [`Store::add_member`].
    pub fn remove_member(
        &mut self,
        name: &str,
        context: &Context,
        progress: &mut ProgressFn<'_>,
    ) -> Result<Rekeyed> {
        rotate(
            self,
            ConfigChange::new(REMOVE_MEMBER_COMMAND, Some(name)),
            &|store| {
                let leaver = check_leaver(store, name)?;
                let mut members = store.state.config.members.clone();
                members.retain(|member| member.name != name);
                Ok(Rekey {
                    members,
                    scope: match leaver.role {
                        Role::Auditor => RekeyScope::Audit,
                        Role::Reader => RekeyScope::All,
                    },
                })
            },
            context,
            progress,
        )
    }

    /// Rotates the keys for everything that follows, and re-encrypts every live memory to a
    /// fresh identity.
    ///
    /// # Errors
    /// As for [`Store::remove_member`].
    pub fn rekey(&mut self, context: &Context, progress: &mut ProgressFn<'_>) -> Result<Rekeyed> {
        rotate(
            self,
            ConfigChange::new(REKEY_COMMAND, None),
            &|store| {
                Ok(Rekey {
                    members: store.state.config.members.clone(),
                    scope: RekeyScope::All,
                })
            },
            context,
            progress,
        )
    }

    /// Replaces the policy, as an event of its own: for the owner, never for an agent. If the new
    /// policy does not name the keyring's place, that stays as it is.
    ///
    /// # Errors
    /// [`Error::Policy`] if it is not valid, [`Error::Invalid`] if it holds a secret; otherwise as
    /// for [`Store::execute`].
    pub fn set_policy(&mut self, policy: &Policy, context: &Context) -> Result<Meta> {
        config::set_policy(self, policy, context)
    }

    /// Changes the policy in force, as [`Store::set_policy`] does; nobody else can change it
    /// meanwhile. If the result is the same, nothing is recorded.
    ///
    /// # Errors
    /// The error of `change`; otherwise as for [`Store::set_policy`].
    pub fn change_policy(
        &mut self,
        change: impl FnOnce(&Policy) -> Result<Policy>,
        context: &Context,
    ) -> Result<PolicyChange> {
        config::change_policy(self, change, context)
    }

    /// Finds the memory at a path now, or by its id, and its path. Not recorded, as it does not
    /// show the memory's text.
    ///
    /// # Errors
    /// [`Error::NotThere`] if there is none; otherwise as for [`Store::moment`].
    pub fn find_memory(&mut self, memory: &str) -> Result<(MemoryId, MemoryPath)> {
        let wanted = MemorySelector::parse(&self.state, memory)?;
        with_lock(self, |store| {
            let found = match &wanted {
                MemorySelector::Id(id) => store.state.catalog.memory(*id),
                MemorySelector::Path(path) => store.state.catalog.at(path),
            };
            let found = found.map(|memory| (memory.id, memory.path.clone()));
            found.ok_or_else(|| Error::NotThere {
                path: memory.to_owned(),
                when: "now".into(),
                hint: "`agekeep view --raw` lists every path, and `agekeep log` with a path shows its history"
                    .into(),
            })
        })
    }

    /// Returns a backup of the keyring, encrypted to all of an audience, and the moment whose keys it
    /// has.
    /// Without the history it opens nothing, and [`remote::clone`](crate::remote::clone) puts it in
    /// place. It is no event, and an erasure does not reach it.
    ///
    /// # Errors
    /// [`Error::NotAReader`], [`MembershipFault::Nobody`] if nobody is an auditor, [`Error::TooLong`]
    /// above 1 GiB, [`Error::Key`] if a recipient's plugin fails.
    pub fn backup_keys(&mut self, audience: Audience) -> Result<(Vec<u8>, Moment)> {
        let lock = lock(&mut self.ledger)?;
        refresh(self)?;
        require_reader(&self.ledger)?;
        let role = match audience {
            Audience::Readers => Role::Reader,
            Audience::Auditors => Role::Auditor,
        };
        let of_role = self.members().iter().filter(|member| member.role == role);
        let recipients: Vec<Recipient> = of_role.map(|member| member.recipient.clone()).collect();
        if recipients.is_empty() {
            return Err(Error::Membership(MembershipFault::Nobody { name: None }));
        }
        let (store, moment) = self.last_seen();
        let (keyring, end) = (&self.ledger.keyring, (moment.event, moment.commit));
        let whose = (audience, &recipients[..]);
        let bytes = backup::make(keyring.folder(), store, end, whose, keyring.unlock())?;
        drop(lock);
        Ok((bytes, moment))
    }

    /// Moves the keyring of this machine to another folder, outside the store or back into it, for
    /// example onto a disk with backups of its own. A folder that already has it is only noted. Nothing is
    /// recorded: other machines have theirs where they want.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a folder that is in the store or around it, [`Error::NotEmpty`] if something
    /// else is there, [`Error::Io`] if files cannot be copied or removed. The keyring is then where it was;
    /// a copy that is left is overwritten by the next call with the same folder.
    pub fn move_keyring(&mut self, to: &Path) -> Result<()> {
        move_keyring(self, to)
    }

    /// Exports the identities of a memory: of the one at a path now, or, by its id, of any that has
    /// a key. The export is recorded before they are returned.
    ///
    /// # Errors
    /// [`Error::NotThere`] if there is none, [`Error::MissingKey`] if its key is gone; otherwise as
    /// for [`Store::rekey`].
    pub fn export_keys(&mut self, memory: &str, context: &Context) -> Result<ExportedKeys> {
        let wanted = MemorySelector::parse(&self.state, memory)?;
        with_contents(self, |store| record_key_export(store, &wanted, context))
    }

    /// Re-encrypts the live memories that a glob matches to fresh identities; all others keep their
    /// keys.
    ///
    /// # Errors
    /// [`Error::Policy`] for a glob that does not parse, [`Error::NotThere`] if it matches no
    /// memory; otherwise as for [`Store::rekey`].
    pub fn rekey_some(
        &mut self,
        glob: &str,
        context: &Context,
        progress: &mut ProgressFn<'_>,
    ) -> Result<Rekeyed> {
        rekey::rekey_some(self, glob, context, progress)
    }

    /// Returns everybody who may write, in the order of the file `signers`.
    #[must_use]
    pub fn signer_list(&self) -> Vec<Signer> {
        signers::signers_in(&self.state.config.signers)
    }

    /// Adds a signer with a role, as an event of its own. They may write from the next event on.
    ///
    /// # Errors
    /// [`SigningFault::Exists`](crate::error::SigningFault::Exists) if the name or the key is a
    /// signer's already, [`Error::Invalid`] if the name is not valid or the key has expired;
    /// otherwise as for [`Store::execute`].
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

    /// Changes a signer's role, as an event of its own, from the next event on. Their earlier
    /// commits stay valid.
    ///
    /// # Errors
    /// [`SigningFault::NoSuch`](crate::error::SigningFault::NoSuch) if nobody has the name,
    /// [`SigningFault::Exists`](crate::error::SigningFault::Exists) if they have the role already,
    /// [`SigningFault::Last`](crate::error::SigningFault::Last) if no owner would be left;
    /// otherwise as for [`Store::execute`].
    pub fn set_signer_role(
        &mut self,
        name: &str,
        role: SignerRole,
        context: &Context,
    ) -> Result<(Signer, Meta)> {
        signers::set_signer_role(self, name, role, context)
    }

    /// Removes a signer, as an event of its own. Their earlier commits stay valid.
    ///
    /// # Errors
    /// [`SigningFault::NoSuch`](crate::error::SigningFault::NoSuch) if nobody has the name,
    /// [`SigningFault::Last`](crate::error::SigningFault::Last) if no owner would be left;
    /// otherwise as for [`Store::execute`].
    pub fn remove_signer(&mut self, name: &str, context: &Context) -> Result<Removed> {
        signers::remove_signer(self, name, context)
    }
}

/// Returns the member with a name, if they can be removed.
fn check_leaver(store: &Store, name: &str) -> Result<Member> {
    let members = &store.state.config.members;
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

// Export of a memory's own identities, for recovery with stock age.

/// The identities of one memory, which open every version of it.
#[non_exhaustive]
pub struct ExportedKeys {
    /// The memory.
    pub id: MemoryId,
    /// Its newest path.
    pub path: Option<MemoryPath>,
    /// Its identities as an age identity file, the newest first.
    pub identities: Zeroizing<String>,
    /// The event that records the export.
    pub event: u64,
}

/// The command of an event that exports keys.
const COMMAND: &str = "keys_export";

fn record_key_export(
    store: &mut Store,
    wanted: &MemorySelector,
    context: &Context,
) -> Result<ExportedKeys> {
    check_role(store, COMMAND)?;
    let moment = newest_moment(&store.state);
    let newest = moment.event;
    let version = match wanted {
        MemorySelector::Id(id) => timeline(&store.state).versions(*id, newest).next_back(),
        MemorySelector::Path(path) => timeline(&store.state).at(path, newest),
    };
    let version = version.ok_or_else(|| match wanted {
        MemorySelector::Id(id) => Error::MissingKey {
            memory: id.to_string(),
        },
        MemorySelector::Path(path) => no_file_at(path, moment, timeline(&store.state)),
    })?;
    if let Some(event) = timeline(&store.state).erased_by(version.id) {
        return Err(erased(version.id, event));
    }
    let keys = store.ledger.keyring.memory_keys(version.id)?;
    let look = HistoryRead {
        command: COMMAND,
        path: version
            .path
            .clone()
            .map(|path| PathRef::Of(version.id, Some(path))),
        at: Vec::new(),
        touches: vec![look_change(&version)],
    };
    let event = try_record_history_read(store, look, context)?;
    let mut identities = Zeroizing::new(String::with_capacity(100 * keys.len()));
    for key in &keys {
        identities.push_str(&key.to_text());
        identities.push('\n');
    }
    Ok(ExportedKeys {
        id: version.id,
        path: version.path,
        identities,
        event,
    })
}

/// The name of a memory: its id or its path.
enum MemorySelector {
    Id(MemoryId),
    Path(MemoryPath),
}

impl MemorySelector {
    fn parse(state: &State, text: &str) -> Result<Self> {
        match MemoryId::from_hex(text) {
            Some(id) => Ok(Self::Id(id)),
            None => parse_path(state, text).map(Self::Path),
        }
    }
}
