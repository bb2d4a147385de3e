//! The hash that looks up words and points, in the library and in its build script.

/// The start value of the hash of a text.
pub(crate) const SEED: u32 = 0x811c_9dc5;

/// Adds a byte to the hash of a text (FNV-1a).
pub(crate) const fn add(hash: u32, byte: u8) -> u32 {
    (hash ^ byte as u32).wrapping_mul(0x0100_0193)
}

/// Returns the hash of a whole text.
pub(crate) fn of(text: &str) -> u32 {
    text.bytes().fold(SEED, add)
}

/// Returns one of `count` places for a number.
pub(crate) const fn place(number: u32, count: usize) -> usize {
    ((number.wrapping_mul(0x9e37_79b1) as u64 * count as u64) >> 32) as usize
}

/// Returns another place for a number, one for each seed.
pub(crate) const fn place_with(number: u32, seed: u8, count: usize) -> usize {
    place(number.wrapping_mul(2 * seed as u32 + 1), count)
}

/// Returns the number of a feature, made of its kind and three more numbers.
pub(crate) const fn feature(kind: u8, one: u32, two: u32, three: u32) -> u32 {
    let mixed = (kind as u32)
        .wrapping_mul(0x85eb_ca6b)
        .wrapping_add(one.wrapping_mul(0xc2b2_ae35))
        .wrapping_add(two.wrapping_mul(0x27d4_eb2f))
        ^ three.wrapping_mul(0x1656_67b1);
    mixed ^ mixed >> 15
}

/// Returns the place of the head of an entry that stands inside words: five bits of each of its bytes.
pub(crate) const fn part_head(head: [u8; 3]) -> usize {
    let [one, two, three] = head;
    (one as usize & 31) << 10 | (two as usize & 31) << 5 | three as usize & 31
}

/// Returns the first eight bytes of a word as a number, in lower case. Numbers of words are in the
/// order of the words.
pub(crate) fn head(word: &[u8]) -> u64 {
    let mut head = [0; 8];
    let known = word.len().min(8);
    head[..known].copy_from_slice(&word[..known]);
    // All eight at once: the compiler uses a wide register.
    head.make_ascii_lowercase();
    u64::from_be_bytes(head)
}
