//! Recipients: the public halves of identities, of every kind in age, and sealing to them.

use std::str::FromStr;
use std::sync::Arc;

use age::plugin::{self, RecipientPluginV1};
use age::ssh::{self, ParseRecipientKeyError};
use age::{EncryptError, tag, tagpq, x25519};

use crate::crypto::seal::identity::unresolved;
use crate::crypto::seal::unlock::{PluginCallbacks, Unlock};
use crate::crypto::seal::{Sealed, openssh, plugin_failed, program};
use crate::error::{Error, KeyFault, Result};

/// Longest recipient that is parsed, in characters: a post-quantum one has about 2,000.
const RECIPIENT_CHARACTERS_MAX: usize = 4096;

/// The age label of recipients that cannot be combined with classic ones.
const POST_QUANTUM: &str = "postquantum";

/// Plugins whose recipients are known to be post-quantum without running them.
const POST_QUANTUM_PLUGINS: &[&str] = &["pq", "tagpq"];

/// The public half of an age identity.
#[derive(Clone)]
pub struct Recipient {
    /// The canonical form.
    text: String,
    key: RecipientKey,
}

#[derive(Clone)]
enum RecipientKey {
    X25519(x25519::Recipient),
    Ssh(Box<ssh::Recipient>),
    Tag(Box<tag::Recipient>),
    TagPq(Box<tagpq::Recipient>),
    Plugin(plugin::Recipient),
}

impl Recipient {
    /// Parses a recipient: `age1…`, or the line of an SSH public key, whose comment is dropped.
    ///
    /// # Errors
    /// Returns the fault, and never repeats the input: it could be a secret.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if crate::crypto::sign::is_secret(text) {
            return Err("it is an identity, which must stay secret; give its recipient".into());
        }
        if text.len() > RECIPIENT_CHARACTERS_MAX {
            return Err("it is too long for a recipient".into());
        }
        if text.contains(['\n', '\r']) {
            return Err("it is more than one line".into());
        }
        let key = if text.starts_with("age1") {
            of_bech32(text)?
        } else {
            of_ssh(text)?
        };
        let recipient = Self {
            text: key.to_text(),
            key,
        };
        // An SSH key may have a comment after it. Everything else has one spelling.
        let given = match recipient.key {
            RecipientKey::Ssh(_) => text.splitn(3, ' ').take(2).collect::<Vec<_>>().join(" "),
            _ => text.to_owned(),
        };
        let one_form = match recipient.text.strip_prefix("ssh-rsa ") {
            Some(key) => openssh::is_one_form(key),
            None => true,
        };
        if given != recipient.text || !one_form {
            return Err("it is not in the form that age writes".into());
        }
        Ok(recipient)
    }

    /// Tells whether it withstands quantum computers. Such recipients and classic ones never share
    /// a file, which would be as weak as the classic ones.
    #[must_use]
    pub fn is_post_quantum(&self) -> bool {
        match &self.key {
            RecipientKey::TagPq(_) => true,
            RecipientKey::Plugin(key) => POST_QUANTUM_PLUGINS.contains(&key.plugin()),
            _ => false,
        }
    }

    /// Tells whether it is an X25519 recipient, as agekeep generates.
    pub(crate) fn is_x25519(&self) -> bool {
        matches!(self.key, RecipientKey::X25519(_))
    }

    /// Seals `plain` to all of `recipients`, at least one.
    ///
    /// # Errors
    /// [`KeyFault::MixedRecipients`] if both post-quantum and classic ones are among them;
    /// [`KeyFault::MissingPlugin`] or [`KeyFault::PluginFailed`] if a plugin is missing or fails.
    pub(crate) fn seal_to_all(
        recipients: &[Self],
        plain: &[u8],
        unlock: &Arc<dyn Unlock>,
    ) -> Result<Sealed> {
        let post_quantum = recipients.iter().filter(|r| r.is_post_quantum()).count();
        // Only the plugin knows the label of its recipient.
        let unsure = |r: &&Self| matches!(r.key, RecipientKey::Plugin(_)) && !r.is_post_quantum();
        let unsure = recipients.iter().filter(unsure).count();
        if post_quantum > 0 && post_quantum + unsure < recipients.len() {
            return Err(Error::Key(KeyFault::MixedRecipients));
        }
        let runs = plugin_runs(recipients, unlock)?;
        let native = recipients.iter().filter_map(|r| r.key.as_age());
        let plugins = runs.iter().map(|run| &run.recipient as &dyn age::Recipient);
        match age::Encryptor::with_recipients(native.chain(plugins)) {
            Ok(encryptor) => Ok(Sealed::write(encryptor, plain)),
            Err(error) => Err(failure(&error, &runs)),
        }
    }
}

