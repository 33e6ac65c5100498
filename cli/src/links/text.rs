//! Answers of the link graph as text. Everything from pages is escaped.

use dragline_domain::outcome::Outcome;
use dragline_graph::{
    Broken, Chain, Counts, Direction, Duplicate, Malformed, MissingFragment, Node, Orphan, SiteLink, Step, Unchecked,
};

use crate::terminal::{Colour, Shade, count, plural, safe};

/// The longest anchor text, in characters.
const ANCHOR_CHARS_MAX: usize = 60;

/// The width of the column of link kinds.
const KIND_WIDTH: usize = 9;

/// Formats a number of pages.
pub(super) fn pages(number: u64) -> String {
    plural(number, "page")
}

/// Formats a number of URLs.
pub(super) fn urls(number: u64) -> String {
    plural(number, "URL")
}

/// Describes a URL.
pub(super) fn node(node: &Node, colour: Colour) -> String {
    let mut facts = vec![match (&node.outcome_name, node.status) {
        (Some(outcome), Some(status)) => format!("{} ({outcome}, status {status})", node.state),
        (Some(outcome), None) => format!("{} ({outcome})", node.state),
        (None, _) => node.state.clone(),
    }];
    if let Some(depth) = node.depth {
        facts.push(format!("{} from the start", plural(u64::from(depth), "click")));
    }
    if let Some(rank) = node.rank {
        facts.push(format!("rank {rank:.2}"));
    }
    if node.lands_on != node.url {
        facts.push(format!("leads to {}", safe(&node.lands_on)));
    }
    let title = node.title.as_ref().map_or_else(String::new, |title| format!("  {}\n", safe(title)));
    format!("{}\n{title}  {}\n", colour.paint(Shade::Head, &safe(&node.url)), facts.join(", "))
}

/// Describes a link, as seen from the requested URL.
pub(super) fn link(link: &SiteLink, colour: Colour) -> String {
    let other = match link.direction {
        Direction::In => &link.from_url,
        Direction::Out => &link.to_url,
    };
    let mut notes: Vec<String> = Vec::new();
    notes.extend(link.anchor.as_deref().map(quoted));
    notes.extend(link.fragment.as_deref().map(|fragment| format!("#{}", safe(fragment))));
    notes.extend(link.part.as_ref().map(|part| format!("in {part}")));
    notes.extend(link.rel.as_deref().map(|rel| format!("rel {}", quoted(rel))));
    notes.extend(link.alt.as_deref().filter(|alt| Some(*alt) != link.anchor.as_deref()).map(|alt| match alt {
        "" => "a picture with an empty alt".to_owned(),
        alt => format!("a picture {}", quoted(alt)),
    }));
    if link.direction == Direction::Out {
        notes.extend(link.lands_on.as_ref().map(|lands_on| format!("redirects to {}", safe(lands_on))));
        if link.is_broken {
            let outcome = link.outcome_name.as_deref().filter(|_| link.lands_on.is_none()).unwrap_or("broken");
            notes.push(colour.paint(Shade::Removed, outcome));
        }
    }
    if link.disposition != "follow" {
        notes.push(link.disposition.clone());
    }
    let notes = if notes.is_empty() { String::new() } else { format!("  {}", notes.join(", ")) };
    format!("  {:<KIND_WIDTH$}  {}{notes}\n", link.kind, safe(other))
}

/// Quotes an anchor text.
fn quoted(anchor: &str) -> String {
    let short: String = anchor.chars().take(ANCHOR_CHARS_MAX).collect();
    let dots = if short.len() < anchor.len() { "..." } else { "" };
    format!("\"{}{dots}\"", safe(&short))
}

