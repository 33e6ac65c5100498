//! What was found, for people.

use dragline_domain::url::CrawlUrl;

use super::site::{SeenPage, Site};
use crate::terminal::{duration, safe};

/// Returns a line for each subject, with what was found about it.
pub(super) fn summary(site: &Site) -> String {
    let Site { given, url, robots, crawl_delay, sitemaps, page } = site;
    let SeenPage { unread, title, language, languages, feeds, platform, scripted, wall, items } = page;
    let mut lines = vec![("page", title.as_deref().map_or_else(|| url.to_string(), |title| format!("{url}: {title}")))];
    if given != url {
        lines.push(("redirect", format!("{given} leads there")));
    }
    let delay = crawl_delay.map(|delay| format!(", and asks for {} between requests", duration(delay)));
    lines.push(("robots.txt", format!("allows it ({robots}){}", delay.unwrap_or_default())));
    let first = sitemaps.named.first().or(sitemaps.unnamed.as_ref());
    lines.push(("sitemaps", first.map_or_else(|| "none".to_owned(), |first| format!("{}: {first}", sitemaps.size()))));
    lines.extend(sitemaps.unread.as_ref().map(|why| ("", format!("one could not be read: {why}"))));
    lines.extend(unread.as_ref().map(|why| ("content", format!("not a page, {why}"))));
    lines.extend(wall.as_ref().map(|wall| ("wall", wall.clone())));
    lines.extend(scripted.as_ref().map(|element| {
        ("JavaScript", format!("needed: next to nothing is in the page, and scripts fill its element `{element}`"))
    }));
    let platform = platform.as_ref().map(|found| format!("{}, by {}", found.platform.name, found.by));
    lines.extend(platform.map(|platform| ("platform", platform)));
    let languages: Vec<_> = language.iter().chain(languages).map(String::as_str).collect();
    let feeds: Vec<_> = feeds.iter().map(CrawlUrl::as_str).collect();
    let items: Vec<_> = items.iter().map(String::as_str).collect();
    for (subject, found) in [("languages", languages), ("feeds", feeds), ("items", items)] {
        if !found.is_empty() {
            lines.push((subject, found.join(", ")));
        }
    }
    let lines: Vec<_> = lines.iter().map(|(subject, found)| format!("{subject:<12}{}", safe(found))).collect();
    lines.join("\n")
}