impl From<x25519::Recipient> for Recipient {
    fn from(key: x25519::Recipient) -> Self {
        let key = RecipientKey::X25519(key);
        Self {
            text: key.to_text(),
            key,
        }
    }
}

impl RecipientKey {
    fn to_text(&self) -> String {
        match self {
            Self::X25519(key) => key.to_string(),
            Self::Ssh(key) => key.to_string(),
            Self::Tag(key) => key.to_string(),
            Self::TagPq(key) => key.to_string(),
            // The age crate keeps the case of the input.
            Self::Plugin(key) => key.to_string().to_ascii_lowercase(),
        }
    }

    fn as_age(&self) -> Option<&dyn age::Recipient> {
        match self {
            Self::X25519(key) => Some(key),
            Self::Ssh(key) => Some(&**key),
            Self::Tag(key) => Some(&**key),
            Self::TagPq(key) => Some(&**key),
            Self::Plugin(_) => None,
        }
    }
}

/// A plugin run for all of its recipients.
struct PluginRun {
    program: String,
    recipient: RecipientPluginV1<PluginCallbacks>,
    answers: PluginCallbacks,
}

fn plugin_runs(recipients: &[Recipient], unlock: &Arc<dyn Unlock>) -> Result<Vec<PluginRun>> {
    let keys = recipients.iter().filter_map(|r| match &r.key {
        RecipientKey::Plugin(key) => Some(key.clone()),
        _ => None,
    });
    let keys: Vec<plugin::Recipient> = keys.collect();
    let mut names: Vec<&str> = keys.iter().map(plugin::Recipient::plugin).collect();
    names.sort_unstable();
    names.dedup();
    let run = |name: &&str| {
        let answers = PluginCallbacks::new(unlock, program(name));
        let recipient = RecipientPluginV1::new(name, &keys, &[], answers.clone());
        Ok(PluginRun {
            program: program(name),
            recipient: recipient.map_err(|e| unresolved(&e))?,
            answers,
        })
    };
    names.iter().map(run).collect()
}

fn failure(error: &EncryptError, runs: &[PluginRun]) -> Error {
    if let Some(refused) = runs.iter().find_map(|run| run.answers.refused()) {
        return refused;
    }
    let programs: Vec<_> = runs.iter().map(|run| run.program.as_str()).collect();
    let why = match error {
        EncryptError::IncompatibleRecipients { l_labels, r_labels }
            if l_labels.contains(POST_QUANTUM) != r_labels.contains(POST_QUANTUM) =>
        {
            return Error::Key(KeyFault::MixedRecipients);
        }
        EncryptError::IncompatibleRecipients { .. } => {
            "it seals to no one beside its own recipients".into()
        }
        EncryptError::Plugin(errors) => {
            let said: Vec<_> = errors.iter().map(ToString::to_string).collect();
            said.join("; ")
        }
        // The file is in memory, so the plugin's connection failed.
        _ => "it stopped".into(),
    };
    plugin_failed(programs.join(" or "), &why)
}

fn of_bech32(text: &str) -> Result<RecipientKey, String> {
    let separator = text.rfind('1').expect("it begins with age1");
    let read = match &text[..separator] {
        "age" => x25519::Recipient::from_str(text).map(RecipientKey::X25519),
        "age1tag" => tag::Recipient::from_str(text).map(|key| RecipientKey::Tag(Box::new(key))),
        "age1tagpq" => {
            tagpq::Recipient::from_str(text).map(|key| RecipientKey::TagPq(Box::new(key)))
        }
        _ => plugin::Recipient::from_str(text).map(RecipientKey::Plugin),
    };
    read.map_err(|_| "it was cut short or mistyped: its checksum does not fit".into())
}

