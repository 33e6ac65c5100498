//! The fields of the form that adds a crawl, and the mistakes in them.

use dragline_definition::duration;
use dragline_domain::definition::{Definition, Draft, Key, Problem, Schedule, ScheduleError, UrlPattern, Within};
use dragline_domain::ids::CrawlId;
use dragline_domain::url::CrawlUrl;
use maud::{Markup, html};
use serde::Deserialize;

use super::results::filled;
use super::shown::line;
use crate::bodies::with_scheme;

/// What was entered, as it was.
#[derive(Clone, Debug, Deserialize)]
#[serde(default)]
pub(super) struct Fields {
    pub(super) seeds: String,
    pub(super) name: String,
    pub(super) within: Within,
    pub(super) path: String,
    pub(super) pages: String,
    pub(super) delay: String,
    pub(super) cron: String,
    pub(super) zone: String,
}

impl Default for Fields {
    fn default() -> Self {
        let text = String::new;
        Self {
            seeds: text(),
            name: text(),
            within: Within::default(),
            path: text(),
            // Whoever has just begun should not crawl a million pages by accident.
            pages: "1000".to_owned(),
            delay: "1s".to_owned(),
            cron: text(),
            zone: Schedule::TIME_ZONE.to_owned(),
        }
    }
}

/// A field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Seeds,
    Name,
    Path,
    Pages,
    Delay,
    Cron,
    Zone,
}

/// The mistakes, each with its field; those without one are of the whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Mistakes(Vec<(Option<Field>, String)>);

impl Mistakes {
    pub(super) fn one(field: Field, message: String) -> Self {
        Self(vec![(Some(field), message)])
    }

    fn add(&mut self, field: Field, message: impl Into<String>) {
        self.0.push((Some(field), message.into()));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn among(&self, field: Option<Field>) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(place, _)| *place == field).map(|(_, message)| message.as_str())
    }

    /// Returns the value of `aria-invalid`.
    pub(super) fn mark(&self, field: Field) -> Option<&'static str> {
        self.among(Some(field)).next().map(|_| "true")
    }

    /// Returns the mistakes in a field.
    pub(super) fn at(&self, field: Field) -> Markup {
        html! { @for message in self.among(Some(field)) { span.mistake { (line(message)) } br; } }
    }

    /// Returns the mistakes that are in no single field.
    pub(super) fn others(&self) -> Markup {
        html! { @for message in self.among(None) { p.mistake { (line(message)) } } }
    }
}

impl Fields {
    /// Returns the definition.
    ///
    /// # Errors
    /// All mistakes, as far as one does not hide another.
    pub(super) fn definition(&self) -> Result<Definition, Mistakes> {
        let mut mistakes = Mistakes::default();
        let mut draft = Draft::for_seeds(self.seeds(&mut mistakes));
        if let Some(name) = filled(&self.name) {
            match name.parse::<CrawlId>() {
                Ok(name) => draft.name = name,
                Err(error) => mistakes.add(Field::Name, error.to_string()),
            }
        }
        draft.scope.within = self.within;
        draft.scope.include.extend(self.paths(&mut mistakes));
        if let Some(pages) = filled(&self.pages) {
            match pages.replace([',', ' '], "").parse() {
                Ok(pages) => draft.budget.pages = Some(pages),
                Err(_) => mistakes.add(Field::Pages, format!("`{pages}` is not a number of pages")),
            }
        }
        if let Some(delay) = filled(&self.delay) {
            match duration(delay) {
                Ok(delay) => draft.politeness.delay = delay,
                Err(error) => {
                    let hint = error.hint.map(|hint| format!("; {hint}")).unwrap_or_default();
                    mistakes.add(Field::Delay, format!("{}{hint}", error.message));
                }
            }
        }
        if let Some(cron) = filled(&self.cron) {
            match Schedule::new(cron, filled(&self.zone).unwrap_or(Schedule::TIME_ZONE)) {
                Ok(schedule) => draft.schedule = Some(schedule),
                Err(error @ ScheduleError::TimeZone(_)) => mistakes.add(Field::Zone, error.to_string()),
                Err(error) => mistakes.add(Field::Cron, error.to_string()),
            }
        }
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        Definition::new(draft).map_err(|problems| Mistakes(problems.iter().map(located).collect()))
    }

    fn seeds(&self, mistakes: &mut Mistakes) -> Vec<CrawlUrl> {
        let mut seeds = Vec::new();
        for word in self.seeds.split([',', ' ', '\r', '\n', '\t']).filter_map(filled) {
            match CrawlUrl::try_from(with_scheme(word)) {
                Ok(seed) => seeds.push(seed),
                Err(error) => mistakes.add(Field::Seeds, format!("`{word}`: {error}")),
            }
        }
        if seeds.is_empty() && mistakes.is_empty() {
            mistakes.add(Field::Seeds, "there is no address yet");
        }
        seeds
    }

