//! Deltas between pack objects: ranges to copy from a base, and bytes to insert
//! (gitformat-pack(5)).

use std::ops::Range;

/// Shortest match that is copied, in bytes: a shorter copy takes as much room as the bytes.
const BLOCK_BYTES: usize = 16;
/// Most bytes in one copy instruction, in the form that every reader supports, and in one insert.
const COPY_BYTES_MAX: usize = 0x1_0000;
const INSERT_BYTES_MAX: usize = 127;

const COPIES: u8 = 0x80;

/// Encodes the delta from `base` to `target`.
pub(super) fn encode(base: &[u8], target: &[u8]) -> Vec<u8> {
    let mut delta = Delta {
        out: Vec::with_capacity(64),
        target,
        told: 0,
    };
    put_size(&mut delta.out, base.len());
    put_size(&mut delta.out, target.len());
    let (start, end) = alike_at_the_ends(base, target);
    delta.copy(0..0, 0..start);
    let middle = start..target.len() - end;
    if middle.len() >= BLOCK_BYTES && base.len() >= BLOCK_BYTES {
        delta.match_blocks(base, middle.clone());
    }
    delta.insert_to(middle.end);
    delta.copy(middle.end..middle.end, base.len() - end..base.len());
    delta.out
}

/// Measures the common prefix and suffix of two byte strings, without overlap.
fn alike_at_the_ends(base: &[u8], target: &[u8]) -> (usize, usize) {
    let most = base.len().min(target.len());
    let same = |(a, b): &(&u8, &u8)| a == b;
    let start = base.iter().zip(target).take_while(same).count();
    let rest = most - start;
    let ends = base.iter().rev().zip(target.iter().rev());
    let end = ends.take(rest).take_while(same).count();
    // A short match is inserted with its neighbours.
    let worth = |length: usize| if length < BLOCK_BYTES { 0 } else { length };
    (worth(start), worth(end))
}

struct Delta<'a> {
    out: Vec<u8>,
    target: &'a [u8],
    /// Bytes of the target that are already encoded.
    told: usize,
}

impl Delta<'_> {
    /// Inserts the target bytes that are not encoded yet, up to `end`.
    fn insert_to(&mut self, end: usize) {
        for piece in self.target[self.told..end].chunks(INSERT_BYTES_MAX) {
            let length = u8::try_from(piece.len()).expect("at most 127");
            self.out.push(length);
            self.out.extend_from_slice(piece);
        }
        self.told = self.told.max(end);
    }

    /// Copies a range of the base to `place` in the target, after inserting the bytes before it.
    fn copy(&mut self, place: Range<usize>, range: Range<usize>) {
        self.insert_to(place.start);
        let mut at = range.start;
        while at < range.end {
            let length = (range.end - at).min(COPY_BYTES_MAX);
            self.put_copy(at, length);
            at += length;
        }
        self.told += range.len();
    }

    fn put_copy(&mut self, offset: usize, length: usize) {
        let code = self.out.len();
        self.out.push(COPIES);
        // A length of 65536 is encoded as zero.
        let length = if length == COPY_BYTES_MAX { 0 } else { length };
        let offset = u32::try_from(offset).expect("no object has 4 GiB");
        let bytes = offset.to_le_bytes().into_iter();
        let length = u16::try_from(length).expect("below 65536").to_le_bytes();
        for (bit, byte) in bytes.chain(length).enumerate() {
            if byte != 0 {
                self.out[code] |= 1 << bit;
                self.out.push(byte);
            }
        }
    }

    /// Copies the base blocks it finds in this part of the target, at any position.
    fn match_blocks(&mut self, base: &[u8], part: Range<usize>) {
        let blocks = Blocks::of(base);
        let mut at = part.start;
        while at + BLOCK_BYTES <= part.end {
            let Some(from) = blocks.find(base, &self.target[at..at + BLOCK_BYTES]) else {
                at += 1;
                continue;
            };
            let same = |(a, b): &(&u8, &u8)| a == b;
            let after = self.target[at..part.end].iter().zip(&base[from..]);
            let after = after.take_while(same).count();
            let before = self.target[self.told..at].iter().rev();
            let before = before.zip(base[..from].iter().rev());
            let before = before.take_while(same).count();
            self.copy(at - before..at, from - before..from + after);
            at += after;
        }
    }
}

