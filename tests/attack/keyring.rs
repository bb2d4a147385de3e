//! What somebody who knows the format makes of the four keyring files: with no key, with the names
//! key (an auditor), or with the keys of an earlier epoch (a reader who left).

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::str::FromStr;
use std::sync::OnceLock;

use age::secrecy::ExposeSecret;
use age::x25519::{Identity, Recipient};
use base64ct::{Base64Unpadded, Encoding};
use serde_json::{Value, json};

use crate::attack::case::{Case, Deed};
use crate::attack::opener::Opener;
use crate::attack::scene::Scene;
use crate::support::forge::{TABLE_HEADER_BYTES, aead, entry_bytes, keyed, try_aead, unhex};
use crate::support::{Home, git, stdout};

/// An epoch key and names key of the attacker's own.
pub(crate) const FORGED_KEY: [u8; 32] = [0x41; 32];
const FILES: [&str; 4] = ["epoch.age", "audit.age", "ring", "names"];

/// An audit identity of the attacker's own.
pub(crate) fn forged_identity() -> Identity {
    static FORGED: OnceLock<Identity> = OnceLock::new();
    FORGED.get_or_init(Identity::generate).clone()
}

/// The bytes of a regular file of a keyring; nothing of whatever else is there.
pub(crate) fn read(path: &Path) -> Option<Vec<u8>> {
    let meta = fs::symlink_metadata(path).ok()?;
    (meta.is_file() && meta.len() < 1 << 24).then(|| fs::read(path).expect("reads"))
}

/// What an entry of a table is bound to (docs/format.md, 6.3).
pub(crate) fn bound_to(table: &str, header: &[u8], slot: u64, memory: &[u8]) -> Vec<u8> {
    let label = format!("agekeep/2 {table} ");
    [label.as_bytes(), header, &slot.to_le_bytes(), memory].concat()
}

/// A table as its header and its entries.
#[derive(Clone)]
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) header: Vec<u8>,
    pub(crate) entries: Vec<Vec<u8>>,
}

impl Table {
    pub(crate) fn read(store: &Path, name: &'static str) -> Self {
        let bytes = fs::read(store.join("keyring").join(name)).expect("there");
        let (header, entries) = bytes.split_at(TABLE_HEADER_BYTES);
        let entries = entries.chunks_exact(entry_bytes(name));
        Self {
            name,
            header: header.into(),
            entries: entries.map(<[u8]>::to_vec).collect(),
        }
    }

    pub(crate) fn write(&self, store: &Path) {
        let bytes = [self.header.clone(), self.entries.concat()].concat();
        put(store, self.name, &bytes);
    }

    pub(crate) fn number(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.header[at..at + 8].try_into().expect("eight"))
    }

    pub(crate) fn set_number(&mut self, at: usize, value: u64) {
        self.header[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }

    /// The slots of two entries of one memory.
    pub(crate) fn twins(&self) -> (usize, usize) {
        let id = |slot: usize| &self.entries[slot][..16];
        let slots = 0..self.entries.len();
        let twin = |slot: usize| (slot + 1..self.entries.len()).find(|at| id(*at) == id(slot));
        slots
            .into_iter()
            .find_map(|slot| Some((slot, twin(slot)?)))
            .expect("two of one memory")
    }

    fn entry(&self, key: &[u8], slot: usize, memory: &[u8], secret: &[u8]) -> Vec<u8> {
        let bound = bound_to(self.name, &self.header, slot as u64, memory);
        [memory, &aead(key, &bound, secret, true)].concat()
    }

    /// Seals the header under a key, as who has that key would.
    fn seal_header(&mut self, key: &[u8]) {
        let said = self.header[..88].to_vec();
        let label = format!("agekeep/2 {} header ", self.name);
        let bound = [label.as_bytes(), &said].concat();
        self.header = [said, aead(key, &bound, b"", true)].concat();
    }

    fn open(&self, key: &[u8], slot: usize) -> Option<Vec<u8>> {
        let entry = &self.entries[slot];
        let bound = bound_to(self.name, &self.header, slot as u64, &entry[..16]);
        try_aead(key, &bound, &entry[16..])
    }
}

