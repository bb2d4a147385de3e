//! Signatures over commits, as git makes and verifies them, and over notes. With its submodules,
//! the only module that uses `ssh_key`, `signature` and `ed25519_dalek`.

mod agent;
mod authority;
mod signers;

use std::path::{Path, PathBuf};

use signature::{Signer, Verifier};
use ssh_key::public::KeyData;
use ssh_key::rand_core::OsRng;
use ssh_key::{Algorithm, HashAlg, LineEnding, PrivateKey, PublicKey, Signature, SshSig};
use zeroize::Zeroizing;

use self::agent::Agent;
use crate::error::{Error, Result, SigningFault};

pub(crate) use self::authority::{Authority, AuthorityMark, AuthorityProof};
pub(crate) use self::signers::{NAME_CHARACTERS_MAX, SignerEntry, Signers, Untimely, check_name};
pub use self::signers::{SignerRole, Validity};

/// The signature namespace git uses (gitformat-signature, `ssh-keygen -Y sign -n git`).
const NAMESPACE: &str = "git";

/// Texts that betray a secret given in place of a public key: marks of PEM files, of the inside of
/// OpenSSH ones, and of age identities.
const SECRET_MARKS: [&str; 4] = [
    "private key-----",
    "b3blbnnzac1rzxktdje",
    "age-secret-key",
    "age-plugin-",
];

/// An Ed25519 key that signs commits, from a key file or in an ssh-agent.
pub struct SigningKey {
    public: PublicKey,
    holder: Holder,
}

/// The holder of the private half.
enum Holder {
    File {
        key: Box<PrivateKey>,
        /// The same key, ready to sign: converting it takes as long as a signature.
        signer: Box<ed25519_dalek::SigningKey>,
    },
    Agent(Agent),
}

/// The content of a file that names the signing key.
pub(crate) enum SigningKeyFile {
    /// A private key that can be used as it is.
    Key(Box<SigningKey>),
    /// A private key encrypted with a passphrase.
    Locked(Box<LockedKey>),
    /// A public key, whose private half an agent must hold.
    Public(VerifyingKey),
}

impl SigningKeyFile {
    /// Parses an OpenSSH private key file, or an OpenSSH public key line.
    ///
    /// # Errors
    /// Returns the reason why the file cannot be used, never its content.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if is_public(text) {
            return VerifyingKey::parse(text).map(Self::Public);
        }
        let key = PrivateKey::from_openssh(text)
            .map_err(|_| "it is not an OpenSSH private key".to_owned())?;
        if key.algorithm() != Algorithm::Ed25519 {
            return Err(format!("it is an {} key, not Ed25519", key.algorithm()));
        }
        Ok(if key.is_encrypted() {
            Self::Locked(Box::new(LockedKey(key)))
        } else {
            Self::Key(Box::new(SigningKey::of_file(key)?))
        })
    }
}

/// A private key encrypted with a passphrase; its public half is known.
pub(crate) struct LockedKey(PrivateKey);

impl LockedKey {
    /// Decrypts the key.
    ///
    /// # Errors
    /// Returns an error if the passphrase does not open it.
    pub(crate) fn open(&self, passphrase: &str) -> Result<SigningKey, String> {
        let opened = self.0.decrypt(passphrase);
        let key = opened.map_err(|_| "the passphrase does not open it".to_owned())?;
        SigningKey::of_file(key)
    }

    /// Returns the public half, which the file holds unencrypted.
    pub(crate) fn verifying_key(&self) -> VerifyingKey {
        VerifyingKey(bare(self.0.public_key()))
    }
}

impl SigningKey {
    /// Generates a new key from the operating system's random source.
    #[must_use]
    #[allow(clippy::missing_panics_doc)] // never: the expectation says why
    pub fn generate() -> Self {
        let key = PrivateKey::random(&mut OsRng, Algorithm::Ed25519);
        Self::of_file(key.expect("Ed25519 needs nothing but random bytes"))
            .expect("its halves belong together")
    }

    /// Parses an OpenSSH private key file with an unencrypted Ed25519 key.
    ///
    /// # Errors
    /// Returns the reason why the file cannot be used, never its content.
    pub fn parse(text: &str) -> Result<Self, String> {
        match SigningKeyFile::parse(text)? {
            SigningKeyFile::Key(key) => Ok(*key),
            SigningKeyFile::Locked(_) => Err("it has a passphrase".into()),
            SigningKeyFile::Public(_) => {
                Err("it is a public key, and an ssh-agent is not asked".into())
            }
        }
    }

