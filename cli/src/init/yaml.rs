//! The definition of a site: what was seen decides which keys it has, and comments say why.

use std::fmt::Write as _;
use std::time::Duration;

use dragline_definition::scalar;
use dragline_domain::definition::{Draft, Quantity, UrlPattern, UserAgent};
use dragline_domain::shown::one_line;
use dragline_domain::url::CrawlUrl;

use super::site::{SeenPage, SeenSitemaps, Site};
use crate::terminal::{duration, plural};

/// The width of a line, in characters. Longer words have a line to themselves.
const COLUMNS_MAX: usize = 96;

/// The limit on a comment, in characters.
const COMMENT_CHARS_MAX: usize = 500;

/// A longer pattern, in bytes, is not shown.
const PATTERN_BYTES_MAX: usize = 200;

/// Patterns of URLs that a crawl seldom needs, whatever made the site.
const EXCLUDES: &[&str] = &[r"\.(zip|iso)$", "/print/"];

/// Writes the definition. Before a key that is set stands `# ` with the reason; what begins with
/// `#` and no space is a key to be set by hand.
pub(super) fn write(site: &Site, draft: &Draft) -> String {
    let mut yaml = Yaml(String::new());
    write_head(&mut yaml, site);
    write_seeds(&mut yaml, site);
    write_sitemaps(&mut yaml, &site.sitemaps);
    write_scope(&mut yaml, site);
    write_budget(&mut yaml, site, draft);
    write_politeness(&mut yaml, site.crawl_delay, draft);
    if draft.user_agent != UserAgent::default() {
        yaml.section("Say who you are. Sites choose their robots.txt rules by the name before the slash.");
        yaml.line(&format!("user_agent: {}", scalar(draft.user_agent.as_str())));
    }
    write_content(&mut yaml, &site.page);
    write_recrawl(&mut yaml, &site.page);
    yaml.0
}

fn write_head(yaml: &mut Yaml, site: &Site) {
    let SeenPage { unread, title, language, languages, platform, scripted, wall, .. } = &site.page;
    let name = title.as_deref().map(|title| format!(": {title}"));
    yaml.comment(&format!("The crawl of {}{}", site.url.host(), name.unwrap_or_default()));
    yaml.comment("A key right behind a # is not set: a default, or an example (docs/reference/definition.md).");
    if let Some(found) = platform {
        yaml.comment(&format!("The site is made with {}, by {}.", found.platform.name, found.by));
    }
    match (language, languages.join(", ")) {
        (language, others) if !others.is_empty() => {
            let own = language.as_ref().map_or_else(String::new, |own| format!(" in {own}"));
            yaml.comment(&format!("The page{own} has versions in other languages: {others}."));
        }
        (Some(language), _) => yaml.comment(&format!("The page is in {language}.")),
        (None, _) => {}
    }
    if let Some(wall) = wall {
        yaml.comment(&format!("The site answered with {wall}."));
    }
    if let Some(element) = scripted {
        yaml.comment(&format!(
            "The page needs JavaScript: next to nothing is in it, and scripts fill its element `{element}`. \
             `render: {{when: auto}}` runs them in a browser."
        ));
    }
    if let Some(why) = unread {
        yaml.comment(&format!("The first URL is not a page, {why}, so that no links can be followed from it."));
    }
}

fn write_seeds(yaml: &mut Yaml, site: &Site) {
    let redirect = (site.given != site.url).then(|| format!(" {} leads there.", site.given));
    yaml.section(&format!("Where the crawl begins.{}", redirect.unwrap_or_default()));
    yaml.line("seeds:");
    yaml.line(&format!("  - {}", scalar(site.url.as_str())));
    if let Some(unnamed) = &site.sitemaps.unnamed {
        let size = site.sitemaps.size();
        yaml.comment_at("  ", &format!("The site has {size}, which robots.txt does not name: a seed is read, too."));
        yaml.line(&format!("  - {}", scalar(unnamed.as_str())));
    }
}

fn write_sitemaps(yaml: &mut Yaml, sitemaps: &SeenSitemaps) {
    if sitemaps.named.is_empty() {
        yaml.section("Whether the sitemaps that robots.txt names are read, ignore or follow: it names none.");
        return yaml.line("#sitemaps: ignore");
    }
    let unread = sitemaps.unread.as_ref().map(|why| format!(" One could not be read: {why}."));
    let them = if sitemaps.files == 1 { "it" } else { "them" };
    yaml.section(&format!("The site has {}: follow {them}.{}", sitemaps.size(), unread.unwrap_or_default()));
    yaml.line("sitemaps: follow");
}

fn write_scope(yaml: &mut Yaml, site: &Site) {
    let elsewhere = match site.sitemaps.urls_elsewhere {
        0 => String::new(),
        urls => format!(" Of another origin than the seed: {} in the sitemaps.", plural(urls, "URL")),
    };
    yaml.section(&format!("Which URLs belong to the crawl.{elsewhere}"));
    yaml.line("#scope:");
    yaml.line("#  within: origin  # of a seed: scheme, host and port; or its host, or domain");
    // Of the seeds a sitemap is seldom in the folder, and a definition may not exclude its seeds.
    if site.sitemaps.unnamed.is_none()
        && let Some(folder) = folder_pattern(&site.url)
    {
        yaml.line(&format!("#  include: ['{folder}']"));
    }
    let (patterns, of) = match &site.page.platform {
        Some(found) => (found.platform.excludes, format!("  # actions and copies, in {}", found.platform.name)),
        None => (EXCLUDES, String::new()),
    };
    let excludes_seed =
        |pattern: &str| pattern.parse::<UrlPattern>().is_ok_and(|pattern| pattern.is_match(site.url.as_str()));
    let patterns: Vec<_> =
        patterns.iter().filter(|pattern| !excludes_seed(pattern)).map(|pattern| format!("'{pattern}'")).collect();
    if !patterns.is_empty() {
        yaml.line(&format!("#  exclude: [{}]{of}", patterns.join(", ")));
    }
    yaml.line("#  max_depth: 12  # links from a seed");
}

