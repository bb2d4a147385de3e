//! The `recipients` file: the members who can open the store, each with a role and a name.
//!
//! One line for each member: `reader owner age1…`.

use std::str::FromStr;

use crate::crypto::seal::Recipient;

/// The permission of a recipient.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// Content and audit records.
    Reader,
    /// Audit records only: who did what, when, to which path.
    Auditor,
}

impl Role {
    /// Returns the word in the file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reader => "reader",
            Self::Auditor => "auditor",
        }
    }
}

impl FromStr for Role {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [Self::Reader, Self::Auditor]
            .into_iter()
            .find(|role| role.as_str() == text)
            .ok_or("a role is `reader` or `auditor`")
    }
}

/// A member: a person or machine that can open the store.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Member {
    /// The member's role.
    pub role: Role,
    /// The name: 1 to 64 of `A-Za-z0-9._-@`, a letter or digit first.
    pub name: String,
    /// The public age key.
    pub recipient: Recipient,
}

/// Verifies that a text can be a member's name. The rules are those for signers, and a secret is
/// refused.
pub(crate) fn check_name(text: &str) -> Result<(), &'static str> {
    // The file is public and stays in history, so a misplaced secret must not get into it.
    if crate::crypto::sign::is_secret(text) {
        return Err("it is a secret");
    }
    crate::crypto::sign::check_name(text)
}

/// Lists the recipients of `epoch.age`.
pub(crate) fn readers(members: &[Member]) -> Vec<Recipient> {
    let readers = members.iter().filter(|member| member.role == Role::Reader);
    readers.map(|member| member.recipient.clone()).collect()
}

/// Lists the recipients of `audit.age`.
pub(crate) fn everyone(members: &[Member]) -> Vec<Recipient> {
    members
        .iter()
        .map(|member| member.recipient.clone())
        .collect()
}

/// Returns the role of the holder of these keys; reader, if several roles match.
pub(crate) fn role_of(members: &[Member], keys: &[Recipient]) -> Option<Role> {
    let own = members
        .iter()
        .filter(|member| keys.contains(&member.recipient));
    own.map(|member| member.role)
        .min_by_key(|role| *role != Role::Reader)
}

/// Formats the file.
pub(crate) fn to_file(members: &[Member]) -> String {
    members.iter().map(line_of).collect()
}

fn line_of(member: &Member) -> String {
    let (role, name) = (member.role.as_str(), &member.name);
    format!("{role} {name} {}\n", member.recipient)
}

/// Parses the file: lines exactly as [`to_file`] writes them; every name and every recipient once,
/// and at least one reader.
pub(crate) fn parse(text: &str) -> Result<Vec<Member>, String> {
    let mut members: Vec<Member> = Vec::new();
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let member =
            member(line).ok_or_else(|| format!("line {} is not a recipient", index + 1))?;
        let same =
            |other: &Member| other.name == member.name || other.recipient == member.recipient;
        if members.iter().any(same) {
            return Err(format!("line {} names somebody again", index + 1));
        }
        members.push(member);
    }
    if members.iter().all(|member| member.role != Role::Reader) {
        return Err("it names no reader".into());
    }
    Ok(members)
}

fn member(line: &str) -> Option<Member> {
    let (role, rest) = line.split_once(' ')?;
    let (name, recipient) = rest.split_once(' ')?;
    let member = Member {
        role: role.parse().ok()?,
        name: Some(name)
            .filter(|name| check_name(name).is_ok())?
            .to_owned(),
        recipient: recipient.strip_suffix('\n')?.parse().ok()?,
    };
    (line_of(&member) == line).then_some(member)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crypto::seal::Identity;

    #[test]
    fn a_member_with_several_keys_has_the_role_of_a_reader() {
        let recipient = || Identity::generate().recipient().expect("X25519");
        let member = |role, name: &str| Member {
            role,
            name: name.into(),
            recipient: recipient(),
        };
        let members = [member(Role::Auditor, "eve"), member(Role::Reader, "ana")];
        let keys = members.each_ref().map(|member| member.recipient.clone());
        assert_eq!(role_of(&members, &keys), Some(Role::Reader));
        assert_eq!(role_of(&members, &keys[..1]), Some(Role::Auditor));
        assert_eq!(role_of(&members, &keys[1..]), Some(Role::Reader));
        assert_eq!(role_of(&members, &[recipient()]), None);
        assert_eq!(readers(&members), keys[1..]);
        assert_eq!(everyone(&members), keys);
    }

    #[test]
    fn strict_lines() {
        let recipient = Identity::generate().recipient().expect("X25519");
        let members = vec![Member {
            role: Role::Reader,
            name: "owner".into(),
            recipient: recipient.clone(),
        }];
        let mut members = members;
        assert_eq!(parse(&to_file(&members)), Ok(members.clone()));
        members.push(Member {
            role: Role::Auditor,
            name: "eve".into(),
            recipient: Identity::generate().recipient().expect("X25519"),
        });
        assert_eq!(parse(&to_file(&members)), Ok(members.clone()));
        members[1].name = "owner".into();
        assert!(parse(&to_file(&members)).is_err(), "a name twice");
        for bad in [
            format!("{recipient}\n"),
            format!("reader {recipient}\n"),
            format!("admin owner {recipient}\n"),
            format!("reader owner {recipient} more\n"),
            "reader owner age1nonsense\n".into(),
            String::new(),
            format!("auditor owner {recipient}\n"),
            format!("reader owner {recipient}\nreader other {recipient}\n"),
            format!("reader o\twner {recipient}\n"),
            format!("reader {} {recipient}\n", "o".repeat(101)),
            "\n".into(),
            format!("reader owner {recipient}"),
            format!("reader owner {recipient}\r\n"),
            format!("reader owner {recipient}\n\n"),
            format!("reader owner {}\n", recipient.to_string().to_uppercase()),
        ] {
            assert!(parse(&bad).is_err(), "{bad}");
        }
    }
}
