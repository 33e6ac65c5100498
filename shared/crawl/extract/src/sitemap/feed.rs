//! Feeds as sitemaps: the page of each RSS item or Atom entry.

use std::borrow::Cow;

use dragline_domain::document::LinkKind;
use quick_xml::escape::unescape;
use quick_xml::events::BytesStart;

use super::{UrlText, is_absolute};
use crate::files::xml::attribute;

/// The field of an item that is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Link,
    Guid,
}

/// The links of an item.
#[derive(Debug, Default)]
struct Item {
    link: Option<String>,
    guid: Option<String>,
}

/// The result so far.
#[derive(Debug)]
pub(super) struct Feed {
    /// The prefix of the root, which distinguishes elements of extensions.
    prefix: Option<String>,
    /// The open item. The feed's own links do not count as listed pages.
    item: Option<Item>,
    field: Option<Field>,
    /// An ignored element, and the nesting depth of its name.
    muted: Option<(String, usize)>,
    said: UrlText,
    pub(super) links: Vec<(LinkKind, String)>,
}

impl Feed {
    pub(super) fn new(prefix: Option<String>) -> Self {
        let (item, field, muted, said, links) = Default::default();
        Self { prefix, item, field, muted, said, links }
    }

    pub(super) fn start(&mut self, name: &str, prefix: Option<&str>, element: &BytesStart<'_>) {
        let is_own = prefix.is_none() || prefix == self.prefix.as_deref();
        if is_own && is_item(name) {
            self.finish();
            self.item = Some(Item::default());
            return;
        }
        let Some(item) = &mut self.item else { return };
        if let Some((muted, depth)) = &mut self.muted {
            *depth += usize::from(muted == name);
            return;
        }
        match name {
            "link" if is_own => match attribute(element, "href") {
                Some(href) if is_page(attribute(element, "rel").as_deref()) => {
                    let href = unescape(&href).map_or_else(|_| href.to_string(), Cow::into_owned);
                    item.link.get_or_insert(href);
                }
                Some(_) => {}
                None => self.field = Some(Field::Link),
            },
            "guid" if is_own => self.field = Some(Field::Guid),
            _ => self.muted = Some((name.to_owned(), 1)),
        }
    }

    pub(super) fn end(&mut self, name: &str) {
        if is_item(name) {
            self.finish();
        }
        if let Some((muted, depth)) = &mut self.muted {
            *depth -= usize::from(muted == name);
            if *depth == 0 {
                self.muted = None;
            }
            return;
        }
        if let (Some(item), Some(field)) = (&mut self.item, self.field.take()) {
            let place = match field {
                Field::Link => &mut item.link,
                Field::Guid => &mut item.guid,
            };
            *place = place.take().or_else(|| self.said.take());
        }
        self.said = UrlText::default();
    }

    pub(super) fn text(&mut self, text: &str) {
        if self.field.is_some() && self.muted.is_none() {
            self.said.push(text);
        }
    }

    /// Ends the open item: adds the page that it links to, or else the one in its id.
    fn finish(&mut self) {
        (self.field, self.muted, self.said) = (None, None, UrlText::default());
        let Some(Item { link, guid }) = self.item.take() else { return };
        let url = link.or(guid.filter(|guid| is_absolute(guid)));
        self.links.extend(url.map(|url| (LinkKind::Sitemap, url)));
    }
}

fn is_item(name: &str) -> bool {
    matches!(name, "item" | "entry")
}

/// Whether a link of this `rel` leads to the page of an entry (RFC 4287 section 4.2.7.2).
fn is_page(rel: Option<&str>) -> bool {
    rel.is_none_or(|rel| rel.trim().eq_ignore_ascii_case("alternate"))
}