/// Puts bytes in the place of a keyring file.
pub(crate) fn put(store: &Path, name: &str, bytes: &[u8]) {
    fs::write(store.join("keyring").join(name), bytes).expect("written");
}

/// Everything that is tried on the keyring by who knows what it is.
pub(crate) fn cases(scene: &Scene) -> Vec<Case> {
    let mut cases = Vec::new();
    for table in ["ring", "names"] {
        cases.extend(order_cases(scene, table));
        cases.extend(header_cases(table));
        cases.extend(foreign_entry_cases(scene, table));
    }
    cases.extend(names_key_cases(scene));
    cases.extend(forged_key_cases());
    cases.extend(mixed_cases(scene));
    cases
}

fn case(deed: String, place: &str, act: Deed) -> Case {
    Case {
        what: "keyring".into(),
        deed,
        place: place.into(),
        touched: vec!["keyring".into(), "catalog".into()],
        act,
    }
}

/// A case that rewrites a table.
fn table_case(
    deed: String,
    name: &'static str,
    act: impl Fn(&mut Table) + Send + Sync + 'static,
) -> Case {
    let act: Deed = Box::new(move |home: &Home| {
        let mut table = Table::read(&home.store(), name);
        act(&mut table);
        table.write(&home.store());
        true
    });
    case(deed, name, act)
}

/// The same entries in another order, fewer of them, or some of them twice: no key is needed.
fn order_cases(scene: &Scene, name: &'static str) -> Vec<Case> {
    let table = Table::read(&scene.home.store(), name);
    let count = table.entries.len();
    let fresh = usize::try_from(table.number(48))
        .expect("a slot")
        .min(count);
    let mut cases = vec![
        table_case("order/reversed".into(), name, |t| t.entries.reverse()),
        table_case("order/rotated".into(), name, |t| t.entries.rotate_left(1)),
        table_case("order/halves exchanged".into(), name, move |t| {
            t.entries.rotate_left(fresh);
        }),
        table_case("order/first and last exchanged".into(), name, |t| {
            let last = t.entries.len() - 1;
            t.entries.swap(0, last);
        }),
        table_case("ids/exchanged".into(), name, |t| {
            let last = t.entries.len() - 1;
            let (first, other) = (t.entries[0][..16].to_vec(), t.entries[last][..16].to_vec());
            t.entries[0][..16].copy_from_slice(&other);
            t.entries[last][..16].copy_from_slice(&first);
        }),
        table_case("ids/one for all".into(), name, |t| {
            let id = t.entries[0][..16].to_vec();
            t.entries
                .iter_mut()
                .for_each(|entry| entry[..16].copy_from_slice(&id));
        }),
        table_case("again/all".into(), name, |t| {
            t.entries.extend(t.entries.clone());
        }),
        table_case("again/the first half".into(), name, move |t| {
            t.entries.extend_from_within(..fresh);
        }),
    ];
    for slot in [0, 1, count / 2, count - 1] {
        cases.push(table_case(format!("again/slot {slot}"), name, move |t| {
            t.entries.extend_from_within(slot..=slot);
        }));
        cases.push(table_case(format!("removed/slot {slot}"), name, move |t| {
            t.entries.remove(slot);
        }));
        cases.push(table_case(
            format!("destroyed/slot {slot}"),
            name,
            move |t| {
                t.entries[slot][20..].fill(7);
            },
        ));
    }
    for kept in BTreeSet::from([0, 1, count / 2, fresh, count.saturating_sub(3), count - 1]) {
        cases.push(table_case(
            format!("fewer/{kept} of {count}"),
            name,
            move |t| {
                t.entries.truncate(kept);
            },
        ));
    }
    if name == "ring" {
        let (old, new) = table.twins();
        cases.push(table_case(
            "order/keys of a memory exchanged".into(),
            name,
            move |t| {
                t.entries.swap(old, new);
            },
        ));
    }
    cases
}

