//! The built-in rules, as data, one file for each family of vendors.

mod build;
mod catchall;
mod chains;
mod cloud;
mod cloud_asia;
mod cloud_google;
mod commerce;
mod content;
mod data;
mod hosting;
mod identity;
mod infrastructure;
mod keyed_analytics;
mod keyed_build;
mod keyed_business;
mod keyed_cloud;
mod keyed_content;
mod keyed_data;
mod keyed_hosting;
mod keyed_mail;
mod keyed_markets;
mod keyed_media;
mod keyed_messaging;
mod keyed_models;
mod keyed_money;
mod keyed_observability;
mod keyed_quality;
mod keyed_social;
mod mail;
mod messaging;
mod model_hosts;
mod model_tools;
mod models;
mod named;
mod networks;
mod observability;
mod payments;
mod payments_regional;
mod personal;
mod pipelines;
mod product;
mod productivity;
mod registries;
mod source_hosts;
pub(super) mod structural;
mod warehouses;
mod webhooks;
mod workspace;

#[cfg(test)]
mod tests;

use super::rule::{Class, Finder, Rule, Severity, Shape, Tail};

/// The version of the rule set, which every event names. It grows with every change of what is
/// found.
pub const VERSION: u32 = 1;

/// The kind of the rule for vendors that have none of their own.
pub(super) const CATCH_ALL: &str = "vendor-marker-catchall";

/// Every built-in rule. Where two have the same literal, the narrower stands first.
pub(super) fn all() -> impl Iterator<Item = &'static Rule> {
    [
        source_hosts::RULES,
        build::RULES,
        pipelines::RULES,
        registries::RULES,
        cloud::RULES,
        cloud_google::RULES,
        cloud_asia::RULES,
        hosting::RULES,
        infrastructure::RULES,
        networks::RULES,
        data::RULES,
        warehouses::RULES,
        models::RULES,
        model_hosts::RULES,
        model_tools::RULES,
        payments::RULES,
        payments_regional::RULES,
        commerce::RULES,
        chains::RULES,
        messaging::RULES,
        webhooks::RULES,
        mail::RULES,
        observability::RULES,
        product::RULES,
        productivity::RULES,
        workspace::RULES,
        content::RULES,
        identity::RULES,
        keyed_cloud::RULES,
        keyed_hosting::RULES,
        keyed_build::RULES,
        keyed_quality::RULES,
        keyed_data::RULES,
        keyed_models::RULES,
        keyed_analytics::RULES,
        keyed_observability::RULES,
        keyed_messaging::RULES,
        keyed_mail::RULES,
        keyed_business::RULES,
        keyed_content::RULES,
        keyed_social::RULES,
        keyed_media::RULES,
        keyed_money::RULES,
        keyed_markets::RULES,
        catchall::RULES,
        named::RULES,
        personal::RULES,
    ]
    .into_iter()
    .flatten()
    .chain(structural::all())
}

/// A token that its prefix or inner marker gives away; the rest is said by each rule.
const MARKED: Rule = Rule {
    kind: "",
    what: "",
    class: Class::Marked,
    severity: Severity::High,
    literals: &[],
    keywords: &[],
    finder: shape("", 0),
    checks: &[],
    found: &[],
    kept: &[],
};

/// A bare value that only the vendor's name near it gives away.
const KEYED: Rule = Rule {
    class: Class::Keyed,
    ..MARKED
};

/// A core that begins with its literal and may run on over `[A-Za-z0-9_-]`.
const fn shape(core: &'static str, reach: usize) -> Finder {
    tailed(core, reach, Tail::Word)
}

/// A core that begins with its literal and runs on in its own way.
const fn tailed(core: &'static str, reach: usize, tail: Tail) -> Finder {
    around(core, 0, reach, tail)
}

/// A core that holds its literal up to `lead` bytes after its start.
const fn around(core: &'static str, lead: usize, reach: usize, tail: Tail) -> Finder {
    Finder::Shape(Shape {
        core,
        lead,
        reach,
        tail,
    })
}

/// A core without a literal: a longer run of letters and digits is something else.
const fn bare(core: &'static str, reach: usize) -> Finder {
    tailed(core, reach, Tail::Exact)
}
