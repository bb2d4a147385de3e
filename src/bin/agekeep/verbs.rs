//! The verbs of the command line, a file for each subject: parses the arguments, calls the library,
//! shows the result.

pub(crate) mod erase;
pub(crate) mod export;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod man;
pub(crate) mod mcp_config;
pub(crate) mod members;
pub(crate) mod memory;
pub(crate) mod policy;
pub(crate) mod prompt;
pub(crate) mod proof;
pub(crate) mod receipt;
pub(crate) mod redact;
pub(crate) mod remote;
pub(crate) mod renamed;
pub(crate) mod replicas;
pub(crate) mod report;
pub(crate) mod retention;
pub(crate) mod rules;
pub(crate) mod scan;
pub(crate) mod schedule;
pub(crate) mod signers;
pub(crate) mod status;
pub(crate) mod tool;
pub(crate) mod undo;
pub(crate) mod verify;
