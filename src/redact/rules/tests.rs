//! The rules by themselves: form, examples, and that none sees another's clean texts.

use std::collections::HashSet;
use std::ops::Range;

use regex::bytes::{Regex, RegexBuilder};

use super::super::rule::Check;
use super::*;

/// What a rule's core may weigh once compiled.
const CORE_BYTES_MAX: usize = 1 << 20;

/// Words of which one stands near a bare value that is a secret.
const SECRET_WORDS: [&str; 4] = ["key", "token", "secret", "password"];

/// A rule beside its compiled core: only what can be judged without the engine.
struct Probe {
    rule: &'static Rule,
    shape: &'static Shape,
    core: Regex,
}

impl Probe {
    fn all() -> Vec<Self> {
        all().filter_map(Self::new).collect()
    }

    fn new(rule: &'static Rule) -> Option<Self> {
        let Finder::Shape(shape) = &rule.finder else {
            return None;
        };
        let core = RegexBuilder::new(shape.core)
            .unicode(false)
            .size_limit(CORE_BYTES_MAX)
            .build()
            .unwrap_or_else(|why| panic!("{}: {why}", rule.kind));
        Some(Self { rule, shape, core })
    }

    /// The secrets that the shape finds and neither its checks nor a placeholder rule out.
    fn spans(&self, text: &[u8]) -> Vec<Range<usize>> {
        let starts = match self.rule.class {
            Class::Marked => self.marked(text),
            _ => self.keyed(text),
        };
        starts
            .into_iter()
            .filter(|span| !looks_like_placeholder(&text[span.clone()]))
            .collect()
    }

    fn marked(&self, text: &[u8]) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        for literal in self.rule.literals {
            for at in places(text, literal.as_bytes()) {
                let window =
                    at.saturating_sub(self.shape.lead)..text.len().min(at + self.shape.reach);
                found.extend(self.first(text, &window, literal.as_bytes()));
            }
        }
        found
    }

    fn first(&self, text: &[u8], window: &Range<usize>, literal: &[u8]) -> Option<Range<usize>> {
        let hay = &text[..window.end];
        let mut from = window.start;
        loop {
            let core = self.core.captures_at(hay, from)?;
            let whole = core.get(0)?.range();
            if self.shape.lead == 0 && whole.start != window.start {
                return None;
            }
            if left_is_free(text, whole.start) {
                let secret = core.get(1).or(core.get(0))?.range();
                let span = self.extended(text, secret)?;
                return self.passes(&text[span.clone()], literal).then_some(span);
            }
            from = whole.start + 1;
        }
    }

    fn keyed(&self, text: &[u8]) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive(|&b| b == b'\n') {
            let lower = String::from_utf8_lossy(line).to_lowercase();
            let named = self.rule.keywords.iter().any(|word| lower.contains(word));
            if named && SECRET_WORDS.iter().any(|word| lower.contains(word)) {
                found.extend(self.bare_values(text, &(start..start + line.len())));
            }
            start += line.len();
        }
        found
    }

    fn bare_values(&self, text: &[u8], line: &Range<usize>) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut from = line.start;
        while let Some(core) = self.core.find_at(&text[..line.end], from) {
            let span = core.range();
            let free = left_is_free(text, span.start)
                && self.extended(text, span.clone()).is_some()
                && self.passes(&text[span.clone()], b"");
            from = if free { span.end } else { span.start + 1 };
            if free {
                found.push(span);
            }
        }
        found
    }

    /// The secret with its tail; `None` if it has to end here and does not.
    fn extended(&self, text: &[u8], core: Range<usize>) -> Option<Range<usize>> {
        let more: &[u8] = match self.shape.tail {
            Tail::Exact => {
                let ends = text
                    .get(core.end)
                    .is_none_or(|b| !b.is_ascii_alphanumeric());
                return ends.then_some(core);
            }
            Tail::Word => b"_-",
            Tail::Base64 => b"_-+/=",
            Tail::Dotted => b"_-.",
            Tail::Url => b"_-.+/=%&?",
        };
        let mut end = core.end;
        while end < text.len() && (text[end].is_ascii_alphanumeric() || more.contains(&text[end])) {
            end += 1;
        }
        while self.shape.tail == Tail::Dotted && end > core.end && text[end - 1] == b'.' {
            end -= 1;
        }
        Some(core.start..end)
    }

    /// The checks that need nothing but the bytes. The engine's `Random` asks for more.
    fn passes(&self, secret: &[u8], literal: &[u8]) -> bool {
        let skip = if secret.starts_with(literal) {
            literal.len()
        } else {
            0
        };
        let body = &secret[skip..];
        let has = |fits: fn(&u8) -> bool| body.iter().any(fits);
        self.rule.checks.iter().all(|check| match check {
            Check::Digit => has(u8::is_ascii_digit),
            Check::MixedCase => has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase),
            Check::Random => {
                let digits = body.iter().filter(|b| b.is_ascii_digit()).count();
                digits > 1 && has(u8::is_ascii_alphabetic)
            }
            _ => true,
        })
    }
}

