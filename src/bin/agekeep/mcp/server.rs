//! The protocol: hands the requests of clients to the thread that owns the store.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use agekeep::event::Context;
use agekeep::jsonl;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
    CompletionInfo, GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, Prompt, PromptMessage, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, Reference, ResourceContents, Role, ServerCapabilities, ServerConfig,
    SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::mcp::call::{self, Call, ToolReply, context_of};
#[cfg(feature = "http")]
use crate::mcp::http::CallCounts;
use crate::mcp::notify::{ChangeNotifier, Subscribed};
use crate::mcp::{OfferedTools, resource};
use crate::worker::{StoreWorker, WorkerState};

/// The server as one client sees it.
#[derive(Clone)]
pub(super) struct McpHandler {
    worker: StoreWorker,
    notifier: ChangeNotifier,
    offer: Arc<OfferedTools>,
    defaults: Arc<Context>,
    closing: CancellationToken,
    #[cfg(feature = "http")]
    calls: Arc<CallCounts>,
    subscribed: Arc<Mutex<Subscribed>>,
    /// Set if a client of the older protocol version has introduced itself, and is told of changes.
    introduced: Arc<AtomicBool>,
}

type McpResult<T> = Result<T, ErrorData>;

impl McpHandler {
    pub(super) fn new(
        worker: StoreWorker,
        notifier: ChangeNotifier,
        offer: OfferedTools,
        defaults: Context,
    ) -> Self {
        Self {
            #[cfg(feature = "http")]
            calls: Arc::new(CallCounts::new(
                offer.specs.iter().map(|spec| spec.name.as_str()),
            )),
            worker,
            notifier,
            offer: Arc::new(offer),
            defaults: Arc::new(defaults),
            closing: CancellationToken::new(),
            subscribed: Arc::default(),
            introduced: Arc::default(),
        }
    }

    /// Returns the same server for another client.
    #[cfg(feature = "http")]
    pub(super) fn for_another(&self) -> Self {
        Self {
            subscribed: Arc::default(),
            introduced: Arc::default(),
            ..self.clone()
        }
    }

    /// Returns the counts of its calls, and the thread that has the store.
    #[cfg(feature = "http")]
    pub(super) fn monitored(&self) -> (Arc<CallCounts>, StoreWorker) {
        (self.calls.clone(), self.worker.clone())
    }

    /// Returns the token that is cancelled when the server is to end.
    pub(super) fn closing(&self) -> CancellationToken {
        self.closing.clone()
    }

    /// Watches the number of calls that wait for an answer.
    pub(super) fn waiting(&self) -> watch::Receiver<usize> {
        self.worker.waiting()
    }

