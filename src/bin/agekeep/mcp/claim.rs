//! Who calls, as the client says it of itself: claimed, not verified, and recorded as that.

use agekeep::event::Context;
use agekeep::jsonl;
use rmcp::RoleServer;
use rmcp::model::RequestMetaObject;
use rmcp::service::RequestContext;
use serde_json::Value;

/// Where a client may say what JSON lines say in `context`: actor, session, reason and so on.
const CONTEXT: &str = "agekeep/context";
/// Where [`super::stdio`] says what was wrong with a message that was read all the same.
pub(super) const MENDED: &str = "agekeep/mended";
/// How the name of a `_meta` field ends in which a client gives the model's tool call id.
const TOOL_USE_ID: &str = "/toolUseId";

/// The context of a request, and what is wrong with what the client says of it.
pub(super) fn context_of(
    defaults: &Context,
    request: &RequestContext<RoleServer>,
) -> (Context, Option<String>) {
    let mut context = defaults.clone();
    if let Some(client) = request.client_info() {
        context.client = Some(format!("{}/{}", client.name, client.version));
    }
    if let Some(session) = session_of(request) {
        context.session.get_or_insert(session);
    }
    context.trace = request.meta.get_traceparent().and_then(trace_id);
    let said = |(name, value): (&String, &Value)| {
        let id = value.as_str().filter(|_| name.ends_with(TOOL_USE_ID))?;
        Some(id.to_owned())
    };
    context.tool_use_id = fields(&request.meta).find_map(said);
    let asked = fields(&request.meta).find(|(name, _)| *name == CONTEXT);
    let asked = asked.map(|(_, value)| value.clone());
    let fault = jsonl::fill_context(&mut context, asked).err();
    let is_mended = fields(&request.meta).any(|(name, _)| name == MENDED);
    let mended = is_mended.then(|| "a string in it holds half a surrogate pair".to_owned());
    (context, mended.or(fault))
}

fn fields(meta: &RequestMetaObject) -> impl Iterator<Item = (&String, &Value)> {
    meta.iter()
}

/// The trace id of a `traceparent` (W3C Trace Context, section 3.2.2): 32 lowercase hexadecimal
/// digits that are not all zero.
fn trace_id(traceparent: &str) -> Option<String> {
    let id = traceparent.split('-').nth(1)?;
    let is_hex = id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    (id.len() == 32 && is_hex && id.bytes().any(|b| b != b'0')).then(|| id.to_owned())
}

/// The session of the HTTP transport in the older era, which the server made.
#[cfg(feature = "http")]
fn session_of(request: &RequestContext<RoleServer>) -> Option<String> {
    let parts = request.extensions.get::<hyper::http::request::Parts>()?;
    let session = parts.headers.get("mcp-session-id")?;
    session.to_str().ok().map(str::to_owned)
}

#[cfg(not(feature = "http"))]
fn session_of(_: &RequestContext<RoleServer>) -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_id_is_what_the_specification_says() {
        let id = "4bf92f3577b34da6a3ce929d0e0e4736";
        let good = format!("00-{id}-00f067aa0ba902b7-01");
        assert_eq!(trace_id(&good).as_deref(), Some(id));
        for bad in [
            "",
            "00",
            "00--00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f35-00f067aa0ba902b7-01",
        ] {
            assert_eq!(trace_id(bad), None, "{bad}");
        }
    }
}