fn write_budget(yaml: &mut Yaml, site: &Site, draft: &Draft) {
    let urls = site.sitemaps.urls;
    let delay = site.crawl_delay.map_or(draft.politeness.delay, |asked| asked.max(draft.politeness.delay));
    let time = delay.saturating_mul(u32::try_from(urls).unwrap_or(u32::MAX));
    let estimate = (urls > 0)
        .then(|| format!(" {}, one every {}, take {}.", plural(urls, "URL"), duration(delay), duration(rounded(time))));
    yaml.section(&format!(
        "When a run stops though URLs are left: never, if not given.{}",
        estimate.unwrap_or_default()
    ));
    yaml.line("#budget:");
    yaml.line("#  pages: 10000");
    yaml.line("#  duration: 12h");
}

fn write_politeness(yaml: &mut Yaml, asked: Option<Duration>, draft: &Draft) {
    let default = draft.politeness.delay;
    match asked.filter(|asked| *asked > default) {
        Some(delay) => {
            let shown = duration(delay);
            yaml.section(&format!("robots.txt asks for {shown} between requests. A shorter delay has no effect."));
            yaml.line("politeness:");
            yaml.line(&format!("  delay: {}", scalar(&Quantity::Time(delay).to_string())));
        }
        None => {
            let why = asked.map(|asked| format!("robots.txt asks for {}. ", duration(asked)));
            yaml.section(&format!(
                "The time from one request to the next. {}A longer Crawl-delay of robots.txt goes before it.",
                why.unwrap_or_default()
            ));
            yaml.line("#politeness:");
            yaml.line(&format!("#  delay: {}", Quantity::Time(default)));
        }
    }
}

fn write_content(yaml: &mut Yaml, page: &SeenPage) {
    let items = match &page.items[..] {
        [] => String::new(),
        items => format!(" The page has {}.", items.join(", ")),
    };
    yaml.section(&format!("What is made of each page; full has its main part as Markdown.{items}"));
    yaml.line("#content: items  # text, items or full");
}

fn write_recrawl(yaml: &mut Yaml, page: &SeenPage) {
    yaml.section("When a page is fetched again: in each run; or after an interval, sooner the more it changes.");
    yaml.line("#recrawl:");
    yaml.line("#  interval: 1d");
    if let Some(feed) = page.feeds.first() {
        yaml.line("#  rules:  # a feed tells what is new");
        yaml.line(&format!("#    - when: {{ url: {{ equals: {} }} }}", quoted(feed.as_str())));
        yaml.line("#      interval: 1h");
    }
}

/// Returns a duration without its seconds, if it is longer than ten minutes.
const fn rounded(time: Duration) -> Duration {
    let seconds = time.as_secs();
    Duration::from_secs(if seconds < 600 { seconds } else { seconds - seconds % 60 })
}

/// Returns a pattern of the URLs in the folder of a URL, for single quotes; `None` for the whole
/// site.
fn folder_pattern(url: &CrawlUrl) -> Option<String> {
    let folder = &url.path()[..=url.path().rfind('/')?];
    let mut pattern = String::from("^");
    for c in url.origin_str().chars().chain(folder.chars()) {
        match c {
            '\'' => pattern.push_str("''"),
            '/' | ':' | '-' | '_' | '%' | '~' => pattern.push(c),
            c if c.is_ascii_punctuation() => pattern.extend(['\\', c]),
            c => pattern.push(c),
        }
    }
    (folder != "/" && pattern.len() <= PATTERN_BYTES_MAX).then_some(pattern)
}

/// Quotes a text within brackets, where YAML ends a plain one at a comma.
fn quoted(text: &str) -> String {
    match scalar(text) {
        quoted if quoted.starts_with('"') => quoted,
        plain => format!("\"{plain}\""),
    }
}

/// A definition that is being written.
struct Yaml(String);

impl Yaml {
    /// Adds a line.
    fn line(&mut self, text: &str) {
        self.0.extend([text, "\n"]);
    }

    /// Adds an empty line, and a comment.
    fn section(&mut self, comment: &str) {
        self.line("");
        self.comment(comment);
    }

    /// Adds a comment, wrapped.
    fn comment(&mut self, text: &str) {
        self.comment_at("", text);
    }

    /// Adds a comment behind an indentation. Characters that end a comment, or that YAML does not
    /// allow, are escaped or left out.
    fn comment_at(&mut self, indent: &str, text: &str) {
        let is_shown = |c: &char| !matches!(c, '\u{feff}' | '\u{fff0}'..='\u{ffff}');
        let line: String = one_line(text, COMMENT_CHARS_MAX).chars().filter(is_shown).collect();
        let mut columns = 0;
        for word in line.split(' ').filter(|word| !word.is_empty()) {
            let chars = word.chars().count();
            if columns > 0 && columns + 1 + chars <= COLUMNS_MAX {
                columns += 1 + chars;
                let _ = write!(self.0, " {word}");
            } else {
                let line_end = if columns > 0 { "\n" } else { "" };
                columns = indent.len() + 2 + chars;
                // Writing to a string cannot fail.
                let _ = write!(self.0, "{line_end}{indent}# {word}");
            }
        }
        self.0.push('\n');
    }
}
