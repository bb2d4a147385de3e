//! Tests of the keyring: which keys count as there, and which keyring may follow which.

use super::*;

/// A keyring of one reader.
struct Place {
    _temporary: tempfile::TempDir,
    members: Vec<Member>,
    keyring: Keyring,
}

impl Place {
    fn new() -> Self {
        let temporary = tempfile::tempdir().expect("a temporary folder");
        let folder = Folder::at(temporary.path()).expect("opens");
        let identity = Identity::generate();
        let members = vec![Member {
            role: Role::Reader,
            name: "owner".into(),
            recipient: identity.recipient().expect("X25519"),
        }];
        let keyring = Keyring::create(&folder, StoreId([7; 16]), &members, &identity);
        Self {
            _temporary: temporary,
            members,
            keyring: keyring.expect("creates"),
        }
    }

    /// Adds a memory.
    fn add(&mut self) -> MemoryId {
        let (new, _) = self.keyring.new_memory();
        let id = new.id;
        let entries = self.keyring.entries_for(&[new], &[]).expect("has room");
        self.keyring.write(&entries).expect("writes");
        id
    }

    /// Returns the keyring after an erasure of nothing, with numbers above these.
    fn after_an_erasure(&self, least: (u64, u64)) -> Keyring {
        let none = HashSet::new();
        let next = self
            .keyring
            .prepare_erasure(&self.members, (&none, &none), &[], least);
        self.keyring.after(&next.expect("stages")).expect("opens")
    }
}

#[test]
fn keys_that_count_as_destroyed_are_not_there() {
    let mut place = Place::new();
    let (kept, gone, gone_in_ring) = (place.add(), place.add(), place.add());
    let keyring = &mut place.keyring;
    keyring.exclude_erased([gone], [gone_in_ring]);
    for (id, in_ring, in_names) in [
        (kept, true, true),
        (gone, false, false),
        (gone_in_ring, false, true),
    ] {
        assert_eq!(keyring.in_ring(id).expect("reads"), in_ring);
        assert_eq!(keyring.in_names(id).expect("reads"), in_names);
        assert_eq!(keyring.has(id).expect("reads"), in_ring && in_names);
        assert_eq!(keyring.memory_key(id).is_ok(), in_ring);
        assert_eq!(keyring.memory_keys(id).is_ok(), in_ring);
        assert_eq!(keyring.name_key(id).is_ok(), in_names);
        assert!(keyring.still_has(id).expect("reads"), "its entries are");
    }
    let stranger = MemoryId::random();
    assert!(!keyring.still_has(stranger).expect("reads"));
    assert!(!keyring.has(stranger).expect("reads"));
    assert!(keyring.check_entries_of(kept).is_ok());
    assert!(keyring.check_entries_of(stranger).is_err());
    assert!(keyring.check_entries((3, 3)).is_ok());
    assert!(keyring.check_entries((4, 3)).is_err());
    assert!(keyring.check_entries((3, 4)).is_err());
    let (ring, names) = keyring.ids_after((1, 2)).expect("reads");
    assert_eq!((ring.len(), names), (2, vec![gone_in_ring]));
}

#[test]
fn keys_are_followed_by_those_that_a_holder_of_them_proves() {
    let mut place = Place::new();
    place.add();
    let before = place.keyring.commitment().expect("a reader's");
    let (mark, parent) = (&before.epoch.1, Some(Digest::of(b"parent")));
    let after = place.after_an_erasure((0, 0));
    let new = after.new_commitment(parent).expect("a reader's");
    let new = new.expect("not on record yet");
    assert!(new.follows(mark, parent));
    for other in [None, Some(Digest::of(b"another"))] {
        assert!(!new.follows(mark, other), "after another commit");
    }
    assert!(!new.with_more_entries(1).follows(mark, parent));
    assert!(!new.without_proof().follows(mark, parent));
    assert!(!new.follows(&new.epoch.1, parent), "by its own key");
    let mut renumbered = new;
    renumbered.epoch.0 += 1;
    assert!(!renumbered.follows(mark, parent));
    assert!(after.has_keys_of(&new) && !after.has_keys_of(&before));
    assert!(place.keyring.has_keys_of(&before.with_more_entries(5)));
}

#[test]
fn an_erasure_gives_keys_higher_numbers_and_finds_the_same_secrets() {
    let place = Place::new();
    assert_eq!(place.keyring.numbers(), (Some(1), 1));
    let after = place.after_an_erasure((0, 0));
    assert_eq!(after.numbers(), (Some(2), 2));
    let later = place.after_an_erasure((7, 9));
    assert_eq!(later.numbers(), (Some(8), 10));
    for (numbers, is_before) in [
        ((8, 10), false),
        ((7, 9), false),
        ((9, 10), true),
        ((8, 11), true),
    ] {
        assert_eq!(later.is_before(numbers), is_before, "{numbers:?}");
    }
    let store = place.keyring.store;
    let kept = later.audit.fingerprint_key.as_ref().expect("kept");
    let again = place.keyring.audit.with_new_names_key(store, 0);
    assert!(again.fingerprint_key.expect("kept").is(kept));
    assert!(!place.keyring.audit.names_key.is(&later.audit.names_key));
}
