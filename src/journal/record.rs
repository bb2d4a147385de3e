//! The contents of a journal record, and their encoding.

use crate::disk::StagedKeyringId;
use crate::id::ObjectId;
use crate::repository::object::{Object, ObjectKind};

/// An entry of a keyring file, and its place there.
#[derive(Clone)]
pub(crate) struct KeyEntry {
    /// 0 is `ring`, 1 is `names`, and [`Self::NEXT`] a staged keyring.
    pub(crate) table: u8,
    pub(crate) slot: u32,
    pub(crate) bytes: Vec<u8>,
}

impl KeyEntry {
    /// The table of an entry that names a staged keyring.
    pub(crate) const NEXT: u8 = 2;

    /// Tells whether it replaces all keys.
    pub(crate) fn is_of_all(&self) -> bool {
        self.table == Self::NEXT
    }

    /// Tells whether it names no keyring, or names one in a form that cannot be a path.
    pub(super) fn names_no_path(&self) -> bool {
        self.table != Self::NEXT || StagedKeyringId::parse(&self.bytes).is_some()
    }
}

/// Bytes of the two names with which a payload begins.
pub(super) const COMMITS_BYTES: usize = 40;

/// Returns the parent and the head that the start of a payload names.
pub(super) fn commits(start: &[u8; COMMITS_BYTES]) -> (ObjectId, ObjectId) {
    let name = |from: usize| ObjectId(start[from..from + 20].try_into().expect("20 bytes"));
    (name(0), name(20))
}

/// Everything that one command changes, or several that became durable together.
pub(crate) struct JournalRecord {
    pub(crate) parent: ObjectId,
    pub(crate) head: ObjectId,
    pub(crate) objects: Vec<Object>,
    pub(crate) keys: Vec<KeyEntry>,
}

impl JournalRecord {
    /// Encodes the payload of the record (docs/format.md, 7.2).
    pub(super) fn encode(&self) -> Vec<u8> {
        let size: usize = self.objects.iter().map(|o| o.bytes.len() + 25).sum();
        let mut out = Vec::with_capacity(size + 64 + 160 * self.keys.len());
        out.extend_from_slice(&self.parent.0);
        out.extend_from_slice(&self.head.0);
        put_u32(&mut out, self.objects.len());
        for object in &self.objects {
            out.push(match object.kind {
                ObjectKind::Blob => b'b',
                ObjectKind::Tree => b't',
                ObjectKind::Commit => b'c',
            });
            out.extend_from_slice(&object.id.0);
            put_u32(&mut out, object.bytes.len());
            out.extend_from_slice(&object.bytes);
        }
        put_u32(&mut out, self.keys.len());
        for key in &self.keys {
            out.push(key.table);
            out.extend_from_slice(&key.slot.to_le_bytes());
            put_u32(&mut out, key.bytes.len());
            out.extend_from_slice(&key.bytes);
        }
        out
    }

    /// Decodes a payload; `None` if it is none that [`Self::encode`] makes.
    pub(super) fn decode(payload: &[u8]) -> Option<Self> {
        let mut rest = payload;
        let mut take = |n: usize| {
            let (head, tail) = rest.split_at_checked(n)?;
            rest = tail;
            Some(head)
        };
        let (parent, head) = commits(take(COMMITS_BYTES)?.try_into().ok()?);
        let mut objects = Vec::new();
        for _ in 0..u32::from_le_bytes(take(4)?.try_into().ok()?) {
            let kind = match take(1)? {
                b"b" => ObjectKind::Blob,
                b"t" => ObjectKind::Tree,
                b"c" => ObjectKind::Commit,
                _ => return None,
            };
            let id = ObjectId(take(20)?.try_into().ok()?);
            let length = u32::from_le_bytes(take(4)?.try_into().ok()?);
            let bytes = take(length as usize)?.to_vec();
            objects.push(Object { id, kind, bytes });
        }
        let mut keys = Vec::new();
        for _ in 0..u32::from_le_bytes(take(4)?.try_into().ok()?) {
            let table = take(1)?[0];
            let slot = u32::from_le_bytes(take(4)?.try_into().ok()?);
            let length = u32::from_le_bytes(take(4)?.try_into().ok()?);
            let bytes = take(length as usize)?.to_vec();
            keys.push(KeyEntry { table, slot, bytes });
        }
        rest.is_empty().then_some(Self {
            parent,
            head,
            objects,
            keys,
        })
    }
}

/// Appends a length. All are below the record's own, which [`super::Journal::append`] checks.
fn put_u32(out: &mut Vec<u8>, n: usize) {
    out.extend_from_slice(&u32::try_from(n).unwrap_or(u32::MAX).to_le_bytes());
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(in crate::journal) fn id(byte: u8) -> ObjectId {
        ObjectId([byte; 20])
    }

    pub(in crate::journal) fn record(n: u8, size: usize) -> JournalRecord {
        JournalRecord {
            parent: id(n - 1),
            head: id(n),
            objects: vec![Object {
                id: id(n),
                kind: ObjectKind::Blob,
                bytes: vec![n; size],
            }],
            keys: vec![KeyEntry {
                table: 1,
                slot: u32::from(n),
                bytes: vec![n; 88],
            }],
        }
    }

    proptest! {
        #[test]
        fn no_bytes_break_the_record_parser(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            if let Some(record) = JournalRecord::decode(&bytes) {
                prop_assert_eq!(record.encode(), bytes);
            }
        }

        #[test]
        fn a_record_reads_back(size in 0usize..300, n in 1u8..9, cut in 0usize..600) {
            let bytes = record(n, size).encode();
            prop_assert_eq!(JournalRecord::decode(&bytes).expect("own output").encode(), bytes.clone());
            prop_assert!(JournalRecord::decode(&bytes[..cut.min(bytes.len() - 1)]).is_none());
        }
    }
}
