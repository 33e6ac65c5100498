//! Atom (RFC 4287).

use std::collections::HashMap;

use super::dates::RFC_3339;
use super::flaws::{Flaws, LineColumn, quoted};
use super::outline::{Element, OpenElement, Vocabulary, check_date, check_url};

/// The most entries whose ids are remembered.
const IDS_MAX: usize = 100_000;

/// Elements that a feed and each of its entries must have exactly once.
const REQUIRED: [&str; 3] = ["id", "title", "updated"];

/// Elements allowed at most once.
const ONCE: [&str; 10] =
    ["id", "title", "updated", "published", "subtitle", "generator", "icon", "logo", "rights", "content"];

/// Elements allowed several times, of which only the presence matters.
const COUNTED: [&str; 3] = ["author", "entry", "source"];

/// The rules of Atom.
#[derive(Debug, Default)]
pub(super) struct Atom {
    /// The id of the open entry.
    id: String,
    updated: String,
    has_alternate: bool,
    has_author_in_source: bool,
    /// The position of the first entry without an author.
    without_author: Option<LineColumn>,
    /// Entries by id and date.
    seen: HashMap<(String, String), LineColumn>,
}

/// Whether these elements are a feed, an entry, or an entry's source, whose children have the same
/// rules.
fn is_container(outer: &[OpenElement]) -> bool {
    match outer {
        [root] => matches!(root.name.as_str(), "feed" | "entry"),
        [.., parent, last] => {
            last.name == "entry" && parent.name == "feed" && outer.len() == 2
                || last.name == "source" && parent.name == "entry"
        }
        [] => false,
    }
}

fn is_entry(outer: &[OpenElement], name: &str) -> bool {
    name == "entry" && (outer.is_empty() || outer.len() == 1 && outer[0].name == "feed")
}