    /// Returns the pattern of URLs whose path begins as asked.
    fn paths(&self, mistakes: &mut Mistakes) -> Option<UrlPattern> {
        let path = filled(&self.path)?;
        if !path.starts_with('/') {
            mistakes.add(Field::Path, "a path begins with `/`");
            return None;
        }
        let pattern = format!("^https?://[^/]+{}", escaped(path));
        UrlPattern::try_from(pattern).map_err(|error| mistakes.add(Field::Path, error.to_string())).ok()
    }

    /// Returns the fields as hidden ones, for the step after the preview.
    pub(super) fn hidden(&self) -> Markup {
        let fields = [
            ("seeds", self.seeds.as_str()),
            ("name", &self.name),
            ("within", self.within.name()),
            ("path", &self.path),
            ("pages", &self.pages),
            ("delay", &self.delay),
            ("cron", &self.cron),
            ("zone", &self.zone),
        ];
        html! { @for (name, value) in fields { input type="hidden" name=(name) value=(value); } }
    }
}

/// Returns a text in which no character has a meaning in a pattern.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii_punctuation() && !matches!(c, '/' | '_' | '%') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// Returns a problem with the field that it is in.
fn located(problem: &Problem) -> (Option<Field>, String) {
    let field = match problem.place.key {
        Key::Seeds => Some(Field::Seeds),
        Key::Name => Some(Field::Name),
        Key::ScopeInclude => Some(Field::Path),
        Key::BudgetPages => Some(Field::Pages),
        Key::PolitenessDelay => Some(Field::Delay),
        Key::ScheduleCron => Some(Field::Cron),
        Key::ScheduleTimeZone => Some(Field::Zone),
        _ => None,
    };
    let hint = problem.mistake.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
    (field, format!("{}{hint}", problem.mistake))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(seeds: &str) -> Fields {
        Fields { seeds: seeds.to_owned(), ..Fields::default() }
    }

    #[test]
    fn a_form_becomes_a_definition() {
        let form = Fields {
            name: "docs".to_owned(),
            within: Within::Domain,
            path: "/docs/v1.2".to_owned(),
            pages: "2,000".to_owned(),
            delay: "500ms".to_owned(),
            cron: "0 3 * * *".to_owned(),
            zone: "Europe/Berlin".to_owned(),
            ..fields("example.org/docs/v1.2/\r\nhttps://www.example.org/docs/v1.2")
        };
        let definition = form.definition().unwrap();
        let text = dragline_definition::write(&definition);
        for part in [
            "name: docs",
            "https://example.org/docs/v1.2/",
            "within: domain",
            "pages: 2000",
            "delay: 500ms",
            "Europe/Berlin",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let include = r"^https?://[^/]+/docs/v1\.2";
        assert_eq!(definition.scope.include[0].as_str(), include, "a point is a point");
        assert!(fields("example.org").definition().is_ok(), "the rest may be left out");
    }

    #[test]
    fn each_mistake_is_at_its_field() {
        let with = |change: fn(&mut Fields)| {
            let mut form = fields("example.org");
            change(&mut form);
            form.definition().unwrap_err().0
        };
        for (mistakes, field, words) in [
            (fields(" ").definition().unwrap_err().0, Field::Seeds, "no address"),
            (fields("ftp://a.example/").definition().unwrap_err().0, Field::Seeds, "ftp"),
            (with(|form| form.name = "Docs!".to_owned()), Field::Name, "Docs!"),
            (with(|form| form.path = "docs".to_owned()), Field::Path, "begins with `/`"),
            (with(|form| form.path = "/docs/".to_owned()), Field::Path, "https://example.org/"),
            (with(|form| form.pages = "many".to_owned()), Field::Pages, "many"),
            (with(|form| form.pages = "0".to_owned()), Field::Pages, "0"),
            (with(|form| form.delay = "5".to_owned()), Field::Delay, "5s"),
            (with(|form| form.cron = "daily".to_owned()), Field::Cron, "5"),
            (
                with(|form| {
                    form.cron = "0 3 * * *".to_owned();
                    form.zone = "Bonn".to_owned();
                }),
                Field::Zone,
                "Bonn",
            ),
        ] {
            assert!(
                mistakes.iter().any(|(place, said)| *place == Some(field) && said.contains(words)),
                "{field:?}: {mistakes:?}"
            );
        }
    }
}
