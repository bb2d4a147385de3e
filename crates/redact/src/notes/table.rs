//! Tables of numbers that the build script makes.

use crate::notes::hash;

/// A table of numbers and what belongs to each. The seed of its bucket gives every number a place
/// of its own, so one look tells whether it is there.
pub(super) struct NumberTable<T: 'static> {
    pub(super) seeds: &'static [u8],
    /// The number at each place, and 0 where there is none.
    pub(super) places: &'static [(u32, T)],
}

impl<T: Copy + Default> NumberTable<T> {
    /// Returns what belongs to a number, which is not 0.
    pub(super) fn get(&self, number: u32) -> T {
        let seed = self.seeds[hash::of_many(number, self.seeds.len())];
        let (there, value) = self.places[hash::place_with(number, seed, self.places.len())];
        if there == number { value } else { T::default() }
    }
}
