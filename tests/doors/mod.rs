//! What brings agents to a store: the guidance for a prompt, the memories to begin with, and the
//! configuration of MCP clients, which is started as they start it.

mod config;
mod diagnose;
mod prompt;
mod site;
mod template;
