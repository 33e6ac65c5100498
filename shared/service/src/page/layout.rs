//! The frame of every view.

use axum::response::{Html, IntoResponse, Response};
use dragline_domain::ids::CrawlId;
use jiff::Timestamp;
use maud::{DOCTYPE, Markup, html};

use super::shown::target;
use crate::access::Role;

/// The views of a crawl.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Overview,
    Pages,
    Links,
    Items,
    Log,
    Search,
    Changes,
    Definition,
}

impl Section {
    const ALL: [Self; 8] = [
        Self::Overview,
        Self::Pages,
        Self::Links,
        Self::Items,
        Self::Log,
        Self::Search,
        Self::Changes,
        Self::Definition,
    ];

    /// Returns the end of its address.
    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Overview => "",
            Self::Pages => "pages",
            Self::Links => "links",
            Self::Items => "items",
            Self::Log => "log",
            Self::Search => "search",
            Self::Changes => "diff",
            Self::Definition => "definition",
        }
    }

    /// Returns its name for people.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Pages => "Pages",
            Self::Links => "Links",
            Self::Items => "Items",
            Self::Log => "Log",
            Self::Search => "Search",
            Self::Changes => "Changes",
            Self::Definition => "Definition",
        }
    }
}

/// What a person sees: a title, and what is below it.
pub(super) struct View {
    title: String,
    role: Role,
    crawl: Option<(CrawlId, Section)>,
    reload_at: Option<Timestamp>,
    main: Markup,
}

impl View {
    /// Returns a view that belongs to no crawl.
    pub(super) fn new(role: Role, title: impl Into<String>, main: Markup) -> Self {
        Self { title: title.into(), role, crawl: None, reload_at: None, main }
    }

    /// Returns the same view as one of a crawl.
    pub(super) fn within(self, crawl: &CrawlId, section: Section) -> Self {
        Self { crawl: Some((crawl.clone(), section)), ..self }
    }

    /// Returns the same view, which is loaded again when something begins.
    pub(super) fn until(self, reload_at: Option<Timestamp>) -> Self {
        Self { reload_at, ..self }
    }

    /// Returns it as HTML.
    pub(super) fn html(&self) -> String {
        let Self { title, role, crawl, reload_at, main } = self;
        let name = crawl.as_ref().map(|(crawl, _)| format!("{crawl} – ")).unwrap_or_default();
        let markup = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    title { (title) " – " (name) "Dragline" }
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    link rel="icon" href="data:,";
                    link rel="stylesheet" href="/style.css";
                    script src="/live.js" defer {}
                }
                body data-reload-at=[reload_at.map(Timestamp::as_millisecond)] {
                    a.skip href="#main" { "Skip to the content" }
                    header.top {
                        a.brand href="/" { "Dragline" }
                        nav aria-label="All crawls" {
                            a href="/" { "Crawls" }
                            @if may_change(*role) { a href="/add" { "Add a crawl" } }
                        }
                    }
                    @if let Some((crawl, section)) = crawl { (tabs(crawl, *section)) }
                    main #main tabindex="-1" { h1 { (title) } (main) }
                    footer { p { "All times are in UTC. " a href="/openapi.json" { "The API" } } }
                }
            }
        };
        markup.into_string()
    }
}

impl IntoResponse for View {
    fn into_response(self) -> Response {
        Html(self.html()).into_response()
    }
}

/// Whether somebody sees buttons that change something.
pub(super) fn may_change(role: Role) -> bool {
    role >= Role::Editor
}

fn tabs(crawl: &CrawlId, current: Section) -> Markup {
    html! {
        nav.tabs aria-label=(format!("Views of {crawl}")) {
            a.name href=(target(crawl, "", &[])) { (crawl) }
            ul {
                @for section in Section::ALL {
                    li {
                        a href=(target(crawl, section.path(), &[])) aria-current=[(section == current).then_some("page")] {
                            (section.name())
                        }
                    }
                }
            }
        }
    }
}

/// A region that scrolls by itself, so that a wide table does not move the page.
pub(super) fn scroll(label: &str, inside: &Markup) -> Markup {
    html! { div.scroll role="region" aria-label=(label) tabindex="0" { (inside) } }
}