fn places<'t>(text: &'t [u8], literal: &'t [u8]) -> impl Iterator<Item = usize> + 't {
    (0..text.len()).filter(move |&at| text[at..].starts_with(literal))
}

fn left_is_free(text: &[u8], at: usize) -> bool {
    at == 0 || !text[at - 1].is_ascii_alphanumeric()
}

/// A rough stand-in for the engine's own judgement.
fn looks_like_placeholder(secret: &[u8]) -> bool {
    let lower = secret.to_ascii_lowercase();
    let has = |part: &[u8]| places(&lower, part).next().is_some();
    let distinct: HashSet<_> = lower.iter().collect();
    distinct.len() < 4
        || has(b"xxxx")
        || has(b"1234567890")
        || has(b"example")
        || has(b"your")
        || has(b"00000000")
}

/// The text of an example, and where its secrets stand.
fn example(marked: &str) -> (Vec<u8>, Vec<Range<usize>>) {
    let mut text = Vec::new();
    let mut secrets = Vec::new();
    let mut start = 0;
    for part in marked.replace('¦', "").split_inclusive(['«', '»']) {
        if let Some(before) = part.strip_suffix('«') {
            text.extend_from_slice(before.as_bytes());
            start = text.len();
        } else if let Some(inside) = part.strip_suffix('»') {
            text.extend_from_slice(inside.as_bytes());
            secrets.push(start..text.len());
        } else {
            text.extend_from_slice(part.as_bytes());
        }
    }
    if secrets.is_empty() {
        secrets.push(0..text.len());
    }
    (text, secrets)
}

#[test]
fn kinds_are_unique_and_well_formed() {
    let mut seen = HashSet::new();
    for rule in all() {
        let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        assert!((2..=40).contains(&rule.kind.len()), "{}", rule.kind);
        assert!(rule.kind.bytes().all(fits), "{}", rule.kind);
        assert!(seen.insert(rule.kind), "{} stands twice", rule.kind);
        assert!(!rule.what.is_empty(), "{}", rule.kind);
    }
}

#[test]
fn the_rules_are_many_and_shown_from_both_sides() {
    let tokens = all().filter(|r| matches!(r.class, Class::Marked | Class::Keyed));
    assert!(tokens.count() >= 230);
    for rule in all() {
        assert!(rule.found.len() >= 3, "{} found", rule.kind);
        assert!(rule.kept.len() >= 3, "{} kept", rule.kind);
        let twice = |texts: &[&str]| texts.iter().collect::<HashSet<_>>().len() < texts.len();
        assert!(!twice(rule.found) && !twice(rule.kept), "{}", rule.kind);
    }
}

#[test]
fn each_class_has_what_it_is_found_by() {
    for rule in all() {
        let short = |literal: &&str| literal.len() < 3;
        match rule.class {
            Class::Marked => {
                assert!(!rule.literals.is_empty(), "{}", rule.kind);
                // Two of its tokens' bytes are fixed, and no more.
                let may_be_short = matches!(rule.kind, "ngrok-token" | "asana-pat");
                assert!(
                    may_be_short || !rule.literals.iter().any(short),
                    "{}",
                    rule.kind
                );
            }
            Class::Keyed => {
                assert!(rule.literals.is_empty(), "{}", rule.kind);
                assert!(!rule.keywords.is_empty(), "{}", rule.kind);
                let lower = |word: &&str| **word == word.to_lowercase();
                assert!(rule.keywords.iter().all(lower), "{}", rule.kind);
            }
            _ => {}
        }
    }
}

