//! Readers for the values of a policy that report every fault in its place: the error of a visitor
//! carries the line of the value that it read.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Reads a table. By default serde takes an array of the values for a table too.
pub fn table<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let mut check = |_: &T| Ok(());
    TableSeed(&mut check, PhantomData).deserialize(deserializer)
}

/// Reads an array of tables, each of which must also pass a check.
pub fn tables<'de, D, T>(
    deserializer: D,
    check: impl FnMut(&T) -> Result<(), String>,
) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    deserializer.deserialize_seq(Tables(check, PhantomData))
}

/// Reads a text and converts it.
pub fn text<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    expected: &'static str,
    mut read: impl FnMut(&str) -> Result<T, String>,
) -> Result<T, D::Error> {
    TextSeed(expected, &mut read).deserialize(deserializer)
}

/// Reads an array of texts, each of which must pass a check.
pub fn texts<'de, D: Deserializer<'de>>(
    deserializer: D,
    expected: &'static str,
    check: impl FnMut(&str) -> Result<(), String>,
) -> Result<Vec<String>, D::Error> {
    deserializer.deserialize_seq(Texts(expected, check))
}

/// Reads a whole number within bounds.
pub fn number<'de, D: Deserializer<'de>, N: WholeNumber>(
    deserializer: D,
    name: &'static str,
    (low, high): (N, N),
) -> Result<N, D::Error> {
    deserializer.deserialize_i64(NumberSeed { name, low, high })
}

/// A type of whole numbers.
pub trait WholeNumber: TryFrom<i64> + TryFrom<u64> + PartialOrd + fmt::Display + Copy {}

impl WholeNumber for usize {}
impl WholeNumber for u64 {}

/// A reader of a table, and the check that the table must pass.
struct TableSeed<'a, T, F>(&'a mut F, PhantomData<T>);

impl<'de, T, F> DeserializeSeed<'de> for TableSeed<'_, T, F>
where
    T: Deserialize<'de>,
    F: FnMut(&T) -> Result<(), String>,
{
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, T, F> Visitor<'de> for TableSeed<'_, T, F>
where
    T: Deserialize<'de>,
    F: FnMut(&T) -> Result<(), String>,
{
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        let read = T::deserialize(MapAccessDeserializer::new(map))?;
        (self.0)(&read).map_err(A::Error::custom)?;
        Ok(read)
    }
}

struct Tables<T, F>(F, PhantomData<T>);

impl<'de, T, F> Visitor<'de> for Tables<T, F>
where
    T: Deserialize<'de>,
    F: FnMut(&T) -> Result<(), String>,
{
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of tables")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<Vec<T>, A::Error> {
        let mut read = Vec::new();
        while let Some(one) = seq.next_element_seed(TableSeed(&mut self.0, PhantomData))? {
            read.push(one);
        }
        Ok(read)
    }
}

/// A reader of a text: the form that it expects, and the function that converts it.
struct TextSeed<'a, F>(&'static str, &'a mut F);

impl<'de, T, F: FnMut(&str) -> Result<T, String>> DeserializeSeed<'de> for TextSeed<'_, F> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<T, F: FnMut(&str) -> Result<T, String>> Visitor<'_> for TextSeed<'_, F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        (self.1)(text).map_err(E::custom)
    }
}

struct Texts<F>(&'static str, F);

impl<'de, F: FnMut(&str) -> Result<(), String>> Visitor<'de> for Texts<F> {
    type Value = Vec<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an array of {}", self.0)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<Vec<String>, A::Error> {
        let mut read = Vec::new();
        let mut own = |text: &str| (self.1)(text).map(|()| text.to_owned());
        while let Some(one) = seq.next_element_seed(TextSeed("text in quotes", &mut own))? {
            read.push(one);
        }
        Ok(read)
    }
}

struct NumberSeed<N> {
    name: &'static str,
    low: N,
    high: N,
}

impl<N: WholeNumber> NumberSeed<N> {
    fn within<E: Error>(&self, value: impl TryInto<N> + fmt::Display + Copy) -> Result<N, E> {
        let Self { name, low, high } = *self;
        let number = value.try_into().ok();
        number
            .filter(|number| (low..=high).contains(number))
            .ok_or_else(|| E::custom(format!("{name} = {value} is outside {low} to {high}")))
    }
}

impl<N: WholeNumber> Visitor<'_> for NumberSeed<N> {
    type Value = N;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<N, E> {
        self.within(value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<N, E> {
        self.within(value)
    }
}
