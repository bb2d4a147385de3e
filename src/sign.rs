//! Signatures over commits, as git makes and checks them, and over notes. The only module that
//! names `ssh_key` and `signature`.

use signature::{Signer, Verifier};
use ssh_key::rand_core::OsRng;
use ssh_key::{Algorithm, HashAlg, LineEnding, PrivateKey, PublicKey, Signature, SshSig};
use zeroize::Zeroizing;

/// The signature namespace git uses (gitformat-signature, `ssh-keygen -Y sign -n git`).
const NAMESPACE: &str = "git";

/// An Ed25519 key that signs commits.
pub struct SigningKey(PrivateKey);

impl SigningKey {
    /// Makes a new key from the operating system's random source.
    #[must_use]
    #[allow(clippy::missing_panics_doc)] // never: the expectation says why
    pub fn generate() -> Self {
        let key = PrivateKey::random(&mut OsRng, Algorithm::Ed25519);
        Self(key.expect("Ed25519 needs nothing but random bytes"))
    }

    /// Reads an OpenSSH private key file that holds an unencrypted Ed25519 key.
    ///
    /// # Errors
    /// Says why the file cannot be used, never what stands in it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let key = PrivateKey::from_openssh(text)
            .map_err(|_| "it is not an OpenSSH private key".to_owned())?;
        if key.is_encrypted() {
            return Err("it is encrypted with a passphrase".into());
        }
        if key.algorithm() != Algorithm::Ed25519 {
            return Err(format!("it is an {} key, not Ed25519", key.algorithm()));
        }
        Ok(Self(key))
    }

    /// The file to keep, in OpenSSH's private key format.
    #[must_use]
    #[allow(clippy::missing_panics_doc)] // never: the expectation says why
    pub fn to_file(&self) -> Zeroizing<String> {
        self.0
            .to_openssh(LineEnding::LF)
            .expect("a key that was made or read has a text form")
    }

    /// The public half as one OpenSSH line, without a comment.
    #[must_use]
    pub fn public_line(&self) -> String {
        public_line(self.0.public_key())
    }

    /// The fingerprint as `ssh-keygen -l` shows it.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        self.0.fingerprint(HashAlg::Sha256).to_string()
    }

    /// Signs a commit object, as it is without its `gpgsig` header.
    pub(crate) fn sign(&self, commit: &[u8]) -> String {
        self.0
            .sign(NAMESPACE, HashAlg::Sha512, commit)
            .and_then(|signature| signature.to_pem(LineEnding::LF))
            .expect("an unencrypted Ed25519 key signs any message")
    }

    /// Signs bytes with Ed25519 alone (RFC 8032). What is signed so must not be mistakable for
    /// what [`Self::sign`] signs: that begins with `SSHSIG`.
    pub(crate) fn sign_bare(&self, bytes: &[u8]) -> Vec<u8> {
        let signature: Signature = Signer::sign(&self.0, bytes);
        signature.as_bytes().to_vec()
    }

    /// The public half.
    pub(crate) fn verifying_key(&self) -> VerifyingKey {
        VerifyingKey(self.0.public_key().clone())
    }
}

/// The public half of a signing key.
pub(crate) struct VerifyingKey(PublicKey);

impl VerifyingKey {
    /// Its 32 bytes (RFC 8032); `None` if it is not an Ed25519 key.
    pub(crate) fn bytes(&self) -> Option<[u8; 32]> {
        self.0.key_data().ed25519().map(|key| key.0)
    }

    /// Whether this is a signature by [`SigningKey::sign_bare`] over these bytes.
    pub(crate) fn verifies(&self, bytes: &[u8], signature: &[u8]) -> bool {
        Signature::new(Algorithm::Ed25519, signature)
            .is_ok_and(|signature| self.0.key_data().verify(bytes, &signature).is_ok())
    }
}

/// The key that made a signature which is right; whether its holder may write is another question.
pub(crate) struct SignedBy(PublicKey);

impl SignedBy {
    /// Checks the signature over a commit object without its `gpgsig` header.
    pub(crate) fn check(commit: &[u8], signature: &str) -> Option<Self> {
        let signature = SshSig::from_pem(signature).ok()?;
        let key = PublicKey::from(signature.public_key().clone());
        if key.algorithm() != Algorithm::Ed25519 {
            return None;
        }
        key.verify(NAMESPACE, commit, &signature).ok()?;
        Some(Self(key))
    }

    /// The key's fingerprint as `ssh-keygen -l` shows it.
    pub(crate) fn fingerprint(&self) -> String {
        self.0.fingerprint(HashAlg::Sha256).to_string()
    }
}

/// The `signers` file: who may write, in OpenSSH's `allowed_signers` format (ssh-keygen(1)).
pub(crate) struct Signers(Vec<(String, PublicKey)>);

impl Signers {
    /// The file with one signer.
    pub(crate) fn file(name: &str, key: &SigningKey) -> String {
        line_of(name, key.0.public_key()) + "\n"
    }

