//! Tests of the rules: their form, and their examples through the whole engine.

use std::collections::HashSet;
use std::ops::Range;

use regex::bytes::RegexBuilder;

use crate::rules::*;

/// The build script, whose own tests run here.
#[allow(dead_code, unreachable_pub)] // the build calls it
#[path = "../../build/rules.rs"]
pub(crate) mod build;
mod whole;

/// Largest size of a rule's core once compiled, in bytes.
const CORE_BYTES_MAX: usize = 1 << 20;

/// Returns the text of an example and the ranges of its secrets.
pub(crate) fn example(marked: &str) -> (Vec<u8>, Vec<Range<usize>>) {
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
    (text, secrets)
}

#[test]
fn the_rules_are_many_and_shown_from_both_sides() {
    let tokens = all().filter(|r| matches!(r.class, Class::Marked | Class::Keyed));
    assert!(tokens.count() >= 230);
    let known: HashSet<_> = all().map(|rule| rule.kind).collect();
    for kind in samples::kinds() {
        assert!(known.contains(kind), "samples of {kind}, which is no rule");
    }
    for rule in all() {
        let samples = samples::of(rule);
        let twice = |texts: &[String]| texts.iter().collect::<HashSet<_>>().len() < texts.len();
        assert!(
            !twice(&samples.found) && !twice(&samples.kept),
            "{}",
            rule.kind
        );
        let marked = |text: &&String| text.contains('«');
        assert!(
            samples.found.iter().all(|text| marked(&text)),
            "{}",
            rule.kind
        );
        assert!(
            !samples.kept.iter().any(|text| marked(&text)),
            "{}",
            rule.kind
        );
    }
}

/// Shorter literals stand in any text. The tokens of these two rules have two fixed bytes, and no
/// more.
#[test]
fn literals_are_three_bytes_or_more() {
    for rule in all().filter(|rule| rule.class == Class::Marked) {
        let may_be_short = matches!(rule.kind, "ngrok-token" | "asana-pat");
        let is_short = rule.literals.iter().any(|literal| literal.len() < 3);
        assert!(may_be_short || !is_short, "{}", rule.kind);
    }
}

/// Returns every rule that has a shape, with that shape.
fn shapes() -> impl Iterator<Item = (&'static Rule, &'static Shape)> {
    all().filter_map(|rule| match &rule.finder {
        Finder::Shape(shape) => Some((rule, shape)),
        _ => None,
    })
}

#[test]
fn every_core_is_light() {
    for (rule, shape) in shapes() {
        let core = RegexBuilder::new(shape.core)
            .unicode(false)
            .size_limit(CORE_BYTES_MAX)
            .build();
        assert!(core.is_ok(), "{}: {core:?}", rule.kind);
    }
}

#[test]
fn an_example_holds_one_of_the_literals() {
    for rule in all().filter(|rule| rule.class == Class::Marked) {
        let shown = |literal: &&str| {
            let mut examples = samples::of(rule).found.iter();
            examples.any(|text| text.replace('¦', "").contains(*literal))
        };
        let any = rule.literals.iter().any(shown);
        assert!(any, "{}: no example holds a literal", rule.kind);
    }
}

#[test]
fn every_known_kind_has_a_rule() {
    let kinds: HashSet<_> = all().map(|rule| rule.kind).collect();
    assert_eq!(TAXONOMY.split_whitespace().count(), 155);
    for id in TAXONOMY.split_whitespace() {
        assert!(kinds.contains(id), "{id} has no rule");
    }
}

/// The kinds of the research, each of which is a kind here.
const TAXONOMY: &str = "\
    github-pat github-oauth github-app-user github-app-server github-refresh github-pat-fine \
    gitlab-pat gitlab-pat-routable gitlab-other gitlab-runner-registration \
    bitbucket-app-password atlassian-api-token sourcegraph-token circleci-pat buildkite-token \
    sonar-token harness-pat prefect-key npm-token pypi-token cratesio-token rubygems-key \
    nuget-key dockerhub-token artifactory-key artifactory-ref clojars-token aws-access-key-id \
    aws-secret-access-key aws-session-token aws-bedrock-key aws-mws gcp-api-key gemini-auth-key \
    google-oauth-secret google-access-token google-refresh-token azure-ad-secret \
    azure-identifiable-key azure-storage-key azure-devops-pat azure-sas alibaba-key-id \
    tencent-secret-id digitalocean-token cloudflare-v2 cloudflare-origin-ca heroku-key \
    flyio-token vercel-token netlify-token render-key supabase-token neon-key planetscale \
    databricks-pat tailscale-key vault-token terraform-cloud pulumi-token doppler-token \
    onepassword-service onepassword-secret-key age-identity infracost-key anthropic-key \
    openai-key openrouter-key sk-generic langfuse-secret huggingface-token replicate-token \
    groq-key xai-key perplexity-key nvidia-key langsmith-key pinecone-key tavily-key \
    firecrawl-key jina-key cerebras-key elevenlabs-key together-key brave-key wandb-v1 \
    cursor-key stripe-key stripe-webhook square-token shopify-token plaid-token easypost-key \
    flutterwave-key shippo-token braintree-token razorpay-key slack-token slack-cookie slack-app \
    slack-webhook discord-bot discord-webhook teams-webhook telegram-bot twilio-key sendgrid-key \
    mailgun-key mailchimp-key brevo-key mailersend newrelic-key grafana-sa grafana-cloud \
    sentry-token posthog-key launchdarkly linear-key notion-token figma-token airtable-pat \
    hubspot-app postman-key contentful-pat typeform-token salesforce-session facebook-token \
    dropbox-short mapbox-secret dynatrace-token adobe-secret ngrok-token readme-key okta-token \
    duffel frameio openshift rapidapi vendor-marker-catchall jwt private-key-pem putty-key \
    uri-userinfo http-authorization cookie assignment otpauth wireguard kubeadm-token \
    docker-swarm credit-card iban email phone us-ssn";