/// Describes a broken URL and the pages that link to it.
pub(super) fn broken(broken: &Broken, colour: Colour) -> String {
    let outcome = broken.outcome_name.as_deref().unwrap_or("broken");
    let status = broken.status.map_or_else(String::new, |status| format!(", status {status}"));
    // The detail of an answer with a status rarely says more than the status.
    let detail = broken.detail.as_deref().filter(|_| broken.status.is_none());
    let detail = detail.map_or_else(String::new, |detail| format!(": {}", safe(detail)));
    let mut text = format!("{}  {outcome}{status}{detail}\n", colour.paint(Shade::Removed, &safe(&broken.url)),);
    for holder in &broken.holders {
        let anchor = holder.anchor.as_deref().map_or_else(String::new, |anchor| format!("  {}", quoted(anchor)));
        let by = if holder.to_url == broken.url { String::new() } else { format!("  by {}", safe(&holder.to_url)) };
        text += &format!("  {:<KIND_WIDTH$}  {}{anchor}{by}\n", holder.kind, safe(&holder.from_url));
    }
    let shown = u64::try_from(broken.holders.len()).unwrap_or(u64::MAX);
    if broken.linked_from > shown {
        text += &format!("  {:KIND_WIDTH$}  ... {} in all\n", "", pages(broken.linked_from));
    }
    text
}

/// Describes a malformed reference.
pub(super) fn malformed(link: &Malformed, colour: Colour) -> String {
    let written = colour.paint(Shade::Removed, &safe(&link.written));
    let anchor = link.anchor.as_deref().map_or_else(String::new, |anchor| format!("  {}", quoted(anchor)));
    format!("{written}  {}\n  {:<KIND_WIDTH$}  {}{anchor}\n", link.explanation, link.kind, safe(&link.from_url))
}

/// Describes a link whose fragment names nothing. The first of a target also names that.
pub(super) fn missing_fragment(link: &MissingFragment, is_first: bool, colour: Colour) -> String {
    let head = if is_first { format!("{}\n", colour.paint(Shade::Removed, &safe(&link.url))) } else { String::new() };
    let anchor = link.anchor.as_deref().map_or_else(String::new, |anchor| format!("  {}", quoted(anchor)));
    format!("{head}  {:<KIND_WIDTH$}  {}{anchor}\n", link.kind, safe(&link.from_url))
}

/// Returns the total of broken links.
pub(super) fn broken_total(counts: &Counts, unchecked: &Unchecked) -> String {
    match counts.broken {
        0 if unchecked.may_change() => format!("no broken links so far among {}\n", count(counts.links)),
        0 => format!("no broken links among {}\n", count(counts.links)),
        broken => format!(
            "\n{} {} broken, by {} of {}\n",
            urls(broken),
            if broken == 1 { "is" } else { "are" },
            plural(counts.broken_links, "link"),
            count(counts.links)
        ),
    }
}

/// Describes a chain, one step per line.
pub(super) fn chain(chain: &Chain, colour: Colour) -> String {
    let ends = match chain.ends.as_str() {
        "loops" => colour.paint(Shade::Removed, "a loop"),
        "too_long" => colour.paint(Shade::Removed, "longer than browsers follow"),
        _ => plural(u64::from(chain.hops), "redirect"),
    };
    let first = chain.steps.first().and_then(|step| match step.outcome_name.as_deref()? {
        name if name == Outcome::PermanentRedirect.name() => Some(", the first one permanent"),
        name if name == Outcome::TemporaryRedirect.name() => Some(", the first one temporary"),
        _ => None,
    });
    let first = first.unwrap_or_default();
    let mut text = format!(
        "{}  {ends}{first}, linked from {}\n",
        colour.paint(Shade::Head, &safe(&chain.url)),
        pages(chain.linked_from)
    );
    for step in chain.steps.iter().skip(1) {
        let status = step.status.map_or_else(String::new, |status| format!("  {status}"));
        text += &format!("  -> {}{status} {}\n", safe(&step.url), step_words(step));
    }
    text
}

/// Describes the end of a step: its state, and of a redirect also whether it is permanent.
fn step_words(step: &Step) -> String {
    let outcome = step.outcome_name.as_deref();
    let redirect = [Outcome::PermanentRedirect, Outcome::TemporaryRedirect].map(Outcome::name);
    outcome.filter(|name| redirect.contains(name)).map_or_else(|| step.state.clone(), |name| name.replace('_', " "))
}

/// Describes a page without links to it.
pub(super) fn orphan(orphan: &Orphan) -> String {
    let title = orphan.title.as_ref().map_or_else(String::new, |title| format!("  {}", safe(title)));
    let listed = if orphan.in_sitemap { "  (in a sitemap)" } else { "" };
    format!("{}{title}{listed}\n", safe(&orphan.url))
}