/// A hash table of the blocks of a base, one every sixteen bytes.
struct Blocks {
    /// Block numbers plus one, by hash; zero marks a free slot.
    slots: Vec<u32>,
    shift: u32,
}

impl Blocks {
    fn of(base: &[u8]) -> Self {
        let count = base.len() / BLOCK_BYTES;
        let bits = (2 * count).next_power_of_two().trailing_zeros().max(1);
        let mut blocks = Self {
            slots: vec![0; 1 << bits],
            shift: u64::BITS - bits,
        };
        for (number, block) in (1..).zip(base.chunks_exact(BLOCK_BYTES)) {
            let slot = blocks.slot(block);
            // On a collision the first block wins.
            if blocks.slots[slot] == 0 {
                blocks.slots[slot] = number;
            }
        }
        blocks
    }

    fn slot(&self, block: &[u8]) -> usize {
        let half = |at: usize| u64::from_le_bytes(block[at..at + 8].try_into().expect("eight"));
        let mixed = half(0).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ half(8);
        let hash = mixed.wrapping_mul(0xD6E8_FEB8_6659_FD93);
        usize::try_from(hash >> self.shift).expect("within the table")
    }

    fn find(&self, base: &[u8], block: &[u8]) -> Option<usize> {
        let number = self.slots[self.slot(block)].checked_sub(1)?;
        let at = number as usize * BLOCK_BYTES;
        (base[at..at + BLOCK_BYTES] == *block).then_some(at)
    }
}

fn put_size(out: &mut Vec<u8>, mut size: usize) {
    while size >= 0x80 {
        out.push(super::low(size) | 0x80);
        size >>= 7;
    }
    out.push(u8::try_from(size).expect("below 128"));
}

fn take_size(delta: &mut &[u8]) -> Option<u64> {
    let (mut size, mut shift) = (0u64, 0);
    loop {
        let (byte, rest) = delta.split_first()?;
        *delta = rest;
        if shift > 56 {
            return None;
        }
        size |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            return Some(size);
        }
    }
}

/// Returns the size that a delta claims to produce; 0 if it has none.
pub(super) fn size(mut delta: &[u8]) -> u64 {
    let _base = take_size(&mut delta);
    take_size(&mut delta).unwrap_or(0)
}

/// Applies a delta to its base. `None` if the delta does not fit the base or produces more than
/// `bytes_max`.
pub(super) fn apply(base: &[u8], mut delta: &[u8], bytes_max: u64) -> Option<Vec<u8>> {
    let sizes = (take_size(&mut delta)?, take_size(&mut delta)?);
    if sizes.0 != base.len() as u64 || sizes.1 > bytes_max {
        return None;
    }
    let size = usize::try_from(sizes.1).ok()?;
    // Caps the allocation: the delta may claim any size.
    let mut out = Vec::with_capacity(size.min(base.len() + delta.len()));
    while let Some((&code, rest)) = delta.split_first() {
        delta = rest;
        let piece = if code & COPIES == 0 {
            let (piece, rest) = delta.split_at_checked(code.into())?;
            delta = rest;
            // An instruction of 0 is reserved.
            (code != 0).then_some(piece)?
        } else {
            let (offset, length) = take_copy(code, &mut delta)?;
            base.get(offset..offset.checked_add(length)?)?
        };
        if piece.len() > size - out.len() {
            return None;
        }
        out.extend_from_slice(piece);
    }
    (out.len() == size).then_some(out)
}

