//! Tests of the keyring: which keys count as there, and which keyring may follow which.

use std::fs;
use std::path::PathBuf;

use super::*;
use crate::id::ObjectId;

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

    /// Opens the keyring anew.
    fn again(&self) -> Keyring {
        let keyring = &self.keyring;
        Keyring::open(&keyring.folder, keyring.store, &keyring.identity).expect("opens")
    }

    fn rotation(&self, content: bool) -> StagedKeyring {
        let next = self.keyring.prepare_rotation(&self.members, content);
        next.expect("stages")
    }

    /// Returns the folder of a staged keyring.
    fn folder_of(&self, next: &StagedKeyring) -> PathBuf {
        let id = String::from_utf8(next.entry().bytes).expect("text");
        self.keyring.folder.path().join(format!("next-{id}"))
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
    let of_another = Keyring::open(
        &place.keyring.folder,
        StoreId([8; 16]),
        &place.keyring.identity,
    );
    let said = of_another.err().expect("refused").to_string();
    assert!(
        said.contains("epoch.age") && said.ends_with("it belongs to another store"),
        "{said}"
    );
    let kept = later.audit.fingerprint_key.as_ref().expect("kept");
    let again = place.keyring.audit.with_new_names_key(store, 0);
    assert!(again.fingerprint_key.expect("kept").is(kept));
    assert!(!place.keyring.audit.names_key.is(&later.audit.names_key));
}

/// Returns the text of the newest key of a memory.
fn key_text(keyring: &Keyring, id: MemoryId) -> Zeroizing<String> {
    keyring.memory_key(id).expect("opens").to_text()
}

#[test]
fn a_rotation_that_was_cut_off_goes_on_with_what_is_done() {
    let mut place = Place::new();
    let (one, two) = (place.add(), place.add());
    let mut next = place.rotation(true);
    let (from, blob) = (ObjectId([1; 20]), ObjectId([2; 20]));
    let key = SealKey::generate();
    let done = next.reencrypt(one, &key, from, (blob, Digest::of(b"blob")));
    next.save_progress(vec![done.clone()]).expect("saves");
    // A line that was cut short, and one that was moved to another memory.
    let list = place.folder_of(&next).join("resealed");
    let line = fs::read(&list).expect("reads");
    let moved = [&two.0[..], &line[16..]].concat();
    let lines = [&line[..], &moved, &line[..line.len() - 1]].concat();
    fs::write(&list, &lines).expect("writes");
    let next = place.rotation(true);
    assert!(next.is_still_staged_for(&place.keyring));
    assert!(
        next.reencrypted(one, from)
            .is_some_and(|found| *found == done)
    );
    assert!(next.reencrypted(one, blob).is_none(), "of another version");
    assert!(next.reencrypted(two, from).is_none());
    assert_eq!(
        fs::read(&list).expect("reads"),
        line,
        "only what is of use is kept"
    );
    place
        .keyring
        .complete(&next, &[one, two])
        .expect("completes");
    let (before, after) = (&place.keyring, place.keyring.after(&next).expect("opens"));
    assert_eq!(*key_text(&after, one), *key.to_text());
    assert_eq!(*key_text(&after, two), *key_text(before, two));
    assert!(!after.is_stale(one).expect("reads") && after.is_stale(two).expect("reads"));
    assert_eq!(after.memory_keys(one).expect("opens").len(), 2);
    // One that forgets what is not whole begins with nothing.
    let mut next = place.rotation(true);
    next.retain(|done| done.blob != blob);
    assert!(next.reencrypted(one, from).is_none());
}

#[test]
fn a_rotation_for_another_purpose_begins_anew() {
    let mut place = Place::new();
    let first = place.rotation(true);
    assert!(has_staged(&place.keyring.folder));
    let of_records = place.rotation(false);
    assert!(first.entry().bytes != of_records.entry().bytes);
    assert!(!first.is_still_staged_for(&place.keyring));
    assert!(!place.folder_of(&first).exists());
    assert!(place.rotation(false).entry().bytes == of_records.entry().bytes);
    place.members.push(Member {
        role: Role::Auditor,
        name: "ana".into(),
        recipient: Identity::generate().recipient().expect("X25519"),
    });
    let for_others = place.rotation(false);
    assert!(for_others.entry().bytes != of_records.entry().bytes);
    for_others.abort();
    assert!(!has_staged(&place.keyring.folder));
}