fn of_ssh(text: &str) -> Result<RecipientKey, String> {
    match ssh::Recipient::from_str(text) {
        Ok(key) => Ok(RecipientKey::Ssh(Box::new(key))),
        Err(ParseRecipientKeyError::Unsupported(_)) => {
            Err("it is an SSH key of another kind; age knows ssh-ed25519 and ssh-rsa".into())
        }
        Err(ParseRecipientKeyError::RsaModulusTooSmall) => {
            Err("it is an RSA key of fewer than 2048 bits, which is too weak".into())
        }
        Err(ParseRecipientKeyError::RsaModulusTooLarge) => {
            Err("it is an RSA key of more than 4096 bits, which age does not accept".into())
        }
        Err(_) if text.starts_with("ssh-") => {
            Err("it is an SSH key that was cut short or changed".into())
        }
        Err(_) => Err(
            "it is not a recipient: recipients begin with age1, ssh-ed25519 or \
                       ssh-rsa"
                .into(),
        ),
    }
}

/// Parses only the canonical form, which [`Recipient`]'s `Display` writes.
impl FromStr for Recipient {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let recipient = Self::parse(text)?;
        if recipient.text != text {
            return Err("there is other text before or after it".into());
        }
        Ok(recipient)
    }
}

impl PartialEq for Recipient {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Recipient {}

impl std::fmt::Display for Recipient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::fmt::Debug for Recipient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Recipient({})", self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crypto::base64;
    use crate::crypto::seal::{Identity, Unattended, Unopened};
    use crate::id::hex;

    /// The generator of P-256, as a sample point.
    const X: &str = "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296";
    const Y: &str = "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5";

    fn unhex(text: &str) -> Vec<u8> {
        let byte = |i| u8::from_str_radix(&text[i..i + 2], 16).expect("hex");
        (0..text.len()).step_by(2).map(byte).collect()
    }

    fn bech32(prefix: &str, data: &[u8]) -> String {
        let prefix = bech32::Hrp::parse(prefix).expect("a prefix");
        bech32::encode::<Long>(prefix, data).expect("short")
    }

    /// BIP 173 without its length limit, as in age.
    enum Long {}

    impl bech32::Checksum for Long {
        type MidstateRepr = u32;
        const CHECKSUM_LENGTH: usize = bech32::Bech32::CHECKSUM_LENGTH;
        const CODE_LENGTH: usize = usize::MAX;
        const GENERATOR_SH: [u32; 5] = bech32::Bech32::GENERATOR_SH;
        const TARGET_RESIDUE: u32 = bech32::Bech32::TARGET_RESIDUE;
    }

    fn tagged() -> String {
        bech32("age1tag", &unhex(&format!("03{X}")))
    }

    fn post_quantum() -> String {
        let mut key = vec![0; 1184];
        key.extend(unhex(&format!("04{X}{Y}")));
        bech32("age1tagpq", &key)
    }

    fn wire(fields: &[&[u8]]) -> Vec<u8> {
        let mut out = Vec::new();
        for field in fields {
            out.extend(u32::try_from(field.len()).expect("short").to_be_bytes());
            out.extend_from_slice(field);
        }
        out
    }

    fn rsa(modulus: &[u8], behind: &[u8]) -> String {
        let mut key = wire(&[b"ssh-rsa", &[1, 0, 1], modulus]);
        key.extend_from_slice(behind);
        format!("ssh-rsa {}", base64::encode_padded(&key))
    }

    fn ed25519() -> String {
        let mut base = [0x66; 32];
        base[0] = 0x58;
        let key = wire(&[b"ssh-ed25519", &base]);
        format!("ssh-ed25519 {}", base64::encode_padded(&key))
    }

    fn modulus() -> Vec<u8> {
        let mut modulus = vec![0];
        modulus.extend([0xc5; 257]);
        modulus
    }

    fn unlock() -> Arc<dyn Unlock> {
        Arc::new(Unattended)
    }

    fn all() -> Vec<String> {
        vec![
            Identity::generate()
                .recipient()
                .expect("X25519")
                .to_string(),
            tagged(),
            post_quantum(),
            bech32("age1yubikey", b"any data"),
            ed25519(),
            rsa(&modulus(), b""),
        ]
    }

    #[test]
    fn each_has_one_form() {
        for text in all() {
            let recipient: Recipient = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
            assert_eq!(recipient.to_string(), text);
            assert_eq!(
                recipient,
                Recipient::parse(&format!(" {text}\n")).expect("trimmed")
            );
            let (cut, half) = (&text[..text.len() - 1], &text[..text.len() / 2]);
            for bad in [
                format!("{text} "),
                format!(" {text}"),
                format!("{text}\n"),
                format!("{text} comment"),
                format!("{text}\n{text}"),
                format!("{text}="),
                text.to_uppercase(),
                cut.into(),
                half.into(),
                text.replacen(' ', "  ", 1) + " ",
            ] {
                assert!(bad.parse::<Recipient>().is_err(), "{bad}");
            }
        }
    }