    async fn ask<T: Send + 'static>(
        &self,
        act: impl FnOnce(&mut WorkerState) -> T + Send + 'static,
    ) -> McpResult<T> {
        self.answered(self.worker.ask(act).await)
    }

    /// Does the same with what may fail in the store. Such a request is no tool call, and so has no text
    /// of its own to show.
    async fn try_ask<T: Send + 'static>(
        &self,
        act: impl FnOnce(&mut WorkerState) -> agekeep::error::Result<T> + Send + 'static,
    ) -> McpResult<T> {
        self.ask(act).await?.map_err(|error| {
            let code = json!({"code": error.code()});
            ErrorData::internal_error(jsonl::explain(&error), Some(code))
        })
    }

    /// Returns the context of a request, which is refused if the client describes it wrongly.
    fn said(&self, request: &RequestContext<RoleServer>) -> McpResult<Context> {
        let (said, fault) = context_of(&self.defaults, request);
        fault.map_or(Ok(said), |why| Err(ErrorData::invalid_params(why, None)))
    }

    fn answered<T>(&self, answer: Option<T>) -> McpResult<T> {
        self.notifier.poll_soon();
        answer.ok_or_else(|| ErrorData::internal_error("this could not be done", None))
    }

    fn subscribed(&self) -> std::sync::MutexGuard<'_, Subscribed> {
        self.subscribed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl ServerHandler for McpHandler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_resources_list_changed()
            .enable_completions()
            .build();
        let this = Implementation::new("agekeep", env!("CARGO_PKG_VERSION"))
            .with_title("agekeep")
            .with_description(env!("CARGO_PKG_DESCRIPTION"));
        ServerConfig::new(capabilities)
            .with_server_info(this)
            .with_instructions(self.offer.guidance())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> McpResult<ListToolsResult> {
        let listed = ListToolsResult::with_all_items(self.offer.tools());
        Ok(listed.with_ttl_ms(0).with_cache_scope(CacheScope::Private))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> McpResult<CallToolResponse> {
        let Some(spec) = self.offer.find(&request.name) else {
            let why = "no such tool here; tools/list names those there are";
            return Err(ErrorData::invalid_params(why, None));
        };
        #[cfg(feature = "http")]
        let began = std::time::Instant::now();
        let (said, fault) = context_of(&self.defaults, &context);
        let call = Call {
            spec,
            arguments: request.arguments.unwrap_or_default(),
            context: said,
            fault,
        };
        let cancelled = context.ct.clone();
        let reply = if call.is_command() {
            let (command, said) = call::command(&self.offer, call);
            let done = self.worker.execute(command, said, cancelled).await;
            ToolReply::of_command(self.answered(done)?)
        } else {
            let done = self.ask(move |state| {
                if cancelled.is_cancelled() {
                    // Taken back before its turn came; nobody waits for the answer.
                    return ToolReply::error("the call was taken back");
                }
                call::answer(state, call)
            });
            done.await?
        };
        #[cfg(feature = "http")]
        self.calls.add(&spec.name, &reply, began.elapsed());
        Ok(reply.into_result().into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> McpResult<ListResourcesResult> {
        let cursor = request.and_then(|request| request.cursor);
        let said = self.said(&context)?;
        let asked = self.try_ask(move |state| resource::page(state, cursor.as_deref(), &said));
        let (resources, next) = asked.await?;
        let mut listed = ListResourcesResult::with_all_items(resources);
        listed.next_cursor = next;
        Ok(listed.with_ttl_ms(0).with_cache_scope(CacheScope::Private))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> McpResult<ListResourceTemplatesResult> {
        let listed = ListResourceTemplatesResult::with_all_items(resource::templates());
        Ok(listed.with_ttl_ms(0).with_cache_scope(CacheScope::Private))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> McpResult<ReadResourceResponse> {
        let said = self.said(&context)?;
        let uri = request.uri.clone();
        let asked = self.try_ask(move |state| {
            let named = resource::named(&uri);
            let read = named.map(|named| resource::read(state, &named, &said));
            let text = read.transpose()?.flatten();
            Ok(text.ok_or_else(|| state.redacted(uri)))
        });
        let text = asked.await?.map_err(|uri| {
            ErrorData::resource_not_found("no such memory", Some(json!({"uri": uri})))
        })?;
        let uri = request.uri;
        let contents = ResourceContents::text(text, uri).with_mime_type("text/plain");
        let read = ReadResourceResult::new(vec![contents]);
        Ok(read
            .with_ttl_ms(0)
            .with_cache_scope(CacheScope::Private)
            .into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> McpResult<CompleteResult> {
        let of_path = match &request.r#ref {
            Reference::Resource(template) => {
                [resource::NOW, resource::AT].contains(&&*template.uri)
            }
            _ => false,
        };
        if !of_path || request.argument.name.trim_start_matches('+') != "path" {
            return Ok(CompleteResult::default());
        }
        let said = self.said(&context)?;
        let typed = request.argument.value;
        let asked = self.try_ask(move |state| resource::completions(state, &typed, &said));
        let (values, total) = asked.await?;
        let more = total > values.len();
        let total = u32::try_from(total).ok();
        let completion = CompletionInfo::with_pagination(values, total, more)
            .map_err(|why| ErrorData::internal_error(why, None))?;
        Ok(CompleteResult::new(completion))
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> McpResult<ListPromptsResult> {
        let prompt = Prompt::new(GUIDANCE, Some(GUIDANCE_WHAT), None);
        let listed = ListPromptsResult::with_all_items(vec![prompt]);
        Ok(listed.with_ttl_ms(0).with_cache_scope(CacheScope::Private))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> McpResult<GetPromptResponse> {
        if request.name != GUIDANCE {
            return Err(ErrorData::invalid_params("no such prompt here", None));
        }
        let message = PromptMessage::new_text(Role::User, self.offer.guidance());
        let prompt = GetPromptResult::new(vec![message]).with_description(GUIDANCE_WHAT);
        Ok(prompt.into())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        // A client that introduces itself again must not be told everything twice.
        if self.introduced.swap(true, Ordering::Relaxed) {
            return;
        }
        let (notifier, subscribed) = (self.notifier.clone(), self.subscribed.clone());
        tokio::spawn(notifier.tell_session(context.peer, subscribed));
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> McpResult<()> {
        // The memory need not exist yet.
        let mut subscribed = self.subscribed();
        if subscribed.len() >= SUBSCRIBED_MAX || request.uri.len() > URI_BYTES_MAX {
            return Err(ErrorData::invalid_params("too many subscriptions", None));
        }
        let of = resource::canonical(&request.uri);
        subscribed.insert(request.uri, of);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> McpResult<()> {
        self.subscribed().remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        accepted.tools_list_changed = None;
        accepted.prompts_list_changed = None;
        if let Some(uris) = &mut accepted.resource_subscriptions {
            uris.retain(|uri| uri.len() <= URI_BYTES_MAX);
            uris.truncate(SUBSCRIBED_MAX);
        }
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> McpResult<()> {
        self.notifier
            .clone()
            .tell_listener(&context, &self.closing)
            .await;
        Ok(())
    }
}

/// The name of the prompt for clients that do not show a server's instructions to their model.
const GUIDANCE: &str = "memory-guidance";
const GUIDANCE_WHAT: &str = "What a model should know about its memory, for a system prompt";

/// Most resources that one client can subscribe to.
const SUBSCRIBED_MAX: usize = 1_000;
/// Most bytes of a URI: the longest path there can be, with every byte escaped.
const URI_BYTES_MAX: usize = 4_096;