#[test]
fn staged_files_take_their_places_once_and_whatever_is_beside_them() {
    let mut place = Place::new();
    let id = place.add();
    let next = place.rotation(true);
    place.keyring.complete(&next, &[]).expect("completes");
    let (entries, stray) = ([next.entry()], place.folder_of(&next).join("notes"));
    fs::write(&stray, "by somebody else").expect("writes");
    assert!(staged_id_of(&entries).expect("named").is_some());
    for _ in 0..2 {
        place.keyring.write(&entries).expect("puts in place");
        assert_eq!(place.again().numbers(), (Some(2), 2));
        assert!(place.again().memory_key(id).is_ok());
    }
    assert!(stray.exists(), "it is not the keyring's");
    fs::remove_file(&stray).expect("there");
    let named = staged_id_of(&entries).expect("named").expect("one");
    for _ in 0..2 {
        install_staged_files(&place.keyring.folder, named).expect("is done already");
        assert!(!place.folder_of(&next).exists());
    }
    fs::write(place.folder_of(&next), "no folder").expect("writes");
    assert!(install_staged_files(&place.keyring.folder, named).is_err());
    assert!(staged_id_of(&[]).expect("none").is_none());
    let mut astray = next.entry();
    astray.bytes.push(b'/');
    assert!(staged_id_of(&[astray]).is_err());
}

#[test]
fn entries_of_another_keyring_are_only_taken_where_it_has_the_same() {
    let mut place = Place::new();
    let (new, _) = place.keyring.new_memory();
    let id = new.id;
    let entries = place.keyring.entries_for(&[new], &[]).expect("has room");
    place.keyring.replay(&entries).expect("its own");
    assert!(place.again().has(id).expect("reads"));
    place.keyring.replay(&entries).expect("is there already");
    let mut other = Place::new();
    for alone in [&entries[..1], &entries[1..], &entries[..]] {
        assert!(other.keyring.replay(alone).is_err(), "it lacks them");
    }
    // A keyring with the same memory in the same slots keeps its own entries.
    let next = place.rotation(true);
    place.keyring.complete(&next, &[]).expect("completes");
    place.keyring.write(&[next.entry()]).expect("puts in place");
    let mut newer = place.again();
    newer.replay(&entries).expect("it has them, sealed anew");
    assert!(newer.memory_key(id).is_ok() && newer.name_key(id).is_ok());
}

#[test]
fn what_is_staged_counts_until_it_is_dropped() {
    let mut place = Place::new();
    let (new, _) = place.keyring.new_memory();
    let id = new.id;
    let entries = place.keyring.entries_for(&[new], &[]).expect("has room");
    place.keyring.stage(&entries).expect("fits");
    assert_eq!(place.keyring.counts(), (1, 1));
    assert!(place.keyring.memory_key(id).is_ok());
    place.keyring.unstage();
    assert_eq!(place.keyring.counts(), (0, 0));
    assert!(!place.keyring.still_has(id).expect("reads"));
    place.keyring.write(&entries).expect("writes");
    let mut other = place.again();
    let added = place.add();
    assert!(!other.still_has(added).expect("reads"), "not yet");
    other.refresh().expect("refreshes");
    assert!(other.has(added).expect("reads"));
}

#[test]
fn an_erasure_of_history_leaves_the_keys_of_paths() {
    let mut place = Place::new();
    let (kept, of_history, gone) = (place.add(), place.add(), place.add());
    let (all, in_ring) = (HashSet::from([gone]), HashSet::from([of_history]));
    let fresh = SealKey::generate();
    let next = place.keyring.prepare_erasure(
        &place.members,
        (&all, &in_ring),
        &[(kept, fresh.again())],
        (0, 0),
    );
    let after = place.keyring.after(&next.expect("stages")).expect("opens");
    assert_eq!(*key_text(&after, kept), *fresh.to_text());
    assert_eq!(after.memory_keys(kept).expect("opens").len(), 1);
    assert!(after.name_key(of_history).is_ok() && after.memory_key(of_history).is_err());
    assert!(after.still_has(of_history).expect("reads"));
    assert!(!after.still_has(gone).expect("reads"));
    assert!(!after.is_stale(kept).expect("reads"));
}

