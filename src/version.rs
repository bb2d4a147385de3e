//! The plaintext of a version: a header line that binds it to its memory, path and number, then the
//! text.
//!
//! ```text
//! {"agekeep":1,"id":"…","path":"/memories/…","version":3,"pad":"   "}⏎
//! the text, byte for byte, to the end of the file
//! ```

#[cfg(any(fuzzing, test))]
pub(crate) mod fuzzing;

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::Text;
use crate::crypto::seal::{OpenFault, PreparedEncryptor, SealKey, Sealed, size_class};
use crate::error::Error;
use crate::id::MemoryId;
use crate::memory_tool::MEMORY_BYTES_MAX;
use crate::memory_tool::path::MemoryPath;
use crate::redact::Redacted;

/// The format of the header.
const FORMAT: u32 = 1;
/// Smallest size class, in bytes of header, padding and text.
const SIZE_CLASS_MIN: usize = 256;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct VersionHeader<'a> {
    agekeep: u32,
    #[serde(borrow)]
    id: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    path: std::borrow::Cow<'a, str>,
    version: u64,
    #[serde(borrow)]
    pad: std::borrow::Cow<'a, str>,
}

/// The memory, path and number of a version.
#[derive(Clone)]
pub(crate) struct VersionAddress<'a> {
    pub(crate) id: MemoryId,
    pub(crate) path: &'a MemoryPath,
    pub(crate) version: u64,
}

/// The reasons why a version does not open.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum VersionFault {
    Unreadable(OpenFault),
    /// The header has an unknown format version.
    Unknown(u32),
    /// The header is invalid, or the text is not UTF-8.
    Malformed,
    /// A whole version of another memory, path or number: swapped or replayed.
    Misplaced,
}

impl VersionFault {
    /// Builds the error for a version at this place.
    pub(crate) fn at(&self, place: &VersionAddress<'_>) -> Error {
        let what = format!("version {} of the memory {}", place.version, place.id);
        let why = match self {
            Self::Unknown(found) => {
                return Error::UnknownFormat {
                    what,
                    found: found.to_string(),
                };
            }
            Self::Unreadable(_) => "it does not open with its key",
            Self::Malformed => "its header does not parse",
            Self::Misplaced => "its header belongs to another memory, path or version",
        };
        Error::damaged(what, why)
    }
}

/// Seals a text as the version at `place`.
pub(crate) fn seal(
    begun: PreparedEncryptor,
    place: &VersionAddress<'_>,
    redacted: &Redacted,
) -> Sealed {
    begun.seal(&plaintext(place, redacted.text()))
}

/// Seals an earlier text unchanged to a new key, as the version at `place`.
pub(crate) fn reencrypt(key: &SealKey, place: &VersionAddress<'_>, kept: &Text) -> Sealed {
    key.seal(&plaintext(place, kept))
}

fn plaintext(place: &VersionAddress<'_>, text: &Text) -> Zeroizing<Vec<u8>> {
    let header = |pad: usize| {
        serde_json::to_string(&VersionHeader {
            agekeep: FORMAT,
            id: place.id.to_string().into(),
            path: place.path.as_str().into(),
            version: place.version,
            pad: " ".repeat(pad).into(),
        })
        .expect("strings and numbers have a JSON form")
    };
    let bare = Zeroizing::new(header(0));
    let least = bare.len() + 1 + text.len();
    let size = size_class(least, SIZE_CLASS_MIN);
    let mut plain = Zeroizing::new(Vec::with_capacity(size));
    plain.extend_from_slice(Zeroizing::new(header(size - least)).as_bytes());
    plain.push(b'\n');
    plain.extend_from_slice(text.as_str().as_bytes());
    plain
}

/// Opens a version with one of its memory's keys, and verifies that it belongs at `place`.
pub(crate) fn open(
    keys: &[SealKey],
    place: &VersionAddress<'_>,
    sealed: &Sealed,
) -> Result<Text, VersionFault> {
    let plain = SealKey::open_with_any(keys, sealed).map_err(VersionFault::Unreadable)?;
    read(&plain, place)
}

fn read(plain: &[u8], place: &VersionAddress<'_>) -> Result<Text, VersionFault> {
    let at = plain
        .iter()
        .position(|b| *b == b'\n')
        .ok_or(VersionFault::Malformed)?;
    check_header(&plain[..at], place)?;
    let text = std::str::from_utf8(&plain[at + 1..]).map_err(|_| VersionFault::Malformed)?;
    Ok(text.into())
}

fn check_header(line: &[u8], place: &VersionAddress<'_>) -> Result<(), VersionFault> {
    #[derive(Deserialize)]
    struct VersionFormat {
        agekeep: u32,
    }
    let VersionFormat { agekeep } =
        serde_json::from_slice(line).map_err(|_| VersionFault::Malformed)?;
    if agekeep != FORMAT {
        return Err(VersionFault::Unknown(agekeep));
    }
    let header: VersionHeader<'_> =
        serde_json::from_slice(line).map_err(|_| VersionFault::Malformed)?;
    if header.id != place.id.to_string()
        || header.path != place.path.as_str()
        || header.version != place.version
    {
        return Err(VersionFault::Misplaced);
    }
    Ok(())
}

