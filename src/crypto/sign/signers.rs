//! The `signers` file: who may write, what and when, in OpenSSH's `allowed_signers` format
//! (ssh-keygen(1)).

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, NaiveDateTime, SecondsFormat, Utc};
use ssh_key::{Algorithm, PublicKey};

use crate::crypto::sign::{NAMESPACE, SignedBy, SigningKey, VerifyingKey, bare, public_line};

/// Longest name of a signer, in characters.
pub(crate) const NAME_CHARACTERS_MAX: usize = 64;

/// The time format in a line: `YYYYMMDDHHMMSSZ`. OpenSSH reads the `Z` since 9.1; an older one
/// takes the line for damaged and trusts nobody in it. Without the `Z` the time would depend on the
/// time zone.
const TIME: &str = "%Y%m%d%H%M%SZ";

/// The permission of a signer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignerRole {
    /// Every command.
    Owner,
    /// The commands of agents, reading, undoing, and exports.
    Writer,
    /// Sweeps, erasures, adding holds, and reading.
    Sweeper,
    /// Reading only.
    Auditor,
}

impl SignerRole {
    /// All roles.
    pub const ALL: [Self; 4] = [Self::Owner, Self::Writer, Self::Sweeper, Self::Auditor];

    /// Returns the word in the file `signers`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Writer => "writer",
            Self::Sweeper => "sweeper",
            Self::Auditor => "auditor",
        }
    }
}

impl fmt::Display for SignerRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for SignerRole {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut all = Self::ALL.into_iter();
        all.find(|role| role.as_str() == text)
            .ok_or("a role is `owner`, `writer`, `sweeper` or `auditor`")
    }
}

/// The validity period of a key, in whole seconds, both ends included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Validity {
    after: Option<DateTime<Utc>>,
    before: Option<DateTime<Utc>>,
}

/// The reasons why a key may not sign at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Untimely {
    /// Its validity begins then.
    NotYet(DateTime<Utc>),
    /// Its validity ended then.
    Over(DateTime<Utc>),
}

impl Validity {
    /// Makes a period from `after` to `before`, cut to whole seconds; `None` is no limit.
    ///
    /// # Errors
    /// Returns an error if the format cannot express a time, or if the end is not after the
    /// beginning.
    pub fn new(
        after: Option<DateTime<Utc>>,
        before: Option<DateTime<Utc>>,
    ) -> Result<Self, String> {
        let second = |time: DateTime<Utc>| {
            let bounds = 1..=253_402_300_799; // the first second of OpenSSH's, the last of 9999
            let second = Some(time.timestamp()).filter(|second| bounds.contains(second));
            second
                .and_then(|second| DateTime::from_timestamp(second, 0))
                .ok_or_else(|| "a time is outside the years 1970 to 9999".to_owned())
        };
        let after = after.map(second).transpose()?;
        let before = before.map(second).transpose()?;
        if let (Some(after), Some(before)) = (after, before)
            && before <= after
        {
            return Err("it would end before it begins".into());
        }
        Ok(Self { after, before })
    }

    /// Returns the beginning.
    #[must_use]
    pub fn after(&self) -> Option<DateTime<Utc>> {
        self.after
    }

    /// Returns the end.
    #[must_use]
    pub fn before(&self) -> Option<DateTime<Utc>> {
        self.before
    }

    /// Verifies a time, to the second, as git and ssh-keygen do. The validity must also not have
    /// ended at `earlier`, the time of the event before: turning the clock back must not reopen it.
    pub(crate) fn check(
        &self,
        time: DateTime<Utc>,
        earlier: Option<DateTime<Utc>>,
    ) -> Result<(), Untimely> {
        let latest = earlier
            .map_or(time, |earlier| earlier.max(time))
            .timestamp();
        match (self.after, self.before) {
            (Some(after), _) if time < after => Err(Untimely::NotYet(after)),
            (_, Some(before)) if latest > before.timestamp() => Err(Untimely::Over(before)),
            _ => Ok(()),
        }
    }

    /// Formats the options of a line, each with a leading comma.
    fn options(&self) -> String {
        let option = |name: &str, time: Option<DateTime<Utc>>| {
            time.map(|time| format!(",{name}=\"{}\"", time.format(TIME)))
                .unwrap_or_default()
        };
        option("valid-after", self.after) + &option("valid-before", self.before)
    }

    fn parse(options: &str) -> Option<Self> {
        let (mut after, mut before) = (None, None);
        for option in options.split(',').skip(1) {
            let (name, time) = option.split_once('=')?;
            let time = time.strip_prefix('"')?.strip_suffix('"')?;
            let time = NaiveDateTime::parse_from_str(time, TIME).ok()?.and_utc();
            match name {
                "valid-after" => after = Some(time),
                "valid-before" => before = Some(time),
                _ => return None,
            }
        }
        Self::new(after, before).ok()
    }
}

