//! The rules: their form, and their examples through the whole engine.

use std::collections::HashSet;
use std::ops::Range;

use regex::bytes::RegexBuilder;

use super::super::rule::Check;
use super::*;

mod whole;

/// What a rule's core may weigh once compiled.
const CORE_BYTES_MAX: usize = 1 << 20;

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

/// Every rule with a shape, and that shape.
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
fn no_literal_is_out_of_reach() {
    for (rule, shape) in shapes() {
        for literal in rule.literals {
            let narrow = shape.lead == 0 && shape.reach < literal.len();
            assert!(!narrow, "{}: {literal} is out of reach", rule.kind);
        }
    }
}

#[test]
fn an_example_holds_one_of_the_literals() {
    for rule in all().filter(|rule| rule.class == Class::Marked) {
        let shown = |literal: &&str| {
            let mut examples = rule.found.iter();
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