/// Estimates the bytes that a version adds to history from the length of its text alone, so that a
/// reader without paths and keys gets the same number.
pub(crate) fn history_bytes(text_bytes: u64) -> u64 {
    // No version has a longer text, even if its record claims so.
    let text =
        usize::try_from(text_bytes).map_or(MEMORY_BYTES_MAX, |text| text.min(MEMORY_BYTES_MAX));
    size_class(text + AROUND_TEXT_BYTES, SIZE_CLASS_MIN) as u64
}

/// Approximate overhead of a version, in bytes: its header, and that of the age file.
const AROUND_TEXT_BYTES: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::Redactor;
    use crate::redact::config::{Mode, Redaction};
    use proptest::prelude::*;

    /// A text as a policy lets it through that looks for nothing.
    fn unscanned(text: impl Into<Text>) -> Redacted {
        let mut policy = Redaction::default();
        policy.mode = Mode::Off;
        let redactor = Redactor::of_policy(&policy).expect("it has no rules");
        redactor
            .redact("/memories/a", &text.into())
            .expect("never refused")
    }

    fn path(text: &str) -> MemoryPath {
        MemoryPath::parse(text, 1024).expect("valid")
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn seal_then_open_is_identity(text in "(?s).{0,600}") {
            let (key, path, id) = (SealKey::generate(), path("/memories/\"q\"/ü"), MemoryId::random());
            let place = VersionAddress { id, path: &path, version: 7 };
            let text = Text::from(text);
            let sealed = seal(key.begin(), &place, &unscanned(text.clone()));
            prop_assert_eq!(open(std::slice::from_ref(&key), &place, &sealed), Ok(text));
        }

        #[test]
        fn classes_are_few_and_near(size in 1usize..5_000_000) {
            let class = size_class(size, 256);
            prop_assert!(class >= size && class >= 256);
            prop_assert!(class <= 256.max(size + size / 8));
            prop_assert_eq!(size_class(class, 256), class);
        }
    }

    #[test]
    fn a_version_opens_only_at_its_place() {
        let (key, here, there) = (
            SealKey::generate(),
            path("/memories/a"),
            path("/memories/b"),
        );
        let id = MemoryId::random();
        let place = VersionAddress {
            id,
            path: &here,
            version: 2,
        };
        let sealed = seal(key.begin(), &place, &unscanned("text"));
        for wrong in [
            VersionAddress {
                id: MemoryId::random(),
                ..place.clone()
            },
            VersionAddress {
                path: &there,
                ..place.clone()
            },
            VersionAddress {
                version: 1,
                ..place.clone()
            },
        ] {
            assert_eq!(
                open(std::slice::from_ref(&key), &wrong, &sealed),
                Err(VersionFault::Misplaced)
            );
        }
    }

    #[test]
    fn headers_that_are_none() {
        let (key, here) = (SealKey::generate(), path("/memories/a"));
        let id = MemoryId::random();
        let place = VersionAddress {
            id,
            path: &here,
            version: 1,
        };
        let good =
            format!(r#"{{"agekeep":1,"id":"{id}","path":"/memories/a","version":1,"pad":""}}"#);
        let open = |plain: &[u8]| open(std::slice::from_ref(&key), &place, &key.seal(plain));
        assert!(open(format!("{good}\ntext").as_bytes()).is_ok());
        for bad in [
            "",
            "\n",
            "text",
            "{}\n",
            "[]\ntext",
            &good,
            &format!("{good},\n"),
            "{\"agekeep\":1}\nx",
        ] {
            assert_eq!(open(bad.as_bytes()), Err(VersionFault::Malformed), "{bad}");
        }
        assert_eq!(
            open(b"{\"agekeep\":2,\"new\":0}\ntext"),
            Err(VersionFault::Unknown(2))
        );
        let not_text = [good.as_bytes(), b"\n\xff"].concat();
        assert_eq!(open(&not_text), Err(VersionFault::Malformed));
    }

    #[test]
    fn small_texts_share_one_size() {
        let (key, here) = (SealKey::generate(), path("/memories/a"));
        let place = VersionAddress {
            id: MemoryId::random(),
            path: &here,
            version: 1,
        };
        let plain_size = |text: &str| {
            key.open(&seal(key.begin(), &place, &unscanned(text)))
                .expect("own")
                .len()
        };
        assert_eq!(plain_size(""), plain_size(&"x".repeat(100)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn no_bytes_break_the_header_parser(plain in prop::collection::vec(any::<u8>(), 0..200)) {
            let (key, here) = (SealKey::generate(), path("/memories/a"));
            let place = VersionAddress { id: MemoryId::random(), path: &here, version: 1 };
            prop_assert!(open(std::slice::from_ref(&key), &place, &key.seal(&plain)).is_err());
        }
    }
}
