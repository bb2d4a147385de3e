//! A person's defaults: `agekeep/config.toml` in the configuration folder. An option or a variable of
//! the environment wins over it. Nothing in it weakens a check, and nobody else may write it.

use std::ops::Range;
use std::path::{Path, PathBuf};

use agekeep::crypto::keyfile::is_secret;
use agekeep::error::{Error, Result};
use clap::parser::ValueSource;
use clap::{ArgMatches, ValueEnum};
use serde::Deserialize;
use serde_json::json;
use toml::Spanned;

use crate::args::Global;
use crate::output::{self, Color};
use crate::{environment, platform};

/// Largest file that is read, in bytes.
const BYTES_MAX: u64 = 64 * 1024;

/// The file's values, each with its place.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Defaults {
    store: Option<Spanned<String>>,
    identity: Option<Spanned<String>>,
    signing_key: Option<Spanned<String>>,
    actor: Option<Spanned<String>>,
    color: Option<Spanned<String>>,
}

/// The configuration file as it was read. One that is not there is like an empty one.
struct ConfigFile {
    path: PathBuf,
    text: String,
    defaults: Defaults,
}

impl ConfigFile {
    fn read(path: PathBuf) -> Result<Self> {
        let text = platform::own_text(&path, BYTES_MAX).map_err(|why| refused(&path, &why))?;
        let text = text.unwrap_or_default();
        let defaults = toml::from_str(&text).map_err(|fault| {
            let line = line_of(&text, fault.span().as_ref());
            refused(&path, &format!("line {line}: {}", fault.message()))
        })?;
        Ok(Self {
            path,
            text,
            defaults,
        })
    }

    /// Returns a text of the file, which must say something and fit into a line.
    fn text(&self, value: Option<&Spanned<String>>) -> Result<Option<String>> {
        let Some(value) = value else {
            return Ok(None);
        };
        let text = value.get_ref();
        if text.trim().is_empty() || text.contains(output::is_obeyed) {
            return Err(self.at(value, "it is empty, or has a control character"));
        }
        if is_secret(text) {
            return Err(self.at(value, "it is a secret itself"));
        }
        Ok(Some(text.clone()))
    }

    /// Returns a path of the file: an absolute one, or one below the home folder.
    fn place(&self, value: Option<&Spanned<String>>) -> Result<Option<PathBuf>> {
        let (Some(text), Some(value)) = (self.text(value)?, value) else {
            return Ok(None);
        };
        let path = match (text.strip_prefix("~/"), environment::folder_in("HOME")) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(text),
        };
        if !path.is_absolute() {
            return Err(self.at(value, "the path does not begin with `/` or `~/`"));
        }
        Ok(Some(path))
    }

    fn color(&self) -> Result<Option<Color>> {
        let Some(value) = &self.defaults.color else {
            return Ok(None);
        };
        let color = Color::from_str(value.get_ref(), false);
        let color = color.map_err(|_| self.at(value, "it is none of `auto`, `always`, `never`"));
        color.map(Some)
    }

    /// Refuses a value, which is not shown: it may be a secret in the wrong place.
    fn at(&self, value: &Spanned<String>, why: &str) -> Error {
        let line = line_of(&self.text, Some(&value.span()));
        refused(&self.path, &format!("line {line}: {why}"))
    }
}

fn refused(path: &Path, why: &str) -> Error {
    Error::invalid(
        "the configuration file",
        format!("{}: {why}", path.display()),
    )
}

/// Returns the number of the line at which a place begins.
fn line_of(text: &str, place: Option<&Range<usize>>) -> usize {
    let before = place.and_then(|place| text.get(..place.start));
    before.map_or(1, |before| before.matches('\n').count() + 1)
}

