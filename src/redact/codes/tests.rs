//! The grammar around codes.

use super::*;

#[test]
fn gaps_are_told_apart() {
    for (gap, shape) in [
        (" is now ", Some(Gap::Tight)),
        (": ", Some(Gap::Tight)),
        ("は", Some(Gap::Tight)),
        (" på Hornsgatan är ", Some(Gap::Said)),
        (" for slack (magic): ", Some(Gap::Said)),
        (" від сейфа в офісі ", Some(Gap::Loose)),
        (". Ticket ", None),
        (", order ", None),
        (" ${", None),
    ] {
        assert_eq!(
            shape_of(gap).map(|gap| gap as u8),
            shape.map(|gap| gap as u8),
            "{gap}"
        );
    }
}

#[test]
fn sentences_begin_and_end() {
    assert_eq!(sentence_start("One. Two"), 5);
    assert_eq!(sentence_start("v1.2 code"), 0);
    assert_eq!(sentence("4471. Next", 40), "4471.");
    assert_eq!(
        (last_words("a b c d", 2, 40), first_words(" a b c", 2)),
        (" c d", "a b")
    );
}

#[test]
fn who_speaks_is_skipped() {
    assert_eq!(
        (
            speaker("B: 4471"),
            speaker("<jo> 4471"),
            speaker("10:20: 4471")
        ),
        (3, 5, 0)
    );
}