#[test]
fn a_reader_whose_files_do_not_open_is_told_of_damage() {
    let (place, other) = (Place::new(), Place::new());
    let keyring = &place.keyring;
    let from_another = |name: &str| {
        let (there, here) = (other.keyring.folder.path(), keyring.folder.path());
        fs::copy(there.join(name), here.join(name)).expect("copies");
    };
    let open = |members: &[Member]| {
        Keyring::open_of(&keyring.folder, keyring.store, &keyring.identity, members)
    };
    from_another("epoch.age");
    let opened = open(&place.members).expect("records open");
    let refused = opened.require_reader().expect_err("no epoch key");
    assert!(matches!(refused, Error::Damaged { .. }), "{refused}");
    assert_eq!(opened.problems().count(), 1);
    let mut members = place.members.clone();
    members[0].role = Role::Auditor;
    let opened = open(&members).expect("records open");
    let refused = opened.require_reader().expect_err("an auditor");
    assert!(matches!(refused, Error::NotAReader), "{refused}");
    assert_eq!(opened.problems().count(), 0);
    from_another("audit.age");
    let refused = open(&place.members).err().expect("nothing opens");
    assert!(matches!(refused, Error::Damaged { .. }), "{refused}");
    let refused = open(&other.members).err().expect("of others");
    assert!(matches!(refused, Error::NotARecipient { .. }), "{refused}");
}

#[test]
fn a_keyring_keeps_the_keys_of_another_as_they_were_or_not_at_all() {
    let mut place = Place::new();
    let ids = [place.add(), place.add(), place.add()];
    let keeps =
        |after: &Keyring, before: &Keyring| backup::keeps_keys(after, before).expect("reads");
    let before = place.again();
    assert!(keeps(&before, &before));
    // An erasure, of everything of one memory and of the history of another.
    let (gone, none) = (HashSet::from([ids[0]]), HashSet::new());
    for (in_ring, in_names) in [(&gone, &gone), (&gone, &none), (&none, &none)] {
        let gone = (in_ring, in_names);
        let next = place
            .keyring
            .prepare_erasure(&place.members, gone, &[], (0, 0))
            .expect("stages");
        let after = place.keyring.after(&next).expect("opens");
        assert!(keeps(&after, &before));
        next.abort();
    }
    // Keys of new memories, and another key for one that has one.
    let new = place.add();
    assert!(keeps(&place.again(), &before));
    assert!(!place.again().memory_keys(new).expect("reads").is_empty());
    let fresh = (ids[1], SealKey::generate());
    let entries = place.keyring.entries_for(&[], &[fresh]);
    let entries = entries.expect("has room");
    place.keyring.write(&entries).expect("writes");
    assert!(!keeps(&place.again(), &before));
    assert!(!keeps(&Place::new().keyring, &before));
}

/// A key of a memory among the keys that are no memory's would stay after an erasure.
#[test]
fn a_key_that_audit_age_holds_too_is_found_and_keeps_its_memory_from_being_erased() {
    let mut place = Place::new();
    let (victim, other) = (place.add(), place.add());
    let is_erased = |place: &Place, id: MemoryId| {
        let (gone, none) = (HashSet::from([id]), HashSet::new());
        let keyring = &place.keyring;
        let next = keyring.prepare_erasure(&place.members, (&gone, &none), &[], (0, 0));
        next.inspect(StagedKeyring::abort).is_ok()
    };
    let shared = |place: &Place| place.keyring.ids_with_shared_keys().expect("reads");
    assert!(shared(&place).is_empty() && is_erased(&place, victim));
    let path_key = place.keyring.name_key(victim).expect("there");
    place.keyring.audit.fingerprint_key = Some(path_key);
    assert!(shared(&place).contains(&victim) && !is_erased(&place, victim));
    place.keyring.audit.fingerprint_key = None;
    let identity = place.keyring.memory_key(victim).expect("there");
    place.keyring.audit.identities.push(identity);
    assert!(shared(&place).contains(&victim) && !is_erased(&place, victim));
    assert!(!shared(&place).contains(&other) && is_erased(&place, other));
}
