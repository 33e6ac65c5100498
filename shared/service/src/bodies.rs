//! The bodies of the two calls that add and start crawls.

use std::collections::HashSet;

use dragline_definition::parse_for;
use dragline_domain::definition::{Definition, RunsWhere};
use dragline_domain::ids::{Iteration, TriggerId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use crate::problem::Problem;

/// Adds a crawl, or changes it: the call `addScheduledCrawl`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AddCrawl {
    /// The crawl's name; without one, the host of the first domain name or seed.
    pub(crate) name: Option<String>,
    /// Hosts, or URLs, where the crawl begins: the `seeds` of the definition.
    #[serde(default)]
    pub(crate) domain_names: Vec<String>,
    /// When iterations begin: minute, hour, day of month, month, day of week.
    pub(crate) cron_expression: Option<String>,
    /// The time zone of the expression, by its IANA name; UTC if absent.
    pub(crate) time_zone: Option<String>,
    /// The user to whom the crawl belongs; nobody in particular if absent.
    pub(crate) user: Option<String>,
    /// All else: the keys of a crawl.yaml, as an object, or its text.
    #[schema(value_type = Option<Object>)]
    pub(crate) definition: Option<Value>,
    /// The URL of a crawl.yaml instead. It is read again every few minutes, and what has changed in
    /// it is taken over.
    pub(crate) definition_url: Option<String>,
}

impl AddCrawl {
    /// Returns the definition of the crawl.
    ///
    /// # Errors
    /// The definition is not valid, not for where the crawl runs, or says otherwise than a field
    /// beside it.
    pub(crate) fn definition(self, runs: RunsWhere) -> Result<Definition, Problem> {
        let is_alone = self.name.is_none()
            && self.domain_names.is_empty()
            && self.cron_expression.is_none()
            && self.user.is_none();
        if let (true, Some(Value::String(text))) = (is_alone, &self.definition) {
            // So that mistakes have the places that they have in the text.
            return Ok(parse_for(text, "definition", runs)?);
        }
        let mut keys = match self.definition {
            None => Map::new(),
            Some(Value::Object(keys)) => keys,
            Some(Value::String(text)) => dragline_definition::parse_as(&text, "definition")?,
            Some(_) => return Err(Problem::bad_request("`definition` is neither an object nor a text")),
        };
        let seeds = self.domain_names.iter().map(|name| with_scheme(name)).collect::<Vec<_>>();
        set(&mut keys, "name", self.name.map(Value::from))?;
        set(&mut keys, "user", self.user.map(Value::from))?;
        set(&mut keys, "seeds", (!seeds.is_empty()).then(|| json!(seeds)))?;
        let schedule = match (self.cron_expression, self.time_zone) {
            (Some(cron), Some(zone)) => Some(json!({"cron": cron, "time_zone": zone})),
            (Some(cron), None) => Some(json!({"cron": cron})),
            (None, Some(_)) => return Err(Problem::bad_request("`time_zone` without `cron_expression`")),
            (None, None) => None,
        };
        set(&mut keys, "schedule", schedule)?;
        // JSON is valid YAML.
        let text = serde_json::to_string_pretty(&keys).map_err(|error| Problem::bad_request(error.to_string()))?;
        Ok(parse_for(&text, "definition", runs)?)
    }
}

/// Sets a key that the definition does not have.
fn set(keys: &mut Map<String, Value>, key: &str, value: Option<Value>) -> Result<(), Problem> {
    match (value, keys.get(key)) {
        (Some(value), Some(other)) if value != *other => {
            let detail = format!("`{key}` is given twice, in the definition and beside it, and differs");
            return Err(Problem::bad_request(detail));
        }
        (Some(value), None) => {
            keys.insert(key.to_owned(), value);
        }
        _ => {}
    }
    Ok(())
}

/// Returns the URL of a host; a URL stays as it is.
pub(crate) fn with_scheme(name: &str) -> String {
    if name.contains("://") { name.to_owned() } else { format!("https://{name}") }
}

/// Begins an iteration: the call `startCrawling`. All fields may be absent.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StartCrawling {
    /// The iteration to begin, counted from 1: the same one asked for twice is begun once. Without
    /// it, the next one begins.
    #[schema(value_type = Option<u32>)]
    pub(crate) iteration: Option<Iteration>,
    /// What asks for it.
    #[serde(default, rename = "type")]
    pub(crate) start_type: StartType,
    /// Hosts, or URLs, where it begins instead: the definition is changed to begin there.
    #[serde(default)]
    pub(crate) domain_names: Vec<String>,
    /// URLs that are not to be visited, from now on: they are added to the definition's
    /// `do_not_crawl`.
    #[serde(default)]
    pub(crate) blacklisted_urls: Vec<String>,
}

/// What asks for an iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StartType {
    /// Somebody, now.
    #[default]
    OnDemand,
    /// A schedule outside of this server.
    Schedule,
}

impl StartType {
    /// Returns the trigger of an iteration; `None` if any call begins another one.
    pub(crate) fn trigger(self, iteration: Option<Iteration>) -> Option<TriggerId> {
        let name = match self {
            Self::OnDemand => "on-demand",
            Self::Schedule => "schedule",
        };
        iteration.map(|number| TriggerId(format!("{name}-{number}")))
    }
}

impl StartCrawling {
    /// Returns the definition with what the call changes in it; `None` if it changes nothing.
    ///
    /// # Errors
    /// The changed definition is not valid.
    pub(crate) fn change(&self, definition: &str) -> Result<Option<Definition>, Problem> {
        if self.domain_names.is_empty() && self.blacklisted_urls.is_empty() {
            return Ok(None);
        }
        let mut keys: Map<String, Value> = dragline_definition::parse_as(definition, "definition")?;
        let before = keys.clone();
        if !self.domain_names.is_empty() {
            keys.insert("seeds".to_owned(), self.domain_names.iter().map(|name| with_scheme(name)).collect());
        }
        let rules = keys.entry("do_not_crawl").or_insert_with(|| json!([]));
        let Some(rules) = rules.as_array_mut() else {
            return Err(Problem::bad_request("`do_not_crawl` of the definition is no list"));
        };
        let known = rules.iter().filter_map(|rule| rule["when"]["url"]["equals"].as_str());
        let mut known: HashSet<String> = known.map(str::to_owned).collect();
        for url in &self.blacklisted_urls {
            if known.insert(url.clone()) {
                rules.push(json!({"when": {"url": {"equals": url}}, "reason": "blacklisted by a call"}));
            }
        }
        if rules.is_empty() {
            keys.remove("do_not_crawl");
        }
        if keys == before {
            return Ok(None);
        }
        let text = serde_json::to_string_pretty(&keys).map_err(|error| Problem::bad_request(error.to_string()))?;
        Ok(Some(dragline_definition::parse(&text, "definition")?))
    }
}
