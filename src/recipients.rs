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
    members.iter().map(line_of).collect()
}

fn line_of(member: &Member) -> String {
    let (role, name) = (member.role.as_str(), &member.name);
    format!("{role} {name} {}\n", member.recipient)
}

/// Reads the file: lines as [`to_file`] writes them, to the byte.
pub(crate) fn parse(text: &str) -> Result<Vec<Member>, String> {
    text.split_inclusive('\n')
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
    let member = Member {
        role: Role::Reader,
        name: name.to_owned(),
        recipient: recipient.strip_suffix('\n')?.parse().ok()?,
    };
    (line_of(&member) == line).then_some(member)
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
            format!("reader owner {recipient}"),
            format!("reader owner {recipient}\r\n"),
            format!("reader owner {recipient}\n\n"),
            format!("reader owner {}\n", recipient.to_string().to_uppercase()),
        ] {
            assert!(parse(&bad).is_err(), "{bad}");
        }
    }
}
