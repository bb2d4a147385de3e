//! Properties of the header that binds a version to its place.
#![allow(clippy::missing_panics_doc)] // a law that is broken panics: that is what finds it

use serde_json::Value;

use crate::Text;
use crate::crypto::seal::size_class;
use crate::id::MemoryId;
use crate::memory_tool::path::MemoryPath;
use crate::version::{FORMAT, SIZE_CLASS_MIN, VersionAddress, VersionFault, plaintext, read};

/// The place at which plaintexts are opened.
const ID: MemoryId = MemoryId([0x3f; 16]);
const PATH: &str = "/memories/notes/\u{e9} \"a\".md";
const VERSION: u64 = 3;

/// Reads `bytes` as the plaintext of a version. An accepted one names its place, also for an
/// independent JSON parser. Valid UTF-8 is also written as a text and read back.
pub fn version(bytes: &[u8]) {
    let path = MemoryPath::from_canonical(PATH.to_owned());
    let place = VersionAddress {
        id: ID,
        path: &path,
        version: VERSION,
    };
    let line = bytes.split(|b| *b == b'\n').next().unwrap_or_default();
    match read(bytes, &place) {
        Ok(text) => {
            let header: Value = serde_json::from_slice(line).expect("it was read before");
            let fields = header.as_object().expect("an object");
            assert_eq!(fields.len(), 5, "a field that nobody knows");
            assert_eq!(fields["agekeep"], FORMAT);
            assert_eq!(fields["id"], ID.to_string());
            assert_eq!(fields["path"], PATH);
            assert_eq!(fields["version"], VERSION);
            assert!(fields["pad"].is_string());
            assert_eq!(text.as_str().as_bytes(), &bytes[line.len() + 1..]);
        }
        Err(VersionFault::Unknown(format)) => {
            // The other fields of an unknown format are ignored.
            assert_ne!(format, FORMAT);
            if let Ok(header) = serde_json::from_slice::<Value>(line) {
                assert_eq!(header["agekeep"], format);
            }
        }
        Err(VersionFault::Unreadable(_)) => panic!("nothing was sealed"),
        Err(VersionFault::Malformed | VersionFault::Misplaced) => {}
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        let text = Text::from(text);
        let plain = plaintext(&place, &text);
        assert_eq!(plain.len(), size_class(plain.len(), SIZE_CLASS_MIN));
        assert_eq!(read(&plain, &place), Ok(text), "its own output");
    }
}
