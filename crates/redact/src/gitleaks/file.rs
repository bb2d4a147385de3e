//! The file as it is written: every key that gitleaks knows, and no other.
//!
//! gitleaks reads keys in any case; here they may stand as its manual writes them or in lower case.
//! A key that would change the findings, and is not followed, is read all the same, so that it can
//! be refused by name.

use serde::Deserialize;
use serde::de::IgnoredAny;
use toml::Spanned;

/// A key whose value does not matter.
type Ignored = Option<IgnoredAny>;
/// A key that is read only to be refused.
pub(super) type Refused = Option<Spanned<IgnoredAny>>;

/// The whole file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    #[serde(default, rename = "title")]
    _title: Ignored,
    #[serde(default, rename = "description")]
    _description: Ignored,
    #[serde(default, rename = "minVersion", alias = "minversion")]
    _min_version: Ignored,
    #[serde(default)]
    pub(super) extend: Extend,
    #[serde(default)]
    pub(super) rules: Vec<Spanned<RawRule>>,
    #[serde(alias = "allowList")]
    pub(super) allowlist: Option<Spanned<Allowlist>>,
    #[serde(default, alias = "allowLists")]
    pub(super) allowlists: Vec<Spanned<Allowlist>>,
}

/// The configuration that the file extends.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct Extend {
    #[serde(default, rename = "useDefault", alias = "usedefault")]
    pub(super) use_default: bool,
    pub(super) path: Refused,
    #[serde(alias = "URL")]
    pub(super) url: Refused,
    #[serde(default, rename = "disabledRules", alias = "disabledrules")]
    pub(super) disabled_rules: Vec<String>,
}

/// A rule.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawRule {
    #[serde(default)]
    pub(super) id: String,
    #[serde(default, rename = "description")]
    _description: Ignored,
    pub(super) regex: Option<Spanned<String>>,
    pub(super) path: Option<Spanned<String>>,
    #[serde(rename = "secretGroup", alias = "secretgroup")]
    pub(super) secret_group: Option<Spanned<usize>>,
    pub(super) entropy: Option<Spanned<f64>>,
    #[serde(default)]
    pub(super) keywords: Vec<Spanned<String>>,
    #[serde(default, rename = "tags")]
    _tags: Ignored,
    #[serde(alias = "allowList")]
    pub(super) allowlist: Option<Spanned<Allowlist>>,
    #[serde(default, alias = "allowLists")]
    pub(super) allowlists: Vec<Spanned<Allowlist>>,
    pub(super) required: Refused,
    #[serde(rename = "skipReport", alias = "skipreport")]
    pub(super) skip_report: Refused,
}

/// A list of secrets that are let pass.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Allowlist {
    #[serde(default, rename = "description")]
    _description: Ignored,
    #[serde(rename = "targetRules", alias = "targetrules")]
    pub(super) target_rules: Option<Spanned<Vec<Spanned<String>>>>,
    pub(super) condition: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) commits: Vec<String>,
    #[serde(default)]
    pub(super) paths: Vec<Spanned<String>>,
    #[serde(rename = "regexTarget", alias = "regextarget")]
    pub(super) regex_target: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) regexes: Vec<Spanned<String>>,
    #[serde(default, alias = "stopWords")]
    pub(super) stopwords: Vec<Spanned<String>>,
}
