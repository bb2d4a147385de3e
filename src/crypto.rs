//! Keys and ciphers: age and SSH keys, signatures, digests, and the files that list members' keys.

pub(crate) mod aead;
pub(crate) mod base64;
pub(crate) mod digest;
pub mod keyfile;
pub mod recipients;
pub(crate) mod seal;
pub(crate) mod sign;
