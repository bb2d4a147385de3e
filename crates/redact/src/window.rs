//! Pieces of a text around a place, as whole characters.

/// Whether a letter is of a script that sets no blanks between words: Thai, Chinese, Japanese, and
/// Korean, whose particles stand close.
pub(super) fn is_joined(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{d7ff}')
        || matches!(c, '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffdc}')
}

/// The text from `at` on, no more than `most` bytes, up to what is no UTF-8.
pub(super) fn ahead(text: &[u8], at: usize, most: usize) -> &str {
    let at = at.min(text.len());
    let there = &text[at..text.len().min(at.saturating_add(most))];
    match std::str::from_utf8(there) {
        Ok(there) => there,
        Err(e) => std::str::from_utf8(&there[..e.valid_up_to()]).unwrap_or_default(),
    }
}

/// The text before `at`, no more than `most` bytes, from what is UTF-8 on.
pub(super) fn behind(text: &[u8], at: usize, most: usize) -> &str {
    let mut there = &text[at.saturating_sub(most)..at];
    loop {
        match std::str::from_utf8(there) {
            Ok(there) => return there,
            Err(e) => {
                there = &there
                    [e.valid_up_to() + e.error_len().unwrap_or(there.len() - e.valid_up_to())..];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_hold_whole_characters() {
        let text = "aüb".as_bytes();
        assert_eq!((ahead(text, 0, 2), behind(text, 4, 2)), ("a", "b"));
        assert_eq!(behind(b"\xff\xffab", 4, 9), "ab");
    }
}