    /// Refers to a key in the ssh-agent at `socket`, which is not contacted before there is
    /// something to sign. `file` is the argument for `ssh-add` in hints.
    pub(crate) fn in_agent(key: VerifyingKey, socket: Option<&Path>, file: PathBuf) -> Self {
        Self {
            public: key.0,
            holder: Holder::Agent(Agent::at(socket, file)),
        }
    }

    fn of_file(key: PrivateKey) -> Result<Self, String> {
        let pair = key.key_data().ed25519();
        let signer = pair.and_then(|pair| ed25519_dalek::SigningKey::try_from(pair).ok());
        let signer = signer.ok_or("its private and public halves do not belong together")?;
        Ok(Self {
            public: bare(key.public_key()),
            holder: Holder::File {
                key: Box::new(key),
                signer: Box::new(signer),
            },
        })
    }

    /// Formats the key file, in OpenSSH's private key format; for a key in an agent, its public
    /// half, which identifies it.
    #[must_use]
    #[allow(clippy::missing_panics_doc)] // never: the expectation says why
    pub fn to_file(&self) -> Zeroizing<String> {
        match &self.holder {
            Holder::File { key, .. } => key
                .to_openssh(LineEnding::LF)
                .expect("a key that was made or read has a text form"),
            Holder::Agent(_) => Zeroizing::new(self.public_line() + "\n"),
        }
    }

    /// Formats the public half as an OpenSSH line, without a comment.
    #[must_use]
    pub fn public_line(&self) -> String {
        public_line(&self.public)
    }

    /// Returns the fingerprint as `ssh-keygen -l` shows it.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        self.public.fingerprint(HashAlg::Sha256).to_string()
    }

    /// Signs a commit object without its `gpgsig` header.
    pub(crate) fn sign(&self, commit: &[u8]) -> Result<String> {
        let signed = SshSig::signed_data(NAMESPACE, HashAlg::Sha512, commit)
            .expect("a digest has a form in a signature");
        let key = self.public.key_data().clone();
        let signature = SshSig::new(key, NAMESPACE, HashAlg::Sha512, self.raw(&signed)?)
            .and_then(|signature| signature.to_pem(LineEnding::LF))
            .expect("an Ed25519 signature has a text form");
        Ok(signature)
    }

    /// Signs bytes with plain Ed25519 (RFC 8032). They must differ from everything that
    /// [`Self::sign`] signs, which begins with `SSHSIG`, and from everything an agent signs for a
    /// login, which begins with the length of a session id, a zero byte.
    pub(crate) fn sign_bare(&self, bytes: &[u8]) -> Result<Vec<u8>> {
        Ok(self.raw(bytes)?.as_bytes().to_vec())
    }

    /// Makes every signature. An agent's answer is verified.
    fn raw(&self, bytes: &[u8]) -> Result<Signature> {
        let agent = match &self.holder {
            Holder::File { signer, .. } => {
                let signature = signer.sign(bytes).to_bytes();
                let signature = Signature::new(Algorithm::Ed25519, signature);
                return Ok(signature.expect("an Ed25519 signature has 64 bytes"));
            }
            Holder::Agent(agent) => agent,
        };
        let fault = |fault: agent::AgentFault| {
            Error::Signing(SigningFault::Agent {
                fingerprint: self.fingerprint(),
                why: fault.to_string(),
                hint: agent.hint(&fault),
            })
        };
        let public = self.public.to_bytes().expect("a public key has a form");
        let answer = agent.sign(&public, bytes).map_err(fault)?;
        Signature::try_from(answer.as_slice())
            .ok()
            .filter(|signature| verifies(&self.public, bytes, signature))
            .ok_or_else(|| fault(agent::AgentFault::False))
    }

    /// Returns the public half.
    #[must_use]
    pub fn verifying_key(&self) -> VerifyingKey {
        VerifyingKey(self.public.clone())
    }
}

/// The public half of a signing key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifyingKey(PublicKey);

