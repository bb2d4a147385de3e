//! Key files of a person or machine: reading them, and creating missing ones.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use zeroize::Zeroizing;

use crate::crypto::seal::{Identity, Unusable};
use crate::crypto::sign::{SigningKey, SigningKeyFile};
use crate::disk;
use crate::error::{Error, KeyFault, Result};

pub use crate::crypto::seal::{
    PASSPHRASE_BYTES_MAX, Passphrase, PassphraseRequest, Unattended, Unlock,
};
pub use crate::crypto::sign::{is_public, is_secret};

/// Largest key file that is read, in bytes.
const KEY_FILE_BYTES_MAX: usize = 64 * 1024;

const IDENTITY: &str = "identity";
const SIGNING_KEY: &str = "signing key";

/// Reads an age identity file that needs no passphrase.
///
/// # Errors
/// The errors of [`unlock_identity`]; [`KeyFault::NoPassphrase`] if the file needs a passphrase.
pub fn read_identity(path: &Path) -> Result<Identity> {
    let nobody: Arc<dyn Unlock> = Arc::new(Unattended);
    unlock_identity(path, &nobody)
}

/// Reads an age identity file of any kind: lines of X25519 and plugin identities, an SSH private
/// key, or either of them encrypted with a passphrase. `unlock` is asked for the passphrase now and
/// never again. It also answers later questions of plugins.
///
/// # Errors
/// [`Error::NoKeyFile`] if the file does not exist, [`KeyFault::NotPrivate`] if others can read or
/// write it, [`Error::BadKeyFile`] if it holds no identity, [`KeyFault::WrongPassphrase`] if the
/// passphrase does not open it.
pub fn unlock_identity(path: &Path, unlock: &Arc<dyn Unlock>) -> Result<Identity> {
    let (bytes, open) = read_whole(IDENTITY, path)?;
    let marks = [
        "AGE-SECRET-KEY-",
        "AGE-PLUGIN-",
        "-----BEGIN ",
        "age-encryption.org/",
    ];
    let has = |mark: &&str| {
        bytes
            .windows(mark.len())
            .any(|piece| piece == mark.as_bytes())
    };
    // Any other file has a worse fault than its mode.
    if open && marks.iter().any(has) {
        return Err(not_private(IDENTITY, path));
    }
    Identity::read(&bytes, path, unlock).map_err(|unusable| match unusable {
        Unusable::Because(why) => bad(IDENTITY, path, why),
        Unusable::Failed(error) => error,
    })
}

/// Reads an OpenSSH private key file.
///
/// # Errors
/// [`Error::NoKeyFile`] if the file does not exist, [`KeyFault::NotPrivate`] if others can read or
/// write it, [`Error::BadKeyFile`] if it holds no unencrypted Ed25519 key.
pub fn read_signing_key(path: &Path) -> Result<SigningKey> {
    match found_in(path)? {
        SigningKeyFile::Key(key) => Ok(*key),
        SigningKeyFile::Locked(_) => {
            Err(bad(SIGNING_KEY, path, "it is encrypted with a passphrase"))
        }
        SigningKeyFile::Public(_) => Err(bad(SIGNING_KEY, path, "it is a public key")),
    }
}

/// Reads the file that names the signing key: a private key, or a public key (`.pub`), with which
/// the ssh-agent at `agent` signs. The agent also signs for a private key with a passphrase;
/// without an agent, `unlock` is asked for the passphrase. The agent is first contacted when there
/// is something to sign.
///
/// # Errors
/// The errors of [`read_signing_key`]; [`KeyFault::NoPassphrase`] if there is no passphrase;
/// [`KeyFault::WrongPassphrase`] if it does not open the key.
pub fn find_signing_key(
    path: &Path,
    agent: Option<&Path>,
    unlock: &Arc<dyn Unlock>,
) -> Result<SigningKey> {
    match found_in(path)? {
        SigningKeyFile::Key(key) => Ok(*key),
        SigningKeyFile::Locked(key) if agent.is_some() => {
            let public = key.verifying_key();
            Ok(SigningKey::in_agent(public, agent, path.into()))
        }
        SigningKeyFile::Locked(key) => {
            let passphrase = unlock.passphrase(PassphraseRequest::File(path))?;
            key.open(passphrase.as_str()).map_err(|_| {
                let path = path.into();
                Error::Key(KeyFault::WrongPassphrase { path })
            })
        }
        SigningKeyFile::Public(public) => {
            let private = match path.extension() {
                Some(end) if end == "pub" => path.with_extension(""),
                _ => path.into(),
            };
            Ok(SigningKey::in_agent(public, agent, private))
        }
    }
}

