//! Words as a shell reads them back.

/// A command of these words, after the variables it is to have.
pub(super) fn command(variables: &[(&str, String)], words: &[String]) -> String {
    let variables = variables
        .iter()
        .map(|(name, value)| format!("{name}={}", quoted(value)));
    let words = words.iter().map(|word| quoted(word));
    variables.chain(words).collect::<Vec<_>>().join(" ")
}

/// One word, in quotes where it has to be.
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-+.,:@/".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