impl fmt::Display for Untimely {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (words, time) = match self {
            Self::NotYet(after) => ("is valid from", after),
            Self::Over(before) => ("was valid until", before),
        };
        write!(
            f,
            "{words} {}",
            time.to_rfc3339_opts(SecondsFormat::Secs, true)
        )
    }
}

/// A signer: a line of the file.
#[derive(Clone)]
pub(crate) struct SignerEntry {
    name: String,
    key: PublicKey,
    validity: Validity,
    /// `None` in a line older than roles.
    role: Option<SignerRole>,
}

impl SignerEntry {
    pub(crate) fn new(
        name: &str,
        key: &VerifyingKey,
        role: SignerRole,
        validity: Validity,
    ) -> Self {
        Self {
            name: name.to_owned(),
            key: key.0.clone(),
            validity,
            role: Some(role),
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn key(&self) -> VerifyingKey {
        VerifyingKey(self.key.clone())
    }

    pub(crate) fn validity(&self) -> Validity {
        self.validity
    }

    /// Returns the role: owner, if the line is older than roles.
    pub(crate) fn role(&self) -> SignerRole {
        self.role.unwrap_or(SignerRole::Owner)
    }

    /// Tells whether the line has a role.
    pub(crate) fn says_role(&self) -> bool {
        self.role.is_some()
    }

    /// Formats the line, without its end. OpenSSH takes the role for the key's comment.
    fn line(&self) -> String {
        let (name, options, key) = (&self.name, self.validity.options(), public_line(&self.key));
        let role = self.role.map(|role| format!(" {role}")).unwrap_or_default();
        format!("{name} namespaces=\"{NAMESPACE}\"{options} {key}{role}")
    }

    fn parse(line: &str) -> Option<Self> {
        let mut words = line.splitn(3, ' ');
        let (name, options, key) = (words.next()?, words.next()?, words.next()?);
        let key = PublicKey::from_openssh(key).ok()?;
        let role = Some(key.comment()).filter(|comment| !comment.is_empty());
        let entry = Self {
            name: name.to_owned(),
            validity: Validity::parse(options)?,
            role: role.map(str::parse).transpose().ok()?,
            key: bare(&key),
        };
        let fits = entry.key.algorithm() == Algorithm::Ed25519 && check_name(name).is_ok();
        (fits && entry.line() == line).then_some(entry)
    }
}

/// Validates the name of a signer. It appears in the author line of commits, in checkpoints, and in
/// `signers`, where OpenSSH takes it for a list of patterns. So no name has the special characters
/// `*`, `?`, `!` and `,`.
pub(crate) fn check_name(name: &str) -> Result<(), &'static str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-@".contains(c);
    if name.is_empty() || name.len() > NAME_CHARACTERS_MAX {
        return Err("it has not 1 to 64 characters");
    }
    if !name.chars().all(plain) || !name.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return Err(
            "it is not made of letters A to Z and a to z, digits, `.`, `_`, `-` and `@`, with a \
                    letter or digit first",
        );
    }
    Ok(())
}

/// All signers. Every name and every key is unique.
pub(crate) struct Signers(Vec<SignerEntry>);

impl Signers {
    /// Formats a file with one signer, who may record everything at any time.
    pub(crate) fn file(name: &str, key: &SigningKey) -> String {
        let (key, always) = (key.verifying_key(), Validity::default());
        let entry = SignerEntry::new(name, &key, SignerRole::Owner, always);
        Self(vec![entry]).to_file()
    }

    /// Formats the file.
    pub(crate) fn to_file(&self) -> String {
        let lines = self.0.iter().map(SignerEntry::line);
        lines.map(|line| line + "\n").collect()
    }