fn found_in(path: &Path) -> Result<SigningKeyFile> {
    let (bytes, open) = read_whole(SIGNING_KEY, path)?;
    let text = std::str::from_utf8(&bytes).map_err(|_| bad(SIGNING_KEY, path, "it is not text"))?;
    if open && !is_public(text) {
        return Err(not_private(SIGNING_KEY, path));
    }
    SigningKeyFile::parse(text).map_err(|why| bad(SIGNING_KEY, path, why))
}

/// Creates an identity file unless one exists. Returns true if it did.
///
/// # Errors
/// [`Error::Io`] if the file cannot be written.
pub fn make_identity(path: &Path) -> Result<bool> {
    disk::make_secret(path, || Identity::generate().to_file())
}

/// Creates a signing key file, and its public half in a `.pub` file beside it, unless the former
/// exists. Returns true if it did.
///
/// # Errors
/// [`Error::Io`] if a file cannot be written.
pub fn make_signing_key(path: &Path) -> Result<bool> {
    let made = disk::make_secret(path, || SigningKey::generate().to_file())?;
    if made {
        let public = read_signing_key(path)?.public_line() + "\n";
        let mut name = path.as_os_str().to_owned();
        name.push(".pub");
        disk::replace_chosen_durably(Path::new(&name), public.as_bytes(), 0o644)?;
    }
    Ok(made)
}

/// Copies a file with a key or a passphrase to a place where only this account can read it, in place
/// of what is there. A key that a cluster mounts is readable by a group, and refused as it is.
///
/// # Errors
/// [`Error::Io`] if it is no small file or cannot be read, or if the copy cannot be written.
pub fn copy_private(from: &Path, to: &Path) -> Result<()> {
    let (bytes, _) = read_small(from).map_err(Error::io("read", from))?;
    disk::replace_chosen_durably(to, &bytes, 0o400)
}

fn bad(what: &'static str, path: &Path, why: impl Into<String>) -> Error {
    Error::BadKeyFile {
        what,
        path: path.into(),
        why: why.into(),
    }
}

fn not_private(what: &'static str, path: &Path) -> Error {
    let path = path.into();
    Error::Key(KeyFault::NotPrivate { what, path })
}

/// Reads a key file; the second value tells whether others can read or write it.
fn read_whole(what: &'static str, path: &Path) -> Result<(Zeroizing<Vec<u8>>, bool)> {
    read_small(path).map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => Error::NoKeyFile {
            what,
            path: path.into(),
        },
        io::ErrorKind::FileTooLarge => bad(what, path, "it is no small file"),
        _ if disk::Refused::in_error(&e).is_some() => bad(what, path, "it is no small file"),
        _ => Error::io("read", path)(e),
    })
}

fn read_small(path: &Path) -> io::Result<(Zeroizing<Vec<u8>>, bool)> {
    let (file, length, mode) = disk::open_chosen(path)?;
    if length > KEY_FILE_BYTES_MAX as u64 {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    // Allocates the full size: a growing buffer leaves copies behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(KEY_FILE_BYTES_MAX + 1));
    let mut file = file.take(KEY_FILE_BYTES_MAX as u64);
    file.read_to_end(&mut bytes)?;
    Ok((bytes, mode & 0o077 != 0))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_is_no_key_has_a_worse_fault_than_its_mode() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("identity");
        let fault = |content: &str| {
            fs::write(&path, content).expect("writes");
            let open = fs::Permissions::from_mode(0o644);
            fs::set_permissions(&path, open).expect("mode set");
            read_identity(&path).err().expect("refused")
        };
        let none = fault("nothing of use");
        assert!(matches!(none, Error::BadKeyFile { .. }), "{none}");
        let open = fault(&Identity::generate().to_file());
        let of_mode = matches!(open, Error::Key(KeyFault::NotPrivate { .. }));
        assert!(of_mode, "{open}");
    }

    #[test]
    fn a_public_key_names_the_file_of_its_private_half() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let unlock: Arc<dyn Unlock> = Arc::new(Unattended);
        for (name, private) in [("key.pub", "key"), ("key.txt", "key.txt"), ("key", "key")] {
            let path = folder.path().join(name);
            fs::write(&path, SigningKey::generate().public_line()).expect("writes");
            let key = find_signing_key(&path, None, &unlock).expect("a public key");
            let hint = key.sign(b"commit").expect_err("no agent").hint();
            let add = format!("`ssh-add {}`", folder.path().join(private).display());
            assert!(hint.contains(&add), "{hint}");
        }
    }
}
