//! `local.toml`: the remotes of a store, with their URLs, and the cards of machines that were seen
//! there, on this machine alone.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::crypto::recipients::Role;
use crate::crypto::sign::check_name as check_signer_name;
use crate::disk::{self, Folder, Lock, Name};
use crate::error::{Error, RemoteFault, Result};
use crate::event::rfc3339;
use crate::id::ObjectId;
use crate::remote::ORIGIN;
use crate::remote::card::PublishedCard;
use crate::store;

/// Longest URL, in bytes.
const URL_BYTES_MAX: usize = 2048;

/// A git repository elsewhere, with a name on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Remote {
    /// Its name on this machine.
    pub name: String,
    /// Its URL, as git takes it.
    pub url: String,
    /// True if what machines say of themselves is on branches there, for a host that takes nothing else.
    pub branches: bool,
    /// Where its history ended when it was last seen; `None` if it never was.
    pub seen: Option<Seen>,
    /// How many machines have told of themselves there, as far as was seen.
    pub machines: usize,
}

/// The end of a remote's history, as it was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Seen {
    /// Its newest commit.
    pub commit: ObjectId,
    /// How many events its history had.
    pub events: u64,
    /// When.
    pub time: DateTime<Utc>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LocalFile {
    /// The name under which this machine asks for keys, and as what.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    asks: Option<AskRow>,
    /// The folder of the keyring at the last sync, if it is outside the store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    keyring: Option<String>,
    /// When a remote was last reached where other machines told of themselves, and that was removed since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reached: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    remotes: BTreeMap<String, RemoteRow>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AskRow {
    name: String,
    role: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RemoteRow {
    url: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    branches: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seen: Option<SeenRow>,
    /// When this copy last had everything that the remote had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reached: Option<String>,
    /// The commit of each machine's newest card there, by the digits of its signing key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    cards: BTreeMap<String, String>,
}

/// Cards by the digits of their keys.
pub(super) type Cards = BTreeMap<String, PublishedCard>;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SeenRow {
    commit: String,
    events: u64,
    time: String,
}

impl SeenRow {
    fn of(seen: Seen) -> Self {
        Self {
            commit: seen.commit.to_string(),
            events: seen.events,
            time: rfc3339(seen.time),
        }
    }

    fn parse(&self) -> Option<Seen> {
        Some(Seen {
            commit: ObjectId::from_hex(&self.commit)?,
            events: self.events,
            time: self.time.parse().ok()?,
        })
    }
}

impl LocalFile {
    pub(super) fn read(root: &Folder) -> Result<Self> {
        let damaged = |why: &str| {
            let path = root.path_of(&Name::LOCAL).display().to_string();
            let hint =
                "correct the file, or remove it, add the remotes again and run `agekeep sync`";
            Error::damaged_with_hint(path, why, hint)
        };
        let bytes = match root.read(&Name::LOCAL) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            read => read.map_err(root.fault("read", &Name::LOCAL))?,
        };
        let text = String::from_utf8(bytes).map_err(|_| damaged("it is not UTF-8"))?;
        let file: Self =
            toml::from_str(&text).map_err(|fault| damaged(fault.message().trim_end()))?;
        for (name, row) in &file.remotes {
            check_name(name).map_err(|_| damaged("a remote has a name that is not valid"))?;
            check_url(&row.url).map_err(|_| damaged("a remote has a URL that is not valid"))?;
            if row.seen.as_ref().is_some_and(|seen| seen.parse().is_none()) {
                return Err(damaged("what was seen of a remote is not valid"));
            }
        }
        Ok(file)
    }

    /// Returns the cards that were seen at a remote. One that does not parse was never written, and is
    /// passed over.
    pub(super) fn cards_at(&self, remote: &str) -> Cards {
        let row = self.remotes.get(remote);
        let parsed = row.into_iter().flat_map(|row| row.cards.values());
        let parsed = parsed.filter_map(|card| PublishedCard::parse(card));
        parsed.map(|card| (card.digits(), card)).collect()
    }

    /// Returns the newest card of each machine, wherever it was seen.
    pub(super) fn newest_cards(&self) -> Cards {
        let mut newest = Cards::new();
        for remote in self.remotes.keys() {
            for (digits, found) in self.cards_at(remote) {
                let known = newest.get(&digits);
                if known.is_none_or(|known| known.card.time < found.card.time) {
                    newest.insert(digits, found);
                }
            }
        }
        newest
    }

    /// Refuses a machine without keys that had its keyring outside the store, unless another folder is named now.
    pub(super) fn check_keyring(&self, named: Option<&Path>) -> Result<()> {
        let Some(path) = self.keyring.as_ref().map(PathBuf::from) else {
            return Ok(());
        };
        let named = named.map(disk::resolved).transpose()?;
        if named.is_some_and(|named| named != path) {
            return Ok(());
        }
        let is_whole = true;
        Err(Error::NoKeyring { path, is_whole })
    }

    /// Returns the name under which this machine asks for keys, and as what.
    pub(super) fn asks(&self) -> Option<(String, Role)> {
        let asks = self.asks.as_ref()?;
        Some((asks.name.clone(), asks.role.parse().ok()?))
    }

    fn write(&self, root: &Folder) -> Result<()> {
        let text = toml::to_string(self).expect("tables of texts and numbers");
        root.replace_durably(&Name::LOCAL, text.as_bytes(), 0o600)
    }

    fn remotes(&self) -> Vec<Remote> {
        let rows = self.remotes.iter();
        rows.map(|(name, row)| Remote {
            name: name.clone(),
            url: row.url.clone(),
            branches: row.branches,
            seen: row.seen.as_ref().and_then(SeenRow::parse),
            machines: row.cards.len(),
        })
        .collect()
    }

    /// Finds a remote, or the only one if no name is given.
    pub(super) fn find(&self, name: Option<&str>) -> Result<Remote> {
        let known: Vec<String> = self.remotes.keys().cloned().collect();
        let name = match (name, &known[..]) {
            (Some(name), _) => name,
            (None, [only]) => only,
            (None, _) => ORIGIN,
        }
        .to_owned();
        let mut all = self.remotes().into_iter();
        all.find(|remote| remote.name == name)
            .ok_or(Error::Remote(RemoteFault::NoSuch { name, known }))
    }
}

