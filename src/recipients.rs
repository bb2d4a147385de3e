//! The `recipients` file: who can open the store, each with a role and a name.
//!
//! One line each: `reader owner age1…`.

use crate::seal::Recipient;

/// What a recipient can open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// Content and audit records.
    Reader,
}

impl Role {
    /// The word in the file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reader => "reader",
        }
    }
}

/// Somebody who can open the store.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Member {
    /// What they can open.
    pub role: Role,
    /// A name without spaces.
    pub name: String,
    /// Their public age key.
    pub recipient: Recipient,
}

/// Writes the file.
pub(crate) fn to_file(members: &[Member]) -> String {
    let line = |m: &Member| format!("{} {} {}\n", m.role.as_str(), m.name, m.recipient);
    members.iter().map(line).collect()
}

/// Reads the file.
pub(crate) fn parse(text: &str) -> Result<Vec<Member>, String> {
    text.lines()
        .enumerate()
        .map(|(index, line)| {
            member(line).ok_or_else(|| format!("line {} is not a recipient", index + 1))
        })
        .collect()
}

fn member(line: &str) -> Option<Member> {
    let mut words = line.split(' ');
    let (role, name, recipient) = (words.next()?, words.next()?, words.next()?);
    if role != Role::Reader.as_str() || name.is_empty() || words.next().is_some() {
        return None;
    }
    Some(Member {
        role: Role::Reader,
        name: name.to_owned(),
        recipient: recipient.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seal::Identity;

    #[test]
    fn strict_lines() {
        let recipient = Identity::generate().recipient();
        let members = vec![Member {
            role: Role::Reader,
            name: "owner".into(),
            recipient: recipient.clone(),
        }];
        assert_eq!(parse(&to_file(&members)), Ok(members));
        for bad in [
            format!("{recipient}\n"),
            format!("reader {recipient}\n"),
            format!("admin owner {recipient}\n"),
            format!("reader owner {recipient} more\n"),
            "reader owner age1nonsense\n".into(),
            "\n".into(),
        ] {
            assert!(parse(&bad).is_err(), "{bad}");
        }
    }
}
