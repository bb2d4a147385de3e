//! Key files of a person or machine: reading them, and making them where there are none.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use zeroize::Zeroizing;

use crate::disk;
use crate::error::{Error, Result};
use crate::seal::Identity;
use crate::sign::{Found, SigningKey};

/// Largest key file that is read, in bytes.
const KEY_FILE_BYTES_MAX: u64 = 64 * 1024;

pub use crate::sign::{is_public, is_secret};

const IDENTITY: &str = "identity";
const SIGNING_KEY: &str = "signing key";

/// Reads an age identity file.
///
/// # Errors
/// [`Error::NoKeyFile`] if it is not there, [`Error::BadKeyFile`] if it holds no X25519 identity.
pub fn read_identity(path: &Path) -> Result<Identity> {
    read(IDENTITY, path, Identity::parse)
}

/// Reads an OpenSSH private key file.
///
/// # Errors
/// [`Error::NoKeyFile`] if it is not there, [`Error::BadKeyFile`] if it holds no unencrypted
/// Ed25519 key.
pub fn read_signing_key(path: &Path) -> Result<SigningKey> {
    read(SIGNING_KEY, path, SigningKey::parse)
}

/// Reads the file that says which key signs: a private key, or a public one (`.pub`), or a private
/// one behind a passphrase, and then the ssh-agent behind `agent` signs with it. Whether the agent
/// has the key shows when there is something to sign.
///
/// # Errors
/// As for [`read_signing_key`].
pub fn find_signing_key(path: &Path, agent: Option<&Path>) -> Result<SigningKey> {
    match read(SIGNING_KEY, path, Found::parse)? {
        Found::Key(key) => Ok(*key),
        Found::Locked(key) => {
            let public = key.verifying_key();
            Ok(SigningKey::in_agent(public, agent, path.into()))
        }
        Found::Public(public) => {
            let private = match path.extension() {
                Some(end) if end == "pub" => path.with_extension(""),
                _ => path.into(),
            };
            Ok(SigningKey::in_agent(public, agent, private))
        }
    }
}

/// Reads an OpenSSH private key file, and asks for a passphrase if there is one on it.
///
/// # Errors
/// As for [`read_signing_key`]; what `passphrase` answers; [`Error::BadKeyFile`] if that does not
/// open the key.
pub fn unlock_signing_key(
    path: &Path,
    passphrase: impl FnOnce() -> Result<Zeroizing<String>>,
) -> Result<SigningKey> {
    let bad = |why: String| Error::BadKeyFile {
        what: SIGNING_KEY,
        path: path.into(),
        why,
    };
    match read(SIGNING_KEY, path, Found::parse)? {
        Found::Key(key) => Ok(*key),
        Found::Locked(key) => key.open(&passphrase()?).map_err(bad),
        Found::Public(_) => Err(bad("it is a public key".into())),
    }
}

/// Makes an identity file unless there is one; says whether it did.
///
/// # Errors
/// [`Error::Io`] if it cannot be written.
pub fn make_identity(path: &Path) -> Result<bool> {
    make(path, || Identity::generate().to_file())
}

/// Makes a signing key file, and its public half in a `.pub` file beside it, unless there is one;
/// says whether it did.
///
/// # Errors
/// [`Error::Io`] if it cannot be written.
pub fn make_signing_key(path: &Path) -> Result<bool> {
    let made = make(path, || SigningKey::generate().to_file())?;
    if made {
        let public = read_signing_key(path)?.public_line() + "\n";
        let mut name = path.as_os_str().to_owned();
        name.push(".pub");
        disk::replace_durably(Path::new(&name), public.as_bytes(), 0o644)?;
    }
    Ok(made)
}

/// Whether users other than the owner can read a key file that is not public.
#[must_use]
pub fn others_can_read(path: &Path) -> bool {
    let open = fs::metadata(path).is_ok_and(|meta| meta.permissions().mode() & 0o077 != 0);
    open && !read(SIGNING_KEY, path, |text| Ok(is_public(text))).unwrap_or(false)
}

fn read<T>(
    what: &'static str,
    path: &Path,
    parse: impl FnOnce(&str) -> std::result::Result<T, String>,
) -> Result<T> {
    let bad = |why: String| Error::BadKeyFile {
        what,
        path: path.into(),
        why,
    };
    let missing = |e: io::Error| match e.kind() {
        io::ErrorKind::NotFound => Error::NoKeyFile {
            what,
            path: path.into(),
        },
        _ => Error::io("read", path)(e),
    };
    let meta = fs::metadata(path).map_err(missing)?;
    if !meta.is_file() || meta.len() > KEY_FILE_BYTES_MAX {
        return Err(bad("it is no small file".into()));
    }
    let bytes = Zeroizing::new(fs::read(path).map_err(missing)?);
    let text = std::str::from_utf8(&bytes).map_err(|_| bad("it is not text".into()))?;
    parse(text).map_err(bad)
}

/// Writes a secret file whole or not at all, and never over another.
fn make(path: &Path, content: impl FnOnce() -> Zeroizing<String>) -> Result<bool> {
    if path.exists() {
        return Ok(false);
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        disk::make_private_folder(folder)?;
    }
    let aside = disk::aside(folder);
    let written = (|| {
        let mut file = disk::create_new(&aside, 0o600)?;
        file.write_all(content().as_bytes())?;
        file.sync_all()?;
        // A link, unlike a rename, fails if another process was first.
        fs::hard_link(&aside, path)
    })();
    drop(fs::remove_file(&aside));
    match written {
        Ok(()) => disk::sync_folder(folder).map(|()| true),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(e) => Err(Error::io("write", path)(e)),
    }
}