/// Accepts the names that signers have: 1 to 64 of `A-Z a-z 0-9 . _ - @`, a letter or digit first.
pub(super) fn check_name(name: &str) -> Result<()> {
    check_signer_name(name).map_err(|why| Error::invalid("the name", why))
}

/// Accepts a URL that names a host and holds no secret: `https://…`, `ssh://…`, `git://…`, `file://…`,
/// `user@host:path`, or an absolute path.
fn check_url(url: &str) -> Result<()> {
    let invalid = |why: &str| Err(Error::invalid("the URL", why));
    if url.is_empty() || url.len() > URL_BYTES_MAX {
        return invalid("it has no bytes, or too many");
    }
    if url.chars().any(char::is_control) {
        return invalid("it has a control character");
    }
    if url.starts_with('-') {
        return invalid("it begins with a dash");
    }
    if url.starts_with('/') {
        return Ok(());
    }
    let Some((scheme, rest)) = url.split_once("://") else {
        let host = url
            .split_once(':')
            .map(|(host, path)| (host, !path.starts_with(':')));
        return match host {
            Some((host, true)) if !host.is_empty() && !host.contains('/') => Ok(()),
            Some((_, false)) => invalid("git would run a program to reach it"),
            _ => invalid("it is neither a URL, nor `user@host:path`, nor an absolute path"),
        };
    };
    if !["https", "http", "ssh", "git", "file"].contains(&scheme) {
        return invalid("it begins with none of https, http, ssh, git and file");
    }
    if scheme.starts_with("http") && rest.contains(['?', '#']) {
        return invalid("it has a query, in which tokens stand");
    }
    let authority = rest.split('/').next().unwrap_or_default();
    let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
    // Tokens stand in the place of the user, too.
    if user.contains(':') {
        return invalid("it holds a password, which git would keep in the clear");
    }
    if scheme.starts_with("http") && !user.is_empty() {
        return invalid(
            "it names a user, and tokens stand in that place: leave that to git's credential helper",
        );
    }
    Ok(())
}

/// Lists the remotes of the store in a folder.
///
/// # Errors
/// [`Error::NoStore`], [`Error::Damaged`] if `local.toml` is not valid.
pub fn list(store: &Path) -> Result<Vec<Remote>> {
    Ok(LocalFile::read(&store::store_at(store)?)?.remotes())
}

/// Adds a remote. Nothing is sent, and nobody is asked. With `branches`, [`sync`](super::sync()) puts on
/// branches what it would put on refs beside them: some hosts refuse those.
///
/// # Errors
/// [`Error::Invalid`] for a name or URL that cannot be used, [`RemoteFault::Exists`] for a name that
/// is taken.
pub fn add(store: &Path, name: &str, url: &str, branches: bool) -> Result<Remote> {
    check_name(name)?;
    let url = given_url(url)?;
    let root = store::store_at(store)?;
    let lock = Lock::acquire(&root)?;
    let mut file = LocalFile::read(&root)?;
    if file.remotes.contains_key(name) {
        let name = name.to_owned();
        return Err(Error::Remote(RemoteFault::Exists { name }));
    }
    let row = RemoteRow {
        url,
        branches,
        seen: None,
        reached: None,
        cards: BTreeMap::new(),
    };
    file.remotes.insert(name.to_owned(), row);
    file.write(&root)?;
    drop(lock);
    file.find(Some(name))
}