    #[test]
    fn the_comment_of_an_ssh_key_is_dropped() {
        for text in [ed25519(), rsa(&modulus(), b"")] {
            let line = format!("{text} somebody @ example\n");
            assert_eq!(Recipient::parse(&line).expect("a key").to_string(), text);
        }
    }

    #[test]
    fn other_spellings_of_an_rsa_key_are_refused() {
        let mut longer = vec![0];
        longer.extend(modulus());
        for bad in [
            rsa(&longer, b""),
            rsa(&modulus()[1..], b""),
            rsa(&modulus(), b"\0"),
        ] {
            assert!(Recipient::parse(&bad).is_err(), "{bad}");
        }
        assert!(Recipient::parse(rsa(&modulus(), b"").trim_end_matches('=')).is_err());
    }

    #[test]
    fn classic_and_post_quantum_are_never_mixed() {
        let parse = |text: String| Recipient::parse(&text).expect("a recipient");
        let post = parse(post_quantum());
        assert!(post.is_post_quantum());
        for classic in all().into_iter().map(parse).filter(|r| *r != post) {
            assert!(!classic.is_post_quantum(), "{classic}");
            if matches!(classic.key, RecipientKey::Plugin(_)) {
                continue;
            }
            for pair in [
                [classic.clone(), post.clone()],
                [post.clone(), classic.clone()],
            ] {
                let error = Recipient::seal_to_all(&pair, b"x", &unlock())
                    .err()
                    .expect("mixed");
                assert!(
                    matches!(error, Error::Key(KeyFault::MixedRecipients)),
                    "{error}"
                );
            }
        }
        let sealed = Recipient::seal_to_all(&[post.clone(), post], b"x", &unlock()).map(|_| ());
        assert!(sealed.is_ok());
    }

    #[test]
    fn a_plugin_known_as_post_quantum_is_not_run_for_a_mixture() {
        let parse = |text: String| Recipient::parse(&text).expect("a recipient");
        let plugin = |name: &str| parse(bech32(&format!("age1{name}"), b"any data"));
        let (post, classic) = (plugin("pq"), parse(ed25519()));
        let refusal = |pair: &[Recipient]| {
            let refused = Recipient::seal_to_all(pair, b"x", &unlock());
            refused.err().expect("refused")
        };
        assert!(post.is_post_quantum());
        for pair in [[post.clone(), classic.clone()], [classic, post.clone()]] {
            let error = refusal(&pair);
            let mixed = matches!(error, Error::Key(KeyFault::MixedRecipients));
            assert!(mixed, "{error}");
        }
        // What only its plugin knows is asked of the plugin.
        let error = refusal(&[parse(post_quantum()), plugin("nosuchplugin")]);
        let missing = matches!(error, Error::Key(KeyFault::MissingPlugin { .. }));
        assert!(missing, "{error}");
    }

    #[test]
    fn any_of_several_opens_and_another_does_not() {
        let identity = Identity::generate();
        let mut recipients = vec![identity.recipient().expect("X25519")];
        for text in [tagged(), ed25519(), rsa(&modulus(), b"")] {
            recipients.push(text.parse().expect("a recipient"));
        }
        let sealed = Recipient::seal_to_all(&recipients, b"plain", &unlock()).expect("sealed");
        assert!(identity.open(&sealed).is_ok_and(|plain| *plain == b"plain"));
        let other = Identity::generate().open(&sealed);
        let wrong = crate::crypto::seal::OpenFault::WrongKey;
        assert!(matches!(other, Err(Unopened::Fault(fault)) if fault == wrong));
    }

    #[test]
    fn a_plugin_that_is_not_there_is_named() {
        let data: [u8; 8] = crate::id::random();
        let recipient = bech32("age1nosuchplugin", hex(&data).as_bytes());
        let recipients = [recipient.parse().expect("a recipient")];
        let error = Recipient::seal_to_all(&recipients, b"x", &unlock())
            .err()
            .expect("missing");
        assert!(
            error.to_string().contains("age-plugin-nosuchplugin"),
            "{error}"
        );
    }
}
