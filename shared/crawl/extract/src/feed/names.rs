//! Element names, by namespace.

use quick_xml::name::ResolveResult;

const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";

/// The vocabulary of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Vocabulary {
    /// RSS or Atom.
    Feed,
    /// RDF, the envelope of RSS 0.9 and 1.0.
    Rdf,
    /// Dublin Core, its fifteen elements.
    DublinCore,
    /// Dublin Core, all terms.
    Terms,
    /// RSS's content module.
    Content,
    /// The podcast module of iTunes.
    Itunes,
    Xhtml,
    Other,
}

impl Vocabulary {
    /// Returns the vocabulary of a namespace, given the root's namespace: some feeds use one that
    /// nobody else knows.
    pub(super) fn from_namespace(namespace: &ResolveResult<'_>, root: Option<&str>) -> Self {
        match namespace {
            ResolveResult::Bound(namespace) => Self::from_url(namespace.0, root),
            // Atom has a namespace, RSS has none.
            ResolveResult::Unbound if root.is_none_or(|root| root == RDF || !is_atom(root)) => Self::Feed,
            ResolveResult::Unbound => Self::Other,
            // An undeclared prefix has its usual meaning.
            ResolveResult::Unknown(prefix) => match prefix.as_str() {
                "atom" | "rss" => Self::Feed,
                "rdf" => Self::Rdf,
                "dc" => Self::DublinCore,
                "dcterms" => Self::Terms,
                "content" => Self::Content,
                "itunes" => Self::Itunes,
                "xhtml" => Self::Xhtml,
                _ => Self::Other,
            },
        }
    }

    fn from_url(url: &str, root: Option<&str>) -> Self {
        match url {
            RDF => return Self::Rdf,
            _ if Some(url) == root || is_atom(url) => return Self::Feed,
            _ => {}
        }
        // As feeds write them, with and without a final `/` or `#`.
        match url.trim_end_matches(['/', '#']) {
            "http://purl.org/rss/1.0"
            | "http://my.netscape.com/rdf/simple/0.9"
            | "http://channel.netscape.com/rdf/simple/0.9"
            | "http://backend.userland.com/rss"
            | "http://backend.userland.com/rss2"
            | "http://blogs.law.harvard.edu/tech/rss" => Self::Feed,
            "http://purl.org/dc/elements/1.1" | "http://purl.org/dc/elements/1.0" => Self::DublinCore,
            "http://purl.org/dc/terms" => Self::Terms,
            "http://purl.org/rss/1.0/modules/content" => Self::Content,
            "http://www.itunes.com/dtds/podcast-1.0.dtd" | "http://www.itunes.com/DTDs/PodCast-1.0.dtd" => Self::Itunes,
            "http://www.w3.org/1999/xhtml" => Self::Xhtml,
            _ => Self::Other,
        }
    }
}

/// Whether a URL is a namespace of Atom.
fn is_atom(url: &str) -> bool {
    matches!(url, "http://www.w3.org/2005/Atom" | "http://purl.org/atom/ns#")
}

/// The fields of a feed, an entry or a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Title,
    Link,
    Id,
    Author,
    Summary,
    Content,
    Published,
    Updated,
    /// A date of unspecified meaning.
    Date,
    Category,
    Enclosure,
}

/// The rank of an element among others for the same field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// The format's own element.
    Own,
    /// An element of a module.
    Module,
    /// An element of similar meaning.
    Near,
}

/// Returns the field of an element, by its name in lower case; `None` if it is not read.
pub(super) fn field(vocabulary: Vocabulary, name: &str) -> Option<(Field, Rank)> {
    use Field::{Author, Category, Content, Date, Enclosure, Id, Link, Published, Summary, Title, Updated};
    use Rank::{Module, Near, Own};
    Some(match (vocabulary, name) {
        (Vocabulary::Feed, "title") => (Title, Own),
        (Vocabulary::DublinCore, "title") => (Title, Module),
        (Vocabulary::Feed, "link") => (Link, Own),
        (Vocabulary::Feed, "id" | "guid") => (Id, Own),
        (Vocabulary::Feed, "author") => (Author, Own),
        (Vocabulary::DublinCore, "creator" | "author") => (Author, Module),
        (Vocabulary::Feed, "managingeditor") | (Vocabulary::Itunes, "author") => (Author, Near),
        (Vocabulary::Feed, "description" | "summary" | "subtitle" | "tagline") => (Summary, Own),
        (Vocabulary::DublinCore, "description") => (Summary, Module),
        (Vocabulary::Itunes, "summary") => (Summary, Near),
        (Vocabulary::Feed, "content" | "fullitem")
        | (Vocabulary::Content, "encoded")
        | (Vocabulary::Xhtml, "body" | "div") => (Content, Own),
        (Vocabulary::Feed, "published" | "pubdate") => (Published, Own),
        (Vocabulary::Feed, "issued") | (Vocabulary::Terms, "issued") => (Published, Module),
        (Vocabulary::Feed, "created") | (Vocabulary::Terms, "created") => (Published, Near),
        (Vocabulary::Feed, "updated" | "lastbuilddate") => (Updated, Own),
        (Vocabulary::Feed | Vocabulary::Terms, "modified") => (Updated, Module),
        (Vocabulary::DublinCore, "date") => (Date, Near),
        (Vocabulary::Feed, "category") | (Vocabulary::DublinCore, "subject") => (Category, Own),
        (Vocabulary::Feed, "enclosure") => (Enclosure, Own),
        _ => return None,
    })
}