impl Vocabulary for Atom {
    fn start(&mut self, outer: &mut [OpenElement], element: &Element<'_>, flaws: &mut Flaws) {
        let name = element.name.local_name.as_str();
        let place = element.place;
        if is_entry(outer, name) {
            (self.has_alternate, self.has_author_in_source) = (false, false);
            self.id.clear();
            self.updated.clear();
        }
        if let Some(person) = outer.last_mut()
            && matches!(person.name.as_str(), "author" | "contributor")
            && name == "name"
        {
            person.count("name");
        }
        if !is_container(outer) {
            return;
        }
        let Some(parent) = outer.last_mut() else { return };
        if let Some(once) = ONCE.into_iter().find(|once| *once == name) {
            parent.count_once(once, place, flaws);
        } else if let Some(counted) = COUNTED.into_iter().find(|counted| *counted == name) {
            parent.count(counted);
        }
        self.has_author_in_source |= name == "author" && parent.name == "source";
        match name {
            "link" => {
                self.has_alternate |=
                    parent.name == "entry" && element.attribute("rel").is_none_or(|rel| rel == "alternate");
                if element.attribute("href").is_none() {
                    flaws.add("missing-attribute", || place, || "`link` has no `href`".to_owned());
                }
            }
            "title" | "subtitle" | "summary" | "rights" => {
                if let Some(kind) = element.attribute("type").filter(|kind| !matches!(*kind, "text" | "html" | "xhtml"))
                {
                    let message = || format!("`type` of `{name}` must be `text`, `html` or `xhtml`: {}", quoted(kind));
                    flaws.add("bad-value", || place, message);
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, outer: &mut [OpenElement], ended: &OpenElement, flaws: &mut Flaws) {
        let (place, text) = (ended.place, ended.text.as_str());
        if outer.is_empty() && ended.name == "feed" {
            ended.require(&REQUIRED, flaws);
            let without = self.without_author.or_else(|| (!ended.has("entry")).then_some(place));
            if let Some(place) = without.filter(|_| !ended.has("author")) {
                flaws.add("missing-element", || place, || "neither the entry nor the feed has an `author`".to_owned());
            }
        }
        if is_entry(outer, &ended.name) {
            ended.require(&REQUIRED, flaws);
            if !ended.has("content") && !self.has_alternate {
                let message = || "an `entry` without `content` must have a `link` to its page".to_owned();
                flaws.add("missing-element", || place, message);
            }
            if !ended.has("author") && !self.has_author_in_source {
                if outer.is_empty() {
                    flaws.add("missing-element", || place, || "`entry` has no `author`".to_owned());
                }
                self.without_author.get_or_insert(place);
            }
            let key = (std::mem::take(&mut self.id), std::mem::take(&mut self.updated));
            match self.seen.get(&key) {
                Some(LineColumn { line, column }) if !key.0.is_empty() => {
                    let message =
                        || format!("duplicate entry {} of the same date, first at {line}:{column}", quoted(&key.0));
                    flaws.add("duplicate-id", || place, message);
                }
                None if self.seen.len() < IDS_MAX => {
                    self.seen.insert(key, place);
                }
                _ => {}
            }
        }
        if matches!(ended.name.as_str(), "author" | "contributor") && is_container(outer) {
            ended.require(&["name"], flaws);
        }
        if !is_container(outer) {
            return;
        }
        let is_of_entry = outer.last().is_some_and(|parent| parent.name == "entry");
        match ended.name.as_str() {
            "id" => {
                check_url("`id`", text, place, flaws);
                if is_of_entry {
                    text.clone_into(&mut self.id);
                }
            }
            "updated" => {
                check_date("updated", text, RFC_3339, place, flaws);
                if is_of_entry {
                    text.clone_into(&mut self.updated);
                }
            }
            "published" => check_date("published", text, RFC_3339, place, flaws),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::assert_flaws;
    use super::super::xml;
    use super::*;

    #[test]
    fn feeds_are_checked() {
        const HEAD: &str = "<id>urn:x:1</id><title>T</title><updated>2026-11-23T10:00:00Z</updated>";
        const AUTHOR: &str = "<author><name>A</name></author>";
        let feed =
            |head: &str, rest: &str| format!("<feed xmlns='http://www.w3.org/2005/Atom'>\n{head}\n{rest}</feed>");
        let entry = |more: &str| format!("<entry>{HEAD}<link href='/x'/>{more}</entry>");
        for (text, expected, why) in [
            (feed(HEAD, AUTHOR), &[][..], "valid"),
            (feed(HEAD, &entry(AUTHOR)), &[], "an author of the entry is enough"),
            (feed(HEAD, &(entry("") + AUTHOR)), &[], "one of the feed is, too, wherever it stands"),
            (feed(HEAD, &entry(&format!("<source>{AUTHOR}</source>"))), &[], "or one of its source"),
            (feed(HEAD, &format!("{AUTHOR}<entry>{HEAD}<content/></entry>")), &[], "content instead of a link"),
            (feed("", AUTHOR), &["1:1 missing-element"; 3], "nothing"),
            (feed(HEAD, ""), &["1:1 missing-element"], "nobody"),
            (feed(HEAD, &entry("")), &["3:1 missing-element"], "nobody in the entry, either"),
            (feed(HEAD, &format!("{AUTHOR}<entry/>")), &["3:32 missing-element"; 4], "an empty entry"),
            (feed(HEAD, &format!("{AUTHOR}<link rel='self'/>")), &["3:32 missing-attribute"], "a link to nothing"),
            (feed(HEAD, &format!("{AUTHOR}<title/>")), &["3:32 duplicate-element"], "two titles"),
            (feed(HEAD, "<author/>"), &["3:1 missing-element"], "an author without a name"),
            (feed(HEAD, &format!("{AUTHOR}\n{}\n{}", entry(""), entry(""))), &["5:1 duplicate-id"], "the same again"),
            (
                feed("<id>x</id><title type='markdown'/><updated>2026-11-23</updated>", AUTHOR),
                &["2:1 bad-url", "2:11 bad-value", "2:35 bad-date"],
                "values",
            ),
        ] {
            let mut flaws = Flaws::default();
            xml::check(&text, &mut flaws);
            assert_flaws(flaws, expected, &format!("{text}: {why}"));
        }
    }
}