/// Other numbers in the header: epoch, generation, the first slot of the epoch, and the zeros.
fn header_cases(name: &'static str) -> Vec<Case> {
    let fields = [
        ("epoch", 32),
        ("generation", 40),
        ("fresh from", 48),
        ("zeros", 56),
    ];
    let values: [(&str, fn(u64) -> u64); 6] = [
        ("0", |_| 0),
        ("1", |_| 1),
        ("one less", |n| n.wrapping_sub(1)),
        ("one more", |n| n + 1),
        ("many more", |n| n + 1000),
        ("the most", |_| u64::MAX),
    ];
    let each = fields
        .into_iter()
        .flat_map(|field| values.map(|value| (field, value)));
    each.map(|((field, at), (shown, value))| {
        table_case(format!("header {field}/{shown}"), name, move |t| {
            t.set_number(at, value(t.number(at)));
        })
    })
    .collect()
}

/// Entries and headers from an earlier moment or another store, in the table as it is now.
fn foreign_entry_cases(scene: &Scene, name: &'static str) -> Vec<Case> {
    let mut cases = Vec::new();
    for (from, store) in scene.moments.iter().chain(&scene.others) {
        let other = Table::read(store, name);
        if let Some(entry) = other.entries.first().cloned() {
            cases.push(table_case(
                format!("foreign/appended, {from}"),
                name,
                move |t| {
                    t.entries.push(entry.clone());
                },
            ));
        }
        let entries = other.entries.clone();
        cases.push(table_case(
            format!("foreign/all entries, {from}"),
            name,
            move |t| {
                t.entries.clone_from(&entries);
            },
        ));
        let header = other.header.clone();
        cases.push(table_case(
            format!("foreign/header, {from}"),
            name,
            move |t| {
                t.header.clone_from(&header);
            },
        ));
    }
    cases
}

/// What an auditor can seal: everything under the names key.
fn names_key_cases(scene: &Scene) -> Vec<Case> {
    let owner = Opener::of(&scene.home.identity(), []);
    let audit = owner.read_sealed(&scene.home.store().join("keyring/audit.age"));
    let audit = audit.expect("the owner opens it");
    let text = audit["names_key"].as_str().expect("text");
    let key = Base64Unpadded::decode_vec(text).expect("base64");
    let name = "names";
    let control = Table::read(&scene.home.store(), name);
    assert!(
        control.open(&key, 0).is_some(),
        "the control: an entry opens with the names key"
    );
    let (swapped, other, new) = (key.clone(), key.clone(), key.clone());
    vec![
        table_case("auditor/name keys exchanged".into(), name, move |t| {
            let last = t.entries.len() - 1;
            let secrets = [0, last].map(|slot| t.open(&swapped, slot).expect("opens"));
            for (slot, secret) in [(0, &secrets[1]), (last, &secrets[0])] {
                t.entries[slot] = t.entry(&swapped, slot, &t.entries[slot][..16], secret);
            }
        }),
        table_case("auditor/other name keys".into(), name, move |t| {
            for slot in 0..t.entries.len() {
                t.entries[slot] = t.entry(&other, slot, &t.entries[slot][..16], &[9; 32]);
            }
        }),
        table_case(
            "auditor/one for a memory there never was".into(),
            name,
            move |t| {
                let slot = t.entries.len();
                t.entries.push(t.entry(&new, slot, &[9; 16], &[9; 32]));
            },
        ),
        case(
            "auditor/paths exchanged in the catalogs".into(),
            "catalog",
            Box::new(move |home| exchange_paths(home, &key)),
        ),
    ]
}

