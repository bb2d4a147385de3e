//! Who can open the store: adding a member seals the two small keyring files anew, removing one
//! gives everything that comes next new keys.

use crate::crypto::recipients::{self, Member, Role};
use crate::crypto::seal::Recipient;
use crate::error::{Error, MembershipFault, Result};
use crate::event::{ADD_MEMBER_COMMAND, Context, PublicFile, REKEY_COMMAND, REMOVE_MEMBER_COMMAND};
use crate::store::answer::Meta;

use super::Store;
use super::decide::Decision;
use super::reseal::{Progress, Rekey, Rekeyed, Scope};

impl Store {
    /// Everybody who can open the store, as the newest commit says.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        &self.decisions.members
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
        let lock = self.lock()?;
        self.refresh()?;
        self.check_clear_name("the name", name)?;
        let mut members = self.decisions.members.clone();
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
        self.may_record(ADD_MEMBER_COMMAND)?;
        let next = self.keyring.prepare_wrap(&members)?;
        let text = recipients::to_file(&members);
        let decision = Decision {
            command: ADD_MEMBER_COMMAND,
            member: Some(name),
            file: None,
        };
        let (file, entry, head) = (PublicFile::Recipients, next.entry(), self.journal.head());
        let meta = self.decide(decision, file, &text, Some(entry), context);
        let meta = meta.inspect_err(|_| {
            if self.journal.head() == head {
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
        self.rotate(
            Decision {
                command: REMOVE_MEMBER_COMMAND,
                member: Some(name),
                file: None,
            },
            &|store| {
                let leaver = store.check_leaver(name)?;
                let mut members = store.decisions.members.clone();
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

    /// The member of a name, if they can be removed.
    fn check_leaver(&self, name: &str) -> Result<Member> {
        let members = &self.decisions.members;
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
        if self.keyring.is_of(&leaver.recipient) {
            return Err(Error::Membership(MembershipFault::Oneself {
                name: name.into(),
            }));
        }
        Ok(leaver.clone())
    }

    /// Gives everything that comes next new keys, and seals every live memory to a fresh identity.
    ///
    /// # Errors
    /// As for [`Store::remove_member`].
    pub fn rekey(&mut self, context: &Context, progress: &mut Progress<'_>) -> Result<Rekeyed> {
        self.rotate(
            Decision {
                command: REKEY_COMMAND,
                ..Decision::default()
            },
            &|store| {
                Ok(Rekey {
                    members: store.decisions.members.clone(),
                    scope: Scope::All,
                })
            },
            context,
            progress,
        )
    }
}