/// Fills in what neither an option nor the environment says.
pub(super) fn apply(global: &mut Global, line: &ArgMatches) -> Result<()> {
    let Ok(path) = environment::config_file() else {
        // Without a home folder nobody has defaults.
        return Ok(());
    };
    let file = ConfigFile::read(path)?;
    let said = &file.defaults;
    let paths = [
        (&mut global.store, &said.store),
        (&mut global.identity, &said.identity),
        (&mut global.signing_key, &said.signing_key),
    ];
    for (value, said) in paths {
        let usual = file.place(said.as_ref())?;
        *value = value.take().or(usual);
    }
    global.usual_actor = file.text(said.actor.as_ref())?;
    let is_open = line.value_source("color") != Some(ValueSource::CommandLine)
        && environment::no_color().is_none();
    if let Some(color) = file.color()?.filter(|_| is_open) {
        global.color = color;
    }
    Ok(())
}

/// The origin of a value.
enum Origin {
    Option,
    Environment(&'static str),
    File(usize),
    Default,
}

/// A setting: its name, its value if it has one, and where that comes from.
type Setting = (&'static str, Option<String>, Origin);

/// Shows each setting, and where its value comes from.
pub(super) fn show(global: &Global, line: &ArgMatches) -> Result<u8> {
    let file = ConfigFile::read(environment::config_file()?)?;
    let settings = settings(global, &file, line)?;
    if global.json {
        let object = |(name, value, origin): &Setting| match origin {
            Origin::Option => json!({"name": name, "value": value, "from": "option"}),
            Origin::Environment(variable) => {
                json!({"name": name, "value": value, "from": "environment", "variable": variable})
            }
            Origin::File(line) => {
                json!({"name": name, "value": value, "from": "file", "line": line})
            }
            Origin::Default => json!({"name": name, "value": value, "from": "default"}),
        };
        output::json(&json!({
            "schema": "agekeep.config/1",
            "file": file.path.to_string_lossy(),
            "settings": settings.iter().map(object).collect::<Vec<_>>(),
        }))?;
        return Ok(0);
    }
    for (name, value, origin) in &settings {
        let origin = match origin {
            Origin::Option => format!("option --{}", name.replace('_', "-")),
            Origin::Environment(variable) => format!("environment {variable}"),
            Origin::File(line) => format!("file {} line {line}", file.path.display()),
            Origin::Default => "default".to_owned(),
        };
        let value = value.as_deref().unwrap_or("(none)");
        output::line(&format!("{name:<12} {value}  [{origin}]"))?;
    }
    Ok(0)
}

fn settings(global: &Global, file: &ConfigFile, line: &ArgMatches) -> Result<Vec<Setting>> {
    let said = &file.defaults;
    let origin = |name: &str, variable: Option<&'static str>, said: &Option<Spanned<String>>| match (
        line.value_source(name),
        variable,
        said,
    ) {
        (Some(ValueSource::CommandLine), ..) => Origin::Option,
        (_, Some(variable), _) => Origin::Environment(variable),
        (_, _, Some(said)) => Origin::File(line_of(&file.text, Some(&said.span()))),
        _ => Origin::Default,
    };
    let path = |name, path: PathBuf, variable, said| {
        let is_set = line.value_source(name) == Some(ValueSource::EnvVariable);
        let value = Some(path.to_string_lossy().into_owned());
        (name, value, origin(name, is_set.then_some(variable), said))
    };
    let (store, identity) = (environment::store(global)?, environment::identity(global)?);
    let signing_key = environment::signing_key(global)?;
    let actor = environment::actor().map(|_| "AGEKEEP_ACTOR");
    let color = origin("color", environment::no_color(), &said.color);
    let colored = match color {
        Origin::Environment(_) => Color::Never,
        _ => global.color,
    };
    let colored = colored.to_possible_value();
    Ok(vec![
        path("store", store, "AGEKEEP_STORE", &said.store),
        path("identity", identity, "AGEKEEP_IDENTITY", &said.identity),
        path(
            "signing_key",
            signing_key,
            "AGEKEEP_SIGNING_KEY",
            &said.signing_key,
        ),
        (
            "actor",
            global.context().actor,
            origin("actor", actor, &said.actor),
        ),
        (
            "color",
            colored.map(|color| color.get_name().to_owned()),
            color,
        ),
    ])
}
