//! Laws of the scanners, on generated numbers and on any bytes.

use proptest::prelude::*;

use crate::personal::tests::{EVERYTHING, FRAMES, values};
use crate::personal::{Personal, card, scan};

#[test]
fn random_digits_are_rarely_cards() {
    let (mut state, mut cards) = (0x9e37_79b9_7f4a_7c15_u64, 0);
    for _ in 0..20_000 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let number = format!("{:016}", (state >> 8) % 10_000_000_000_000_000);
        let found = !values(&number, "credit-card").is_empty();
        cards += u32::from(found);
        assert!(!found || crate::checksum::luhn(number.as_bytes()));
    }
    assert!((200..1000).contains(&cards), "{cards}");
}

/// Makes card numbers of one network, in one of the groupings of their length and with one sort of
/// gap.
fn card() -> impl Strategy<Value = String> {
    let network = proptest::sample::select((0..card::NETWORKS.len()).collect::<Vec<_>>());
    let parts = (network, any::<(u32, u8, u8)>(), "[0-9]{19}", 0..6usize);
    parts.prop_map(|(network, (issuer, length, grouping), filler, gap)| {
        let network = &card::NETWORKS[network];
        let issuer = network.first + issuer % (network.last - network.first + 1);
        let length = network.lengths[usize::from(length) % network.lengths.len()];
        let number = check_digit(&format!("{issuer}{}", &filler[..length - 7]));
        let mut groupings = vec![vec![length]];
        let fits = |g: &&&[usize]| g.iter().sum::<usize>() == length;
        groupings.extend(card::GROUPINGS.iter().filter(fits).map(|g| g.to_vec()));
        let choice = usize::from(grouping) % groupings.len();
        // In one piece, these lengths count only beside a word for a card.
        let doubtful = length == 13 || length > 16;
        let choice = if doubtful { choice.max(1) } else { choice };
        let gap = [" ", "-", "\u{a0}", "\u{2013}", "%20", "\u{202f}"][gap];
        let mut at = 0;
        let groups = groupings[choice].iter().map(|length| {
            at += length;
            &number[at - length..at]
        });
        groups.collect::<Vec<_>>().join(gap)
    })
}

proptest! {
    #[test]
    fn cards_of_every_network_are_found_whole(card in card()) {
        for (before, after) in FRAMES {
            let text = format!("{before}{card}{after}");
            prop_assert_eq!(values(&text, "credit-card"), vec![card.clone()], "{}", text);
        }
    }

    #[test]
    fn glued_cards_stay(card in card()) {
        for (before, after) in [("a", ""), ("", "b"), ("7", ""), ("3.", ""), ("", ".5"), ("x_", "")] {
            let text = format!("{before}{card}{after}");
            let found = values(&text, "credit-card");
            prop_assert!(!found.contains(&card), "{}", text);
        }
    }

    #[test]
    fn no_bytes_break_it(text in proptest::collection::vec(any::<u8>(), 0..300)) {
        spans_are_in_order(&text)?;
    }

    #[test]
    fn no_soup_breaks_it(text in "([0-9]{1,5}|[ .+()@:%_-]|DE|::|é|卡|\u{a0}|\u{2013}|tel|AB|20){0,80}") {
        spans_are_in_order(text.as_bytes())?;
        let mut found = Vec::new();
        scan(text.as_bytes(), EVERYTHING, &mut found);
        for span in found {
            prop_assert!(text.is_char_boundary(span.start) && text.is_char_boundary(span.end));
        }
    }
}

fn spans_are_in_order(text: &[u8]) -> Result<(), TestCaseError> {
    for wanted in [EVERYTHING, Personal::PROVEN] {
        let mut found = Vec::new();
        scan(text, wanted, &mut found);
        prop_assert!(found.iter().all(|s| s.start < s.end && s.end <= text.len()));
        let numbers: Vec<_> = found
            .iter()
            .filter(|s| s.kind.as_str() != "email")
            .collect();
        prop_assert!(numbers.is_sorted_by(|a, b| a.end <= b.start));
    }
    Ok(())
}

fn check_digit(body: &str) -> String {
    (0..10)
        .map(|digit| format!("{body}{digit}"))
        .find(|number| crate::checksum::luhn(number.as_bytes()))
        .expect("one of ten")
}