impl VerifyingKey {
    /// Parses an OpenSSH public key line, as in a `.pub` file, ignoring the comment.
    ///
    /// # Errors
    /// Returns the reason why it cannot be used, which repeats no more of the input than the kind
    /// of key.
    pub fn parse(text: &str) -> Result<Self, String> {
        if is_secret(text) {
            return Err(
                "it is a private key, which must stay with its holder; give the public \
                        key"
                .into(),
            );
        }
        let line = text.trim_matches(|c: char| c.is_ascii_whitespace());
        if line.lines().count() > 1 {
            return Err("it is more than one line".into());
        }
        if !line.starts_with("ssh-ed25519 ") {
            let kind = kind_of(line).map(|kind| format!("it is an {kind} key, not ssh-ed25519"));
            return Err(kind.unwrap_or_else(|| "it is not an OpenSSH public key".into()));
        }
        let key = PublicKey::from_openssh(line)
            .ok()
            .filter(|key| matches!(key.key_data(), KeyData::Ed25519(_)));
        key.map(|key| Self(bare(&key)))
            .ok_or_else(|| "it is not a whole OpenSSH public key".into())
    }

    /// Returns the fingerprint as `ssh-keygen -l` shows it.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        self.0.fingerprint(HashAlg::Sha256).to_string()
    }

    /// Formats the key as an OpenSSH line, without a comment.
    #[must_use]
    pub fn public_line(&self) -> String {
        public_line(&self.0)
    }

    /// Returns its 32 bytes (RFC 8032); `None` if it is not an Ed25519 key.
    pub(crate) fn bytes(&self) -> Option<[u8; 32]> {
        self.0.key_data().ed25519().map(|key| key.0)
    }

    /// Verifies a signature made by [`SigningKey::sign_bare`] over these bytes.
    pub(crate) fn verifies(&self, bytes: &[u8], signature: &[u8]) -> bool {
        Signature::new(Algorithm::Ed25519, signature)
            .is_ok_and(|signature| verifies(&self.0, bytes, &signature))
    }
}

/// Tells whether a text holds a part of a private key or of an age identity, which no public key
/// has.
#[must_use]
pub fn is_secret(text: &str) -> bool {
    let small = text.to_ascii_lowercase();
    SECRET_MARKS.iter().any(|mark| small.contains(mark))
}

/// Tells whether a text is an OpenSSH public key line of any kind.
#[must_use]
pub fn is_public(text: &str) -> bool {
    !is_secret(text) && kind_of(text.trim_start()).is_some()
}

/// The key of a valid signature; its holder may still lack the right to write.
pub(crate) struct SignedBy(PublicKey);

impl SignedBy {
    /// Verifies the signature over a commit object without its `gpgsig` header.
    pub(crate) fn check(commit: &[u8], signature: &str) -> Option<Self> {
        let text = signature.trim_end();
        let signature = SshSig::from_pem(text).ok()?;
        // The reader takes other versions and lengths too, which OpenSSH refuses, and nothing signs for them.
        let again = signature.to_pem(LineEnding::LF).ok()?;
        if signature.version() != SshSig::VERSION || again.trim_end() != text {
            return None;
        }
        let key = PublicKey::from(signature.public_key().clone());
        if key.algorithm() != Algorithm::Ed25519 {
            return None;
        }
        key.verify(NAMESPACE, commit, &signature).ok()?;
        Some(Self(key))
    }

    /// Returns the key's fingerprint as `ssh-keygen -l` shows it.
    pub(crate) fn fingerprint(&self) -> String {
        self.0.fingerprint(HashAlg::Sha256).to_string()
    }
}

/// Returns the first word of a public key line, if it is a key type.
fn kind_of(line: &str) -> Option<&str> {
    let (kind, _) = line.split_once(' ')?;
    let begins = ["ssh-", "ecdsa-", "sk-", "webauthn-"];
    let part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-@.".contains(c);
    let fits = kind.len() <= 64 && kind.chars().all(part);
    (fits && begins.iter().any(|begin| kind.starts_with(begin))).then_some(kind)
}

fn verifies(key: &PublicKey, bytes: &[u8], signature: &Signature) -> bool {
    signature.algorithm() == Algorithm::Ed25519 && key.key_data().verify(bytes, signature).is_ok()
}

/// Strips the comment from a key.
fn bare(key: &PublicKey) -> PublicKey {
    PublicKey::new(key.key_data().clone(), "")
}

