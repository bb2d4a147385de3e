//! Permanent random ids: of a store, of a replica of it, and of a memory.

use std::fmt;

/// Gives a type of bytes its form: lowercase hexadecimal digits, in texts and in JSON.
macro_rules! hex_form {
    ($name:ident, $digits:literal digits) => {
        impl $name {
            /// Parses the canonical form: lowercase hexadecimal digits.
            #[must_use]
            #[allow(unreachable_pub)] // of the types that are only used here
            pub fn from_hex(text: &str) -> Option<Self> {
                crate::id::hex_bytes(text).map(Self)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&crate::id::hex(&self.0))
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
                let fault = concat!("not ", $digits, " lowercase hexadecimal digits");
                Self::from_hex(&text).ok_or_else(|| serde::de::Error::custom(fault))
            }
        }
    };
}
pub(crate) use hex_form;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $bytes:literal bytes, $digits:literal digits) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub(crate) [u8; $bytes]);

        hex_form!($name, $digits digits);

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{self}")
            }
        }
    };
}

id!(
    /// The permanent id of a store, bound into every key entry and sealed path.
    StoreId, 16 bytes, 32 digits
);
id!(
    /// The permanent id of a memory, unchanged by edits and renames. A file created again after a
    /// delete is a new memory. The id reveals nothing about path or content.
    MemoryId, 16 bytes, 32 digits
);

id!(
    /// The permanent id of a replica, one machine's copy of a store: its keyring has keys of its
    /// own.
    ReplicaId, 8 bytes, 16 digits
);

id!(
    /// The SHA-1 name of a git object.
    ObjectId, 20 bytes, 40 digits
);

macro_rules! random_id {
    ($($name:ident),*) => {$(
        impl $name {
            /// Generates an id from the operating system's random source.
            pub(crate) fn random() -> Self {
                Self(random())
            }
        }
    )*};
}
random_id!(StoreId, MemoryId, ReplicaId);

/// Returns a token that nobody can guess: 256 random bits, as 64 hexadecimal digits.
#[must_use]
pub fn random_token() -> String {
    hex(&random::<32>())
}

/// Returns `N` bytes from the operating system's random source.
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the system has random bytes");
    bytes
}

/// Parses exactly `2 * N` lowercase hexadecimal digits.
pub(crate) fn hex_bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |b: u8| match b {
        b'0'..=b'9' => Some(b - b'0'),
        b'a'..=b'f' => Some(b - b'a' + 10),
        _ => None,
    };
    let text = text.as_bytes();
    if text.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

/// Formats bytes as lowercase hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from(b"0123456789abcdef"[usize::from(half)]);
    let mut out = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        out.push(digit(byte >> 4));
        out.push(digit(byte & 0xf));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_canonical_spelling_is_read() {
        let id = MemoryId::random();
        assert_eq!(MemoryId::from_hex(&id.to_string()), Some(id));
        for bad in [
            "",
            "3f",
            "3F0C00000000000000000000000000AA",
            "3f0c00000000000000000000000000a",
            "3f0c00000000000000000000000000aaa",
            "3f0c0000000000000000000000000 aa",
            "../c00000000000000000000000000aa",
        ] {
            assert_eq!(MemoryId::from_hex(bad), None, "{bad}");
        }
    }
}