/// Describes a duplicate. The first of a group also names the original.
pub(super) fn duplicate(duplicate: &Duplicate, is_first: bool, colour: Colour) -> String {
    let what = match duplicate.of_what.as_str() {
        "body" => "the same body",
        "text" => "the same text",
        _ => "nearly the same text",
    };
    let head = if is_first {
        format!("{}  {what} as\n", colour.paint(Shade::Head, &safe(&duplicate.same_as)))
    } else {
        String::new()
    };
    let distance = match duplicate.distance {
        0 => String::new(),
        bits => format!("  {}", plural(u64::from(bits), "bit")),
    };
    let canonical =
        duplicate.canonical.as_ref().map_or_else(String::new, |canonical| format!("  canonical: {}", safe(canonical)));
    format!("{head}  {}{distance}{canonical}\n", safe(&duplicate.url))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_says_where_it_is_and_what_it_asks_for() {
        let some = |text: &str| Some(text.to_owned());
        let plain = SiteLink {
            direction: Direction::In,
            from_url: "https://example.org/".to_owned(),
            to_url: "https://example.org/a".to_owned(),
            anchor: some("words"),
            kind: "a".to_owned(),
            disposition: "follow".to_owned(),
            state: "page".to_owned(),
            outcome_name: None,
            lands_on: None,
            is_broken: false,
            fragment: None,
            part: None,
            rel: None,
            alt: None,
        };
        let told = SiteLink {
            fragment: some("notes\u{1b}"),
            part: some("nav"),
            rel: some("nofollow ugc"),
            alt: some(""),
            ..plain.clone()
        };
        let picture = SiteLink { alt: some("words"), ..plain.clone() };
        let all = [plain, told, picture].map(|one| link(&one, Colour::Off)).concat();
        insta::assert_snapshot!(all, @r#"
        a          https://example.org/  "words"
        a          https://example.org/  "words", #notes\u{1b}, in nav, rel "nofollow ugc", a picture with an empty alt
        a          https://example.org/  "words"
        "#);
    }

    #[test]
    fn links_that_are_wrong_by_themselves_are_described() {
        let (from_url, anchor, kind) = ("https://example.org/".to_owned(), Some("words".to_owned()), "a".to_owned());
        let wrong = Malformed {
            from_url: from_url.clone(),
            written: "htp://x/\u{1b}".to_owned(),
            why: "scheme_mistyped".to_owned(),
            explanation: "the scheme looks like a mistyped one".to_owned(),
            anchor: anchor.clone(),
            kind: kind.clone(),
        };
        let missing = MissingFragment {
            url: "https://example.org/a#b".to_owned(),
            from_url,
            to_url: "https://example.org/a".to_owned(),
            anchor,
            kind,
        };
        let other = MissingFragment { anchor: None, ..missing.clone() };
        let all = [
            malformed(&wrong, Colour::Off),
            missing_fragment(&missing, true, Colour::Off),
            missing_fragment(&other, false, Colour::Off),
        ];
        insta::assert_snapshot!(all.concat(), @r#"
        htp://x/\u{1b}  the scheme looks like a mistyped one
          a          https://example.org/  "words"
        https://example.org/a#b
          a          https://example.org/  "words"
          a          https://example.org/
        "#);
    }

    #[test]
    fn a_chain_says_which_redirects_are_permanent() {
        let step = |path: &str, status, state: &str, outcome: Outcome| Step {
            url: format!("https://example.org/{path}"),
            status: Some(status),
            state: state.to_owned(),
            outcome_name: Some(outcome.name().to_owned()),
        };
        let steps = vec![
            step("a", 301, "redirect", Outcome::PermanentRedirect),
            step("b", 307, "redirect", Outcome::TemporaryRedirect),
            step("c", 308, "redirect", Outcome::PermanentRedirect),
            step("d", 200, "copy", Outcome::NotCanonical),
            step("e", 200, "page", Outcome::FileIngested),
        ];
        let url = steps[0].url.clone();
        let found = Chain { url, hops: 4, ends: "lands".to_owned(), linked_from: 1, steps };
        insta::assert_snapshot!(chain(&found, Colour::Off), @"
        https://example.org/a  4 redirects, the first one permanent, linked from 1 page
          -> https://example.org/b  307 temporary redirect
          -> https://example.org/c  308 permanent redirect
          -> https://example.org/d  200 copy
          -> https://example.org/e  200 page
        ");
    }
}