    /// Parses exactly the form that [`Self::to_file`] writes.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let lines = text
            .strip_suffix('\n')
            .ok_or("its last line does not end")?;
        let mut signers = Self(Vec::new());
        for (index, line) in lines.split('\n').enumerate() {
            let at = |why: &str| format!("line {} {why}", index + 1);
            let entry = SignerEntry::parse(line).ok_or_else(|| at("is not a signer"))?;
            if signers.named(&entry.name).is_some() || signers.find(&entry.key).is_some() {
                return Err(at("has a name or a key for the second time"));
            }
            signers.0.push(entry);
        }
        Ok(signers)
    }

    /// Adds a signer.
    pub(crate) fn and(&self, entry: SignerEntry) -> Self {
        let entries = self.0.iter().cloned();
        Self(entries.chain([entry]).collect())
    }

    /// Removes the signer with this name.
    pub(crate) fn without(&self, name: &str) -> Self {
        let others = self.0.iter().filter(|entry| entry.name != name);
        Self(others.cloned().collect())
    }

    /// Changes the role of the signer with this name.
    pub(crate) fn with_role(&self, name: &str, role: SignerRole) -> Self {
        let mut signers = Self(self.0.clone());
        let named = signers.0.iter_mut().find(|entry| entry.name == name);
        if let Some(entry) = named {
            entry.role = Some(role);
        }
        signers
    }

    /// Iterates in file order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &SignerEntry> {
        self.0.iter()
    }

    pub(crate) fn named(&self, name: &str) -> Option<&SignerEntry> {
        self.0.iter().find(|entry| entry.name == name)
    }

    /// Finds the signer who holds a key.
    pub(crate) fn of(&self, key: &VerifyingKey) -> Option<&SignerEntry> {
        self.find(&key.0)
    }

    /// Finds the signer who holds the key of a signature.
    pub(crate) fn holder(&self, signed: &SignedBy) -> Option<&SignerEntry> {
        self.find(&signed.0)
    }

    /// Finds the signer of a history's first commit, which must list only this one signer.
    pub(crate) fn founder(&self, signed: &SignedBy) -> Result<&SignerEntry, &'static str> {
        if self.0.len() > 1 {
            return Err("history begins with it, and it names more signers than its maker");
        }
        self.holder(signed)
            .ok_or("history begins with it, and it is not signed by its only signer")
    }

    fn find(&self, key: &PublicKey) -> Option<&SignerEntry> {
        let mut entries = self.0.iter();
        entries.find(|entry| entry.key.key_data() == key.key_data())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn loose_signer_lines_are_refused() {
        let line = SigningKey::generate().public_line();
        let other = SigningKey::generate().public_line();
        let good = format!("owner namespaces=\"git\" {line}");
        assert!(Signers::parse(&format!("{good}\nana namespaces=\"git\" {other}\n")).is_ok());
        for bad in [
            String::new(),
            "\n".into(),
            "# only a comment\n".into(),
            format!("{line}\n"),
            format!("owner {line}\n"),
            format!("{good} laptop\n"),
            format!("{good} Owner\n"),
            format!("{good} owner \n"),
            format!("{good}  owner\n"),
            format!("{good} owner writer\n"),
            format!("{good} reader\n"),
            format!("owner namespaces=\"git\" writer {line}\n"),
            format!("# who may write\n{good}\n"),
            format!("{good}\n\n"),
            format!("{good}\n{good}\n"),
            format!("{good}\nana namespaces=\"git\" {line}\n"),
            format!("{good}\nowner namespaces=\"git\" {other}\n"),
            good.clone(),
            format!("owner namespaces=\"*\" {line}\n"),
            format!("owner cert-authority {line}\n"),
            "owner namespaces=\"git\" ssh-ed25519 AAAA\n".into(),
            format!(" namespaces=\"git\" {line}\n"),
            format!("o<x> namespaces=\"git\" {line}\n"),
            format!("o\tx namespaces=\"git\" {line}\n"),
            format!("owner namespaces=\"git\" {line}\r\n"),
            format!("owner namespaces=\"git\"  {line}\n"),
            // A FIDO token key (PROTOCOL.u2f): well formed, but its signatures are not accepted.
            "owner namespaces=\"git\" sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABHNzaDo=\n".into(),
        ] {
            assert!(Signers::parse(&bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_line_ends_in_a_role_or_is_from_before_there_were_roles() {
        let line = SigningKey::generate().public_line();
        let file = |end: &str| format!("ana namespaces=\"git\" {line}{end}\n");
        let read = |end: &str| Signers::parse(&file(end)).expect("a signer");
        let before = read("");
        let ana = before.named("ana").expect("there");
        assert_eq!((ana.role(), ana.says_role()), (SignerRole::Owner, false));
        assert_eq!(before.to_file(), file(""), "and stays as it is");
        for role in SignerRole::ALL {
            let signers = read(&format!(" {role}"));
            let ana = signers.named("ana").expect("there");
            assert_eq!((ana.role(), ana.says_role()), (role, true));
            assert_eq!(signers.to_file(), file(&format!(" {role}")));
            assert_eq!(before.with_role("ana", role).to_file(), signers.to_file());
        }
    }

    #[test]
    fn only_one_form_of_a_window_is_read() {
        let line = SigningKey::generate().public_line();
        let file = |options: &str| format!("o namespaces=\"git\"{options} {line}\n");
        let (early, late) = ("20261121120000Z", "20261122120000Z");
        for good in [
            format!(",valid-after=\"{early}\",valid-before=\"{late}\""),
            format!(",valid-after=\"{early}\""),
            format!(",valid-before=\"{late}\""),
        ] {
            assert!(Signers::parse(&file(&good)).is_ok(), "{good}");
        }
        for bad in [
            format!(",valid-before=\"{late}\",valid-after=\"{early}\""),
            format!(",valid-after=\"{late}\",valid-before=\"{early}\""),
            format!(",valid-after=\"{early}\",valid-before=\"{early}\""),
            format!(",valid-after=\"{early}\",valid-after=\"{late}\""),
            format!(",valid-after={early}"),
            format!(", valid-after=\"{early}\""),
            format!(",valid-after=\"{early}\","),
            format!(",Valid-After=\"{early}\""),
            ",valid-after=\"20261121120000\"".into(),
            ",valid-after=\"20261121\"".into(),
            ",valid-after=\"202611211200Z\"".into(),
            ",valid-after=\"20261121120000z\"".into(),
            ",valid-after=\"20261121120060Z\"".into(),
            ",valid-after=\"20261321120000Z\"".into(),
            ",valid-after=\"20260230120000Z\"".into(),
            ",valid-after=\"19700101000000Z\"".into(),
            ",valid-after=\"+0261121120000Z\"".into(),
            ",valid-after=\"\"".into(),
            ",cert-authority".into(),
        ] {
            assert!(Signers::parse(&file(&bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_window_holds_from_its_first_second_to_its_last() {
        let at = |second: i64, millis: u32| {
            DateTime::from_timestamp(second, millis * 1_000_000).expect("a time")
        };
        let both = Validity::new(Some(at(100, 5)), Some(at(200, 5))).expect("in order");
        let none = Validity::default();
        let (early, over) = (Untimely::NotYet(at(100, 0)), Untimely::Over(at(200, 0)));
        for (time, earlier, expected) in [
            (at(99, 999), None, Err(early)),
            (at(100, 0), None, Ok(())),
            (at(200, 999), None, Ok(())),
            (at(201, 0), None, Err(over)),
            // The clock was turned back into the period.
            (at(150, 0), Some(at(200, 999)), Ok(())),
            (at(150, 0), Some(at(201, 0)), Err(over)),
            // An event from before the period does not matter.
            (at(150, 0), Some(at(50, 0)), Ok(())),
            (at(99, 0), Some(at(150, 0)), Err(early)),
        ] {
            assert_eq!(both.check(time, earlier), expected, "{time} {earlier:?}");
            assert_eq!(none.check(time, earlier), Ok(()));
        }
    }

    #[test]
    fn names_that_openssh_or_git_would_read_otherwise_are_refused() {
        for good in ["owner", "ana@example.com", "ci-7.build_host", "7"] {
            assert_eq!(check_name(good), Ok(()), "{good}");
        }
        let long = "n".repeat(NAME_CHARACTERS_MAX + 1);
        assert_eq!(check_name(&long[1..]), Ok(()));
        for bad in [
            "", " ", "*", "a*", "a?", "!a", "a,b", "#a", "-a", "@a", "a b", "a\"", "a<b>", "a+b",
            "a\n", "a\u{e9}", "a/b", &long,
        ] {
            assert!(check_name(bad).is_err(), "{bad:?}");
        }
    }

    prop_compose! {
        fn validity()(after in proptest::option::of(1_i64..2_000_000), long in proptest::option::of(1_i64..9_000)) -> Validity {
            let time = |second| DateTime::from_timestamp(second, 0).expect("a time");
            let before = long.map(|long| time(after.unwrap_or(0) + long));
            Validity::new(after.map(time), before).expect("in order")
        }
    }

    proptest! {
        #[test]
        fn the_file_is_written_back_and_add_undoes_rm(
            names in proptest::collection::btree_set("[a-z0-9][A-Za-z0-9._@-]{0,9}", 2..6),
            windows in proptest::collection::vec(validity(), 6),
        ) {
            let entry = |(name, window): (&String, &Validity)| {
                let key = SigningKey::generate().verifying_key();
                SignerEntry::new(name, &key, SignerRole::Writer, *window)
            };
            let mut entries: Vec<_> = names.iter().zip(&windows).map(entry).collect();
            let last = entries.pop().expect("two at least");
            let before = Signers(entries).to_file();
            let signers = Signers::parse(&before).expect("its own output");
            prop_assert_eq!(signers.to_file(), before.clone());
            let more = signers.and(last.clone());
            let read = Signers::parse(&more.to_file()).expect("its own output");
            let added = read.named(last.name()).expect("added");
            prop_assert_eq!(added.validity(), last.validity());
            prop_assert_eq!(read.without(last.name()).to_file(), before);
        }
    }

    #[test]
    fn a_role_is_read_back_and_nothing_else_is_one() {
        for role in SignerRole::ALL {
            assert_eq!(role.as_str().parse(), Ok(role));
        }
        for bad in ["", "Owner", "owner ", "reader", "admin"] {
            assert!(bad.parse::<SignerRole>().is_err(), "{bad:?}");
        }
    }
}