    /// Reads the file: the lines [`Self::file`] writes, comments and blank lines; nothing looser.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut signers = Vec::new();
        for (index, line) in text.split('\n').enumerate() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let signer = signer(line);
            signers.push(signer.ok_or_else(|| format!("line {} is not a signer", index + 1))?);
        }
        if signers.is_empty() {
            return Err("it names nobody".into());
        }
        Ok(Self(signers))
    }

    /// The name of the signer who holds `key`.
    pub(crate) fn name_of(&self, key: &SigningKey) -> Option<&str> {
        self.find(key.0.public_key())
    }

    /// The name of the signer who signed `commit`, if one did.
    pub(crate) fn verify(&self, commit: &[u8], signature: &str) -> Option<&str> {
        self.holder(&SignedBy::check(commit, signature)?)
    }

    /// The name of the signer who holds the key of a signature.
    pub(crate) fn holder(&self, signed: &SignedBy) -> Option<&str> {
        self.find(&signed.0)
    }

    /// Names and public keys, in the order of the file.
    pub(crate) fn list(&self) -> impl Iterator<Item = (&str, String)> {
        self.0
            .iter()
            .map(|(name, key)| (name.as_str(), public_line(key)))
    }

    /// Names and keys, in the order of the file.
    pub(crate) fn keys(&self) -> impl Iterator<Item = (&str, VerifyingKey)> {
        self.0
            .iter()
            .map(|(name, key)| (name.as_str(), VerifyingKey(key.clone())))
    }

    fn find(&self, key: &PublicKey) -> Option<&str> {
        let found = self.0.iter().find(|(_, k)| k.key_data() == key.key_data());
        found.map(|(name, _)| name.as_str())
    }
}

fn line_of(name: &str, key: &PublicKey) -> String {
    format!("{name} namespaces=\"{NAMESPACE}\" {}", public_line(key))
}

/// Reads a line: the one form of a signer, and behind it a comment at most.
fn signer(line: &str) -> Option<(String, PublicKey)> {
    let (name, rest) = line.split_once(' ')?;
    let key = rest.strip_prefix("namespaces=\"git\" ")?;
    let key = PublicKey::from_openssh(key).ok()?;
    // The name stands in the author line of commits, which has its own marks.
    let no_mark = |c: char| !(c.is_whitespace() || c.is_control() || matches!(c, '<' | '>'));
    let comment = line.strip_prefix(&line_of(name, &key))?;
    let fits = key.algorithm() == Algorithm::Ed25519
        && !name.is_empty()
        && name.chars().all(no_mark)
        && (comment.is_empty() || comment.starts_with(' '));
    fits.then(|| (name.to_owned(), key))
}

fn public_line(key: &PublicKey) -> String {
    PublicKey::new(key.key_data().clone(), "")
        .to_openssh()
        .expect("a public key has a text form")
        .trim_end()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_a_signer_over_the_same_bytes() {
        let (key, stranger) = (SigningKey::generate(), SigningKey::generate());
        let signers = Signers::parse(&Signers::file("owner", &key)).expect("own output");
        assert_eq!(
            signers.verify(b"commit", &key.sign(b"commit")),
            Some("owner")
        );
        assert_eq!(signers.verify(b"other", &key.sign(b"commit")), None);
        assert_eq!(signers.verify(b"commit", &stranger.sign(b"commit")), None);
        assert_eq!(
            signers.verify(b"commit", "-----BEGIN SSH SIGNATURE-----\n"),
            None
        );
        let other_namespace = key
            .0
            .sign("file", HashAlg::Sha512, b"commit")
            .expect("signs");
        let other_namespace = other_namespace.to_pem(LineEnding::LF).expect("encodes");
        assert_eq!(signers.verify(b"commit", &other_namespace), None);
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
    fn loose_signer_lines_are_refused() {
        let line = SigningKey::generate().public_line();
        for bad in [
            String::new(),
            "# only a comment\n".into(),
            line.clone(),
            format!("owner {line}"),
            format!("owner namespaces=\"*\" {line}"),
            format!("owner cert-authority {line}"),
            "owner namespaces=\"git\" ssh-ed25519 AAAA".into(),
            format!(" namespaces=\"git\" {line}"),
            format!("o<x> namespaces=\"git\" {line}"),
            format!("o\tx namespaces=\"git\" {line}"),
            format!("owner namespaces=\"git\" {line}\r\n"),
            format!("owner namespaces=\"git\"  {line}"),
            // A key of a token (PROTOCOL.u2f): well formed, but no signature of one is accepted.
            "owner namespaces=\"git\" sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABHNzaDo=".into(),
        ] {
            assert!(Signers::parse(&bad).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_parsers(text in "(owner |namespaces=\"git\" |ssh-ed25519 |[A-Za-z0-9+/= -]{0,9}|\n){0,8}") {
            let _ = Signers::parse(&text);
            let _ = SigningKey::parse(&text);
            let signers = Signers::parse(&Signers::file("o", &SigningKey::generate())).expect("own output");
            prop_assert_eq!(signers.verify(b"commit", &text), None);
        }
    }
}
