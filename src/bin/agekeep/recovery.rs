//! An identity that is generated here, shown once, and kept nowhere.

use agekeep::error::Result;
use agekeep::store::{Identity, Recipient};
use qrcode::QrCode;
use qrcode::render::unicode;
use zeroize::Zeroizing;

/// The name of the member whose identity lies in a safe.
pub(super) const NAME: &str = "recovery";

/// A new identity.
pub(super) struct Fresh(Identity);

impl Fresh {
    pub(super) fn new() -> Self {
        Self(Identity::generate())
    }

    pub(super) fn recipient(&self) -> Result<Recipient> {
        self.0.recipient()
    }

    /// Returns the identity in its Bech32 form.
    pub(super) fn line(&self) -> Zeroizing<String> {
        self.0.to_secret_line().expect("it was made here")
    }

    /// Makes an identity file whose comments hold `said`, and a QR code that a telephone reads.
    pub(super) fn to_text(&self, said: &str) -> Zeroizing<String> {
        let line = self.line();
        let code = QrCode::new(line.as_bytes()).expect("a line of 74 characters fits");
        let code = Zeroizing::new(code.render::<unicode::Dense1x2>().build());
        let mut text = Zeroizing::new(String::with_capacity(16 * 1024 + 2 * said.len()));
        for line in said.lines() {
            text.push_str(format!("# {line}").trim_end());
            text.push('\n');
        }
        text.push_str(
            "# This identity is shown only once and stored nowhere. Print it, and put it \
                       in a safe.\n",
        );
        text.push_str(&line);
        text.push('\n');
        for row in code.lines() {
            text.push_str("# ");
            text.push_str(row);
            text.push('\n');
        }
        let end = text.trim_end().len();
        text.truncate(end);
        text
    }
}