/// Seals the auditors' catalog anew, with two paths of the same length exchanged (docs/format.md, 8),
/// and puts it in the place of the readers' too.
fn exchange_paths(home: &Home, names_key: &[u8]) -> bool {
    let auditor = Scene::identity(home, "auditor");
    let log = home.run(&["log", "-n", "1", "-i", auditor.to_str().expect("UTF-8")]);
    assert!(log.status.success(), "an auditor's catalog is made");
    let key = &keyed(names_key, "agekeep/2 cache key")[..];
    let store = home.store();
    let mut bytes = fs::read(store.join("catalog.audit")).expect("there");
    let (id, file, line) = (
        bytes[16..32].to_vec(),
        bytes[32..48].to_vec(),
        bytes[48..64].to_vec(),
    );
    let root = bytes[64..72].to_vec();
    let (mut at, mut steps, mut changed) = (80, 0_u64, false);
    while at + 4 < bytes.len() {
        let length = u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four")) as usize;
        let block = bytes[at + 4..at + 4 + length].to_vec();
        let place = (at as u64).to_le_bytes();
        let kinds = [
            ("leaf", vec![&line[..], &block[..8]], 8),
            ("root", vec![&file[..], &line, &place], 0),
            ("step", vec![&file[..], &root, &steps.to_le_bytes()], 0),
        ]
        .map(|(kind, bound, from)| {
            let label = format!("agekeep/1 catalog {kind} ");
            (
                [&[label.as_bytes(), &id], &bound[..]].concat().concat(),
                from,
            )
        });
        for (number, (bound, from)) in kinds.iter().enumerate() {
            let Some(plain) = try_aead(key, bound, &block[*from..]) else {
                continue;
            };
            steps += u64::from(number == 2);
            let other = exchanged(&plain, b"/memories/plan.md", b"/memories/late.md");
            changed |= other != plain;
            let sealed = aead(key, bound, &other, true);
            bytes[at + 4 + from..at + 4 + length].copy_from_slice(&sealed);
        }
        at += 4 + length;
    }
    assert!(
        changed,
        "the auditors' catalog opens with what comes of the names key, and has these paths"
    );
    for name in ["catalog", "catalog.audit"] {
        fs::write(store.join(name), &bytes).expect("written");
    }
    true
}

/// The bytes with each of two words in the place of the other.
fn exchanged(bytes: &[u8], one: &[u8], other: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for at in 0..bytes.len().saturating_sub(one.len()) {
        for (from, to) in [(one, other), (other, one)] {
            if bytes[at..].starts_with(from) {
                out[at..at + to.len()].copy_from_slice(to);
            }
        }
    }
    out
}

/// Files sealed to the members, who are public, with keys of the attacker's own.
fn forged_key_cases() -> Vec<Case> {
    let deeds: [(&str, fn(&Path)); 5] = [
        ("epoch.age", |store| forge_epoch(store)),
        ("epoch.age and an empty ring", |store| {
            forge_epoch(store);
            forge_table(store, "ring", |_| Vec::new());
        }),
        ("epoch.age and a ring of new keys", |store| {
            forge_epoch(store);
            let secret = forged_identity().to_string();
            let secret = secret.expose_secret().as_bytes().to_vec();
            forge_table(store, "ring", move |_| secret.clone());
        }),
        ("audit.age", |store| forge_audit(store)),
        ("audit.age and names of new keys", |store| {
            forge_audit(store);
            forge_table(store, "names", |_| vec![9; 32]);
        }),
    ];
    let cases = deeds.map(|(deed, act)| {
        let act: Deed = Box::new(move |home: &Home| {
            act(&home.store());
            true
        });
        case(format!("forged/{deed}"), "keys", act)
    });
    cases.into()
}

/// An `epoch.age` with the forged key, sealed to everybody whom `recipients` lists as a reader.
pub(crate) fn forge_epoch(store: &Path) {
    let table = Table::read(store, "ring");
    let key = Base64Unpadded::encode_string(&FORGED_KEY);
    let said = json!({"agekeep": 2, "store": hex(&table.header[16..32]),
        "epoch": table.number(32), "key": key});
    put(
        store,
        "epoch.age",
        &seal_to_members(store, "reader ", said.to_string().as_bytes()),
    );
}