/// Removes a remote. What it has stays there.
///
/// # Errors
/// [`RemoteFault::NoSuch`] if there is none of that name.
pub fn remove(store: &Path, name: &str) -> Result<Remote> {
    let root = store::store_at(store)?;
    let lock = Lock::acquire(&root)?;
    let mut file = LocalFile::read(&root)?;
    let removed = file.find(Some(name))?;
    // Beside this machine's own card.
    let has_others = |row: &RemoteRow| row.cards.len() > 1;
    if let Some(row) = file.remotes.remove(name).filter(has_others) {
        // Times of one form, of which the later one is the greater text.
        file.reached = file.reached.max(row.reached);
        let others = file.remotes.values_mut();
        // From now on these count where nobody else is, and so far they did not.
        for other in others.filter(|row| !has_others(row)) {
            other.reached = None;
        }
    }
    file.write(&root)?;
    drop(lock);
    Ok(removed)
}

/// Makes a relative path absolute, since git runs in a folder of its own, and checks the URL.
pub(super) fn given_url(url: &str) -> Result<String> {
    let is_path = !url.starts_with('-') && !url.contains(':') && !url.is_empty();
    let url = if is_path {
        let path = disk::absolute(Path::new(url))?;
        let invalid = || Error::invalid("the URL", "it is not UTF-8");
        path.to_str().ok_or_else(invalid)?.to_owned()
    } else {
        url.to_owned()
    };
    check_url(&url).map(|()| url)
}

/// Notes where a remote was seen after a push. A transfer that is done stays done if that fails.
pub(super) fn remember(root: &Folder, name: &str, seen: Seen) {
    drop(change(root, |file| {
        if let Some(row) = file.remotes.get_mut(name) {
            row.seen = Some(SeenRow::of(seen));
        }
    }));
}

/// Notes the same where this copy has everything that the remote has.
pub(super) fn remember_taken(root: &Folder, name: &str, seen: Seen) {
    drop(change(root, |file| {
        if let Some(row) = file.remotes.get_mut(name) {
            row.reached = Some(rfc3339(seen.time));
            row.seen = Some(SeenRow::of(seen));
        }
    }));
}

/// Keeps the newest cards of a remote, against a host that serves older ones later.
pub(super) fn remember_cards(root: &Folder, remote: &str, cards: &Cards) -> Result<()> {
    if cards.is_empty() {
        return Ok(());
    }
    change(root, |file| {
        if let Some(row) = file.remotes.get_mut(remote) {
            let texts = cards.iter();
            let texts = texts.map(|(digits, card)| (digits.clone(), card.object.clone()));
            row.cards.extend(texts);
        }
    })
}

/// Notes where the keyring is, so that a machine whose keyring is not there does not ask for another: its keys
/// would still be where they were when others count them as destroyed.
pub(super) fn remember_keyring(root: &Folder, folder: &Path) -> Result<()> {
    let (root_path, folder) = (disk::resolved(root.path())?, disk::resolved(folder)?);
    let outside = Some(folder).filter(|folder| !folder.starts_with(&root_path));
    // A path that is no text is not remembered.
    let outside = outside.and_then(|folder| folder.to_str().map(str::to_owned));
    if LocalFile::read(root)?.keyring == outside {
        return Ok(());
    }
    change(root, |file| file.keyring = outside)
}

/// Notes that this machine has no keys any more, and asks for none.
pub(super) fn forget_keys(root: &Folder) -> Result<()> {
    change(root, |file| {
        file.asks = None;
        file.keyring = None;
    })
}

fn change(root: &Folder, change: impl FnOnce(&mut LocalFile)) -> Result<()> {
    let lock = Lock::acquire(root)?;
    let mut file = LocalFile::read(root)?;
    change(&mut file);
    file.write(root)?;
    drop(lock);
    Ok(())
}

/// Writes the file of a new copy, with the remote that it came from.
pub(super) fn begin(
    root: &Folder,
    name: &str,
    url: String,
    seen: Seen,
    asks: Option<(String, Role)>,
) -> Result<()> {
    let (seen, reached) = (Some(SeenRow::of(seen)), Some(rfc3339(seen.time)));
    let mut file = LocalFile::default();
    if let Some((name, role)) = asks {
        check_name(&name)?;
        let role = role.as_str().into();
        file.asks = Some(AskRow { name, role });
    }
    let row = RemoteRow {
        url,
        branches: false,
        seen,
        reached,
        cards: BTreeMap::new(),
    };
    file.remotes.insert(name.to_owned(), row);
    file.write(root)
}