#[test]
fn no_literal_is_out_of_reach() {
    for probe in Probe::all()
        .iter()
        .filter(|p| p.rule.class == Class::Marked)
    {
        for literal in probe.rule.literals {
            let narrow = probe.shape.lead == 0 && probe.shape.reach < literal.len();
            assert!(!narrow, "{}: {literal} is out of reach", probe.rule.kind);
        }
    }
}

#[test]
fn what_is_found_is_found_whole() {
    for probe in Probe::all() {
        for marked in probe.rule.found {
            let (text, secrets) = example(marked);
            let mut spans = probe.spans(&text);
            spans.sort_by_key(|span| span.start);
            spans.dedup();
            assert_eq!(spans, secrets, "{}: {marked}", probe.rule.kind);
        }
    }
}

#[test]
fn an_example_holds_one_of_the_literals() {
    for probe in Probe::all() {
        let shown = |literal: &&&str| {
            let seen = |text: &&str| text.replace('¦', "").contains(**literal);
            probe.rule.found.iter().any(seen)
        };
        let any = probe.rule.literals.iter().find(shown);
        assert!(
            any.is_some() || probe.rule.class != Class::Marked,
            "{}: no example holds a literal",
            probe.rule.kind
        );
    }
}

#[test]
fn what_is_kept_is_found_by_no_rule() {
    let probes = Probe::all();
    for marked in all().flat_map(|rule| rule.kept) {
        let (text, _) = example(marked);
        for probe in &probes {
            let spans = probe.spans(&text);
            assert!(spans.is_empty(), "{} in {marked}", probe.rule.kind);
        }
    }
}

#[test]
fn every_known_token_has_a_rule() {
    let kinds: HashSet<_> = all().map(|rule| rule.kind).collect();
    for id in TAXONOMY.split_whitespace() {
        assert!(kinds.contains(id), "{id} has no rule");
    }
}

/// The token kinds of the research that stand in these tables.
const TAXONOMY: &str = "github-pat github-oauth github-app-user github-app-server github-refresh github-pat-fine \
    gitlab-pat gitlab-pat-routable gitlab-other gitlab-runner-registration \
    bitbucket-app-password atlassian-api-token sourcegraph-token circleci-pat \
    buildkite-token sonar-token harness-pat prefect-key npm-token pypi-token cratesio-token \
    rubygems-key nuget-key dockerhub-token artifactory-key artifactory-ref clojars-token \
    aws-access-key-id aws-secret-access-key aws-session-token aws-bedrock-key aws-mws \
    gcp-api-key gemini-auth-key google-oauth-secret google-access-token google-refresh-token \
    azure-ad-secret azure-identifiable-key azure-storage-key azure-devops-pat alibaba-key-id \
    tencent-secret-id digitalocean-token cloudflare-v2 cloudflare-origin-ca heroku-key \
    flyio-token vercel-token netlify-token render-key supabase-token neon-key planetscale \
    databricks-pat tailscale-key vault-token terraform-cloud pulumi-token doppler-token \
    onepassword-service onepassword-secret-key age-identity infracost-key anthropic-key \
    openai-key openrouter-key sk-generic langfuse-secret huggingface-token replicate-token \
    groq-key xai-key perplexity-key nvidia-key langsmith-key pinecone-key tavily-key \
    firecrawl-key jina-key cerebras-key elevenlabs-key together-key brave-key wandb-v1 \
    cursor-key stripe-key stripe-webhook square-token shopify-token plaid-token easypost-key \
    flutterwave-key shippo-token braintree-token razorpay-key slack-token slack-cookie \
    slack-app discord-bot telegram-bot twilio-key sendgrid-key mailgun-key mailchimp-key \
    brevo-key mailersend newrelic-key grafana-sa grafana-cloud sentry-token posthog-key \
    launchdarkly linear-key notion-token figma-token airtable-pat hubspot-app postman-key \
    contentful-pat typeform-token salesforce-session facebook-token dropbox-short \
    mapbox-secret dynatrace-token adobe-secret ngrok-token readme-key okta-token duffel \
    frameio openshift rapidapi vendor-marker-catchall kubeadm-token docker-swarm";
