//! Where the keyring is: in the store, where the policy says, or where the caller does.

use crate::error::{Error, MembershipFault, Result};
use crate::keyring::Keyring;
use crate::policy::Policy;

use super::Store;
use super::history::{Unclean, decided_at};

impl Store {
    /// A policy that says the keyring is elsewhere is followed once it is there.
    pub(super) fn check_place(&self, policy: &Policy) -> Result<()> {
        let folder = policy.keyring.folder_of(&self.root);
        if policy.keyring == self.policy().keyring {
            return Ok(());
        }
        if self.keyring.is_also_in(&folder) {
            // Whoever follows the policy removes the other copy.
            return Keyring::sync_copy(&folder);
        }
        Err(Error::Policy {
            line: None,
            why: format!(
                "it says that the keyring is in {}, and it is not: copy it there first",
                folder.display()
            ),
        })
    }

    /// Goes to where the keyring is by the newest policy, and has what an unclean stop left put in
    /// place there: before anything is read or written with it.
    pub(super) fn follow_keyring(&mut self, unclean: Option<&Unclean>) -> Result<()> {
        let mut place = self.policy().keyring.clone();
        if self.catalog.head != Some(self.journal.head()) {
            let blobs = decided_at(&self.repository, self.journal.head())?;
            if blobs.policy != self.decisions.blobs.policy {
                let (_, policy) = Policy::parse_file(&self.repository.public(blobs.policy)?)?;
                place = policy.keyring;
            }
        }
        let said = self.keyring_said.clone();
        let folder = said.unwrap_or_else(|| place.folder_of(&self.root));
        if let Some(unclean) = unclean {
            unclean.place_keyring(&folder)?;
        }
        if folder != self.keyring.folder() {
            self.keyring = self.keyring.reopened_in(&folder)?;
        }
        Ok(())
    }

    /// Refuses to record with one of two keyrings: what goes into one only is lost with it.
    pub(super) fn check_one_keyring(&self) -> Result<()> {
        let folder = self.policy().keyring.folder_of(&self.root);
        if self.keyring_said.is_none() || !self.keyring.is_another_in(&folder) {
            return Ok(());
        }
        Err(Error::Membership(MembershipFault::TwoKeyrings {
            said: self.keyring.folder().to_owned(),
            policy: folder,
        }))
    }
}