/// Reads the offset and length of a copy instruction.
fn take_copy(code: u8, delta: &mut &[u8]) -> Option<(usize, usize)> {
    let mut fields = [0u8; 8];
    for (bit, field) in fields.iter_mut().take(7).enumerate() {
        if code & (1 << bit) != 0 {
            let (byte, rest) = delta.split_first()?;
            (*field, *delta) = (*byte, rest);
        }
    }
    let offset = u32::from_le_bytes(fields[..4].try_into().expect("four bytes"));
    let length = u32::from_le_bytes(fields[4..].try_into().expect("four bytes"));
    let length = if length == 0 {
        COPY_BYTES_MAX
    } else {
        length as usize
    };
    Some((offset as usize, length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MAX: u64 = 1 << 24;

    /// Generates deterministic noise.
    fn noise(bytes: usize, seed: u64) -> Vec<u8> {
        let mut state = seed;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            state.to_le_bytes()[5]
        };
        (0..bytes).map(|_| next()).collect()
    }

    #[test]
    fn one_changed_place_in_much_is_said_in_few_bytes() {
        let base = noise(200_000, 1);
        for (at, cut, new) in [
            (0, 20, 20),
            (100_000, 20, 20),
            (199_980, 20, 20),
            (77, 0, 60),
            (9_000, 60, 0),
        ] {
            let mut target = base.clone();
            target.splice(at..at + cut, noise(new, 2));
            let delta = encode(&base, &target);
            assert_eq!(apply(&base, &delta, MAX), Some(target));
            assert!(delta.len() < 120, "{at}: {}", delta.len());
        }
    }

    #[test]
    fn pieces_that_moved_are_copied() {
        let base = noise(10_000, 3);
        let target = [&base[6_000..9_000], &noise(50, 4)[..], &base[100..5_000]].concat();
        let delta = encode(&base, &target);
        assert_eq!(apply(&base, &delta, MAX), Some(target));
        assert!(delta.len() < 120, "{}", delta.len());
    }

    #[test]
    fn a_delta_that_is_not_whole_makes_nothing() {
        let (base, target) = (noise(3_000, 5), noise(1_000, 6));
        let target = [&target[..], &base[500..2_500]].concat();
        let delta = encode(&base, &target);
        for cut in 0..delta.len() {
            assert_eq!(apply(&base, &delta[..cut], MAX), None, "cut at {cut}");
        }
        assert_eq!(apply(&base[1..], &delta, MAX), None, "another base");
        assert_eq!(apply(&base, &delta, 2_999), None, "over the limit");
        assert_eq!(apply(&base, &[&delta[..], &[0]].concat(), MAX), None);
        assert_eq!(apply(&base, &[&delta[..], &[1, 1]].concat(), MAX), None);
        // A huge claimed size, a copy beyond the base, a missing base size.
        assert_eq!(apply(b"x", &[1, 0xff, 0xff, 0xff, 0x7f, 0x90], MAX), None);
        assert_eq!(apply(b"x", &[1, 2, 0x91, 1, 2], MAX), None);
        assert_eq!(apply(b"x", &[], MAX), None);
        assert_eq!(apply(b"x", &[0x80; 20], MAX), None);
    }

    proptest! {
        #[test]
        fn a_delta_makes_its_target(
            base in prop::collection::vec(0u8..3, 0..600),
            target in prop::collection::vec(0u8..3, 0..600),
            long in 0usize..150_000,
        ) {
            let delta = encode(&base, &target);
            prop_assert_eq!(apply(&base, &delta, MAX), Some(target.clone()));
            // Runs of one byte: all blocks are equal, and copies are long.
            let (base, target) = ([&vec![7; long][..], &base].concat(), [&target[..], &vec![7; long]].concat());
            prop_assert_eq!(apply(&base, &encode(&base, &target), MAX), Some(target));
        }

        #[test]
        fn edits_are_followed(
            edits in prop::collection::vec((0usize..4_000, 0usize..90, 0usize..90), 0..6),
        ) {
            let base = noise(4_000, 7);
            let mut target = base.clone();
            for (n, (at, cut, new)) in edits.iter().enumerate() {
                let at = *at.min(&target.len());
                let end = (at + cut).min(target.len());
                target.splice(at..end, noise(*new, 8 + n as u64));
            }
            let delta = encode(&base, &target);
            prop_assert!(delta.len() <= 20 + edits.len() * 200);
            prop_assert_eq!(apply(&base, &delta, MAX), Some(target));
        }

        #[test]
        fn no_bytes_break_the_reader(
            base in prop::collection::vec(any::<u8>(), 0..100),
            delta in prop::collection::vec(any::<u8>(), 0..100),
        ) {
            if let Some(made) = apply(&base, &delta, 1_000) {
                prop_assert!(made.len() <= 1_000);
            }
        }
    }
}
