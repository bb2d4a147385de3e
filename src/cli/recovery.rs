//! An identity that is made here, shown once, and kept nowhere.

use agekeep::error::Result;
use agekeep::store::{Identity, Recipient};
use qrcode::QrCode;
use qrcode::render::unicode;
use zeroize::Zeroizing;

/// The name of the member whose identity lies in a safe.
pub(super) const NAME: &str = "recovery";

/// The identity.
pub(super) struct Fresh(Identity);

impl Fresh {
    pub(super) fn new() -> Self {
        Self(Identity::generate())
    }

    pub(super) fn recipient(&self) -> Result<Recipient> {
        self.0.recipient()
    }

    /// The identity in its Bech32 form.
    pub(super) fn line(&self) -> Zeroizing<String> {
        self.0.to_secret_line().expect("it was made here")
    }

    /// The identity as text, and as a code that a telephone reads.
    pub(super) fn to_text(&self) -> Zeroizing<String> {
        let line = self.line();
        let code = QrCode::new(line.as_bytes()).expect("a line of 74 characters fits");
        let code = Zeroizing::new(code.render::<unicode::Dense1x2>().build());
        Zeroizing::new(format!(
            "This identity opens the store when every other one is lost. It is shown this once and \
             kept\nnowhere: print it, and put it in a safe.\n\n{}\n\n{}",
            line.as_str(),
            code.as_str()
        ))
    }
}
