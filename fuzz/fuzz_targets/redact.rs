//! Any text through redaction: it ends, twice is as once, and what is no finding stays.
//!
//! `cargo +nightly fuzz run redact`

#![no_main]

use agekeep::Text;
use agekeep::redact::Redactor;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let redactor = Redactor::default();
    let Ok(once) = redactor.redact("/memories/a.md", &Text::from(text)) else {
        return;
    };
    let twice = redactor.redact("/memories/a.md", once.text()).expect("shorter than before");
    assert_eq!(once.text(), twice.text(), "twice is not as once");
    assert!(twice.findings().is_empty());
    if once.findings().is_empty() {
        assert_eq!(once.text().as_str(), text);
    }
});
