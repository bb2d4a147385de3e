//! What a request asks for: the pairs of a query or a form, and links that make such queries.

use agekeep::error::{Error, Result};

/// The pairs of a query or a form, without those that are empty.
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    pub(super) fn parse(text: &str) -> Self {
        let pairs = form_urlencoded::parse(text.as_bytes());
        let given = pairs.filter(|(_, value)| !value.is_empty());
        Self(
            given
                .map(|(n, v)| (n.into_owned(), v.into_owned()))
                .collect(),
        )
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        let mut pairs = self.0.iter();
        let found = pairs.find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(super) fn owned(&self, name: &str) -> Option<String> {
        self.text(name).map(str::to_owned)
    }

    /// Returns a value that the page cannot do without.
    pub(super) fn needed(&self, name: &'static str) -> Result<&str> {
        self.text(name)
            .ok_or_else(|| Error::invalid("the request", format!("it names no {name}")))
    }

    pub(super) fn number(&self, name: &'static str) -> Result<Option<u64>> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        text.parse()
            .map(Some)
            .map_err(|_| Error::invalid("the request", format!("its {name} is not a number")))
    }

    /// Refuses what the page does not know, and what is said twice.
    pub(super) fn check(&self, known: &[&str]) -> Result<()> {
        for (at, (name, _)) in self.0.iter().enumerate() {
            let is_again = self.0[..at].iter().any(|(before, _)| before == name);
            if is_again || !known.contains(&name.as_str()) {
                return Err(Error::invalid(
                    "the request",
                    "it holds something that this page does not know",
                ));
            }
        }
        Ok(())
    }

    /// Returns a link to a page with this query, but for one pair that is put in the place of its
    /// own.
    pub(super) fn link_with(&self, page: &str, name: &str, value: &str) -> String {
        let others = self.0.iter().filter(|(known, _)| known != name);
        let pairs = others.map(|(name, value)| (name.as_str(), value.as_str()));
        let pairs: Vec<(&str, &str)> = pairs.chain([(name, value)]).collect();
        link(page, &pairs)
    }
}

/// Returns a link to a page.
pub(super) fn link(page: &str, pairs: &[(&str, &str)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(pairs);
    format!("{page}?{}", query.finish())
}

/// Returns the link to a memory's page.
pub(super) fn to_memory(path: &str) -> String {
    link("memory", &[("path", path)])
}

/// Returns the link to an event's page.
pub(super) fn to_event(event: u64) -> String {
    link("event", &[("n", &event.to_string())])
}