/// The same of `audit.age`, sealed to everybody.
pub(crate) fn forge_audit(store: &Path) {
    let table = Table::read(store, "names");
    let key = Base64Unpadded::encode_string(&FORGED_KEY);
    let identity = forged_identity().to_string();
    let said = json!({"agekeep": 2, "store": hex(&table.header[16..32]),
        "epoch": table.number(32), "identities": [identity.expose_secret()], "names_key": key,
        "replica": "0123456789abcdef"});
    put_audit(store, &said);
}

/// An `audit.age` that says this, sealed to everybody.
pub(crate) fn put_audit(store: &Path, said: &Value) {
    let sealed = seal_to_members(store, "", said.to_string().as_bytes());
    put(store, "audit.age", &sealed);
}

/// A table with an entry under the forged key for each that there is, or none.
pub(crate) fn forge_table(store: &Path, name: &'static str, secret: impl Fn(&[u8]) -> Vec<u8>) {
    let mut table = Table::read(store, name);
    let ids: Vec<_> = table
        .entries
        .iter()
        .map(|entry| entry[..16].to_vec())
        .collect();
    table.seal_header(&FORGED_KEY);
    let made = ids.iter().enumerate();
    let made = made.map(|(slot, id)| table.entry(&FORGED_KEY, slot, id, &secret(id)));
    let made: Vec<_> = made
        .filter(|entry| entry.len() == entry_bytes(name))
        .collect();
    table.entries = made;
    table.write(store);
}

fn seal_to_members(store: &Path, role: &str, plain: &[u8]) -> Vec<u8> {
    let file = stdout(&git(store, &["show", "main:recipients"]));
    let lines = file.lines().filter(|line| line.starts_with(role));
    let keys: Vec<_> = lines
        .map(|line| Recipient::from_str(line.rsplit(' ').next().expect("a key")).expect("X25519"))
        .collect();
    let keys = keys.iter().map(|key| key as &dyn age::Recipient);
    let encryptor = age::Encryptor::with_recipients(keys).expect("somebody");
    let mut sealed = Vec::new();
    let mut writer = encryptor.wrap_output(&mut sealed).expect("memory");
    writer.write_all(plain).expect("memory");
    writer.finish().expect("memory");
    sealed
}

/// The four files from any moments there were, also all from one: the history stays as it is.
fn mixed_cases(scene: &Scene) -> Vec<Case> {
    let now = ("now", scene.home.store());
    let stores: Vec<_> = scene.moments.iter().chain([&now]).collect();
    let content =
        |store: &Path, name: &str| fs::read(store.join("keyring").join(name)).expect("there");
    let all = stores.len().pow(4);
    let mut seen = BTreeSet::from([FILES.map(|name| content(&now.1, name))]);
    let mut cases = Vec::new();
    for number in 0..all {
        let pick = |file: u32| stores[number / stores.len().pow(file) % stores.len()];
        let from: Vec<_> = (0..4).map(pick).collect();
        let mixed = [0, 1, 2, 3].map(|file| content(&from[file].1, FILES[file]));
        if seen.insert(mixed.clone()) {
            let names: Vec<_> = from.iter().map(|(name, _)| *name).collect();
            let is_old = |file: &usize| mixed[*file] != content(&now.1, FILES[*file]);
            let old: Vec<_> = (0..4).filter(is_old).map(|file| FILES[file]).collect();
            let act: Deed = Box::new(move |home: &Home| {
                for (name, bytes) in FILES.iter().zip(&mixed) {
                    put(&home.store(), name, bytes);
                }
                true
            });
            cases.push(case(
                format!("old {}/{names:?}", old.join(" ")),
                "all four",
                act,
            ));
        }
    }
    cases
}

fn hex(bytes: &[u8]) -> String {
    let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    debug_assert_eq!(unhex(&text), bytes);
    text
}