fn public_line(key: &PublicKey) -> String {
    bare(key)
        .to_openssh()
        .expect("a public key has a text form")
        .trim_end()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sign(key: &SigningKey) -> String {
        key.sign(b"commit").expect("a key file's")
    }

    fn by<'a>(signers: &'a Signers, commit: &[u8], signature: &str) -> Option<&'a str> {
        let signed = SignedBy::check(commit, signature)?;
        signers.holder(&signed).map(SignerEntry::name)
    }

    #[test]
    fn only_a_signer_over_the_same_bytes() {
        let (key, stranger) = (SigningKey::generate(), SigningKey::generate());
        let signers = Signers::parse(&Signers::file("owner", &key)).expect("own output");
        assert_eq!(by(&signers, b"commit", &sign(&key)), Some("owner"));
        assert_eq!(by(&signers, b"other", &sign(&key)), None);
        assert_eq!(by(&signers, b"commit", &sign(&stranger)), None);
        assert_eq!(
            by(&signers, b"commit", "-----BEGIN SSH SIGNATURE-----\n"),
            None
        );
        let Holder::File { key: private, .. } = &key.holder else {
            panic!("made in memory")
        };
        let other_namespace = private
            .sign("file", HashAlg::Sha512, b"commit")
            .expect("signs");
        let other_namespace = other_namespace.to_pem(LineEnding::LF).expect("encodes");
        assert_eq!(by(&signers, b"commit", &other_namespace), None);
    }

    #[test]
    fn a_key_file_reads_back() {
        let key = SigningKey::generate();
        let again = SigningKey::parse(&key.to_file()).expect("own output");
        assert_eq!(key.fingerprint(), again.fingerprint());
        assert!(SigningKey::parse("").is_err());
        assert!(SigningKey::parse(&key.to_file()[..200]).is_err());
    }

    #[test]
    fn the_first_word_of_a_line_tells_a_public_key() {
        let long = |length: usize| format!("ssh-{} AAAA", "a".repeat(length - 4));
        for public in [
            "ssh-ed25519 AAAA",
            "  ssh-rsa AAAA",
            "sk-ssh-ed25519@openssh.com AAAA",
            "ecdsa-sha2-nistp256 AAAA",
            &long(64),
        ] {
            assert!(is_public(public), "{public}");
        }
        for other in [
            "",
            "ssh-ed25519",
            "ed25519 AAAA",
            "SSH-ED25519 AAAA",
            "ssh-\u{e9} AAAA",
            "ssh-a/b AAAA",
            "ssh-rsa AGE-SECRET-KEY-1",
            &long(65),
        ] {
            assert!(!is_public(other), "{other}");
        }
    }

    #[test]
    fn a_public_key_is_one_line() {
        let line = SigningKey::generate().public_line();
        for given in [
            line.clone(),
            format!("{line} comment\n"),
            format!("\n{line}\n"),
        ] {
            let read = VerifyingKey::parse(&given).expect("a key");
            assert_eq!(read.public_line(), line);
        }
        let why = |text: &str| VerifyingKey::parse(text).err();
        let twice = format!("{line}\n{line}");
        assert_eq!(why(&twice).as_deref(), Some("it is more than one line"));
        assert!(why("ssh-rsa AAAA").is_some_and(|why| why.contains("ssh-rsa key")));
    }

    #[test]
    fn both_halves_have_one_fingerprint() {
        let key = SigningKey::generate();
        let (public, signed) = (key.verifying_key(), SignedBy::check(b"commit", &sign(&key)));
        assert!(key.fingerprint().starts_with("SHA256:"));
        assert_eq!(public.fingerprint(), key.fingerprint());
        assert_eq!(signed.expect("signed").fingerprint(), key.fingerprint());
        assert_ne!(SigningKey::generate().fingerprint(), key.fingerprint());
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_parsers(text in "(owner |namespaces=\"git\" |ssh-ed25519 |[A-Za-z0-9+/= -]{0,9}|\n){0,8}") {
            let _ = Signers::parse(&text);
            let _ = SigningKey::parse(&text);
            let signers = Signers::parse(&Signers::file("o", &SigningKey::generate())).expect("own output");
            prop_assert_eq!(by(&signers, b"commit", &text), None);
        }
    }
}
