//! Findings: problems that an owner may want to fix. Each kind is an entry of one table, with its
//! query to the link graph.

use super::shape::{Column, Shade, Unit};

/// The length above which search engines cut titles, in characters.
const TITLE_CHARS_MAX: u32 = 70;

/// The length above which search engines cut descriptions, in characters.
const DESCRIPTION_CHARS_MAX: u32 = 160;

/// The minimum number of words of a page with real content.
const WORDS_MIN: u32 = 50;

/// A kind of finding.
#[derive(Debug)]
pub struct Kind {
    /// Its name for programs.
    pub id: &'static str,
    pub(crate) group: &'static str,
    pub(crate) title: &'static str,
    pub(crate) about: &'static str,
    pub(crate) severity: Shade,
    /// The plural of the counted things.
    pub(crate) of: &'static str,
    pub(crate) columns: &'static [Column],
    /// One expression for each column; `urls` are JSON arrays.
    pub(crate) select: &'static str,
    /// The rows, each counted once. `?1` to `?3` are the limits of titles, descriptions and words.
    pub(crate) from: &'static str,
    pub(crate) order: &'static str,
}

/// The values of `?1`, `?2` and `?3` in [`Kind::from`].
pub(crate) const LIMITS: [u32; 3] = [TITLE_CHARS_MAX, DESCRIPTION_CHARS_MAX, WORDS_MIN];

const fn column(id: &'static str, title: &'static str, unit: Unit) -> Column {
    Column { id, title, unit }
}

const URL: Column = column("url", "URL", Unit::Url);
const TITLE: Column = column("title", "Title", Unit::Text);
const LINKED_FROM: Column = column("linked_from", "Pages that link to it", Unit::Count);
const STATUS: Column = column("status", "Status", Unit::Number);
const OUTCOME: Column = column("outcome_name", "Outcome", Unit::Text);
const DETAIL: Column = column("detail", "Detail", Unit::Text);
const PAGES: Column = column("pages", "Pages", Unit::Count);
const EXAMPLES: Column = column("urls", "The first of them", Unit::Urls);

/// All kinds, in the order in which they are shown.
pub const KINDS: &[Kind] = &[
    Kind {
        id: "broken",
        group: "links",
        title: "Broken links",
        about: "These URLs are linked to and give whoever follows the link nothing: they are missing, fail, or redirect to what does. Correct the links, or bring the pages back.",
        severity: Shade::Error,
        of: "URLs",
        columns: &[URL, STATUS, OUTCOME, DETAIL, LINKED_FROM, column("holders", "Linked from", Unit::Urls)],
        select: "n.url, n.status, n.outcome_name, n.detail, n.linked_from,
                 (SELECT json_group_array(url) FROM (SELECT DISTINCT f.url FROM broken_target x CROSS JOIN edge e ON e.to_id = x.id JOIN node f ON f.id = e.from_id
                  JOIN kind k ON k.id = e.kind WHERE x.broken_id = n.id AND k.name NOT IN ('redirect', 'canonical') ORDER BY f.rank DESC, f.url LIMIT 5))",
        from: "node n WHERE n.is_broken AND (n.linked_from > 0 OR n.in_sitemap)",
        order: "n.linked_from DESC, n.url",
    },
    Kind {
        id: "failed",
        group: "links",
        title: "Failed URLs",
        about: "The server was out of reach, answered with an error, or broke off. If it happens again, look into the server's log.",
        severity: Shade::Error,
        of: "URLs",
        columns: &[URL, STATUS, OUTCOME, DETAIL, LINKED_FROM],
        select: "n.url, n.status, n.outcome_name, n.detail, n.linked_from",
        from: "node n WHERE n.state = 'failed'",
        order: "n.linked_from DESC, n.url",
    },
    Kind {
        id: "chains",
        group: "links",
        title: "Redirect chains",
        about: "These redirects lead to other redirects, in circles, or to what is broken. Each step costs visitors time: let the first one lead to the end.",
        severity: Shade::Warning,
        of: "redirects",
        columns: &[
            URL,
            STATUS,
            OUTCOME,
            column("hops", "Redirects", Unit::Count),
            column("ends", "It", Unit::Text),
            column("lands_on", "Leads to", Unit::Url),
            LINKED_FROM,
        ],
        select: "n.url, n.status, n.outcome_name, n.hops, n.chain, l.url, n.linked_from",
        from: "node n JOIN node l ON l.id = n.lands_on WHERE n.redirects_to IS NOT NULL AND (n.hops > 1 OR n.chain <> 'lands')",
        order: "n.chain = 'lands', n.hops DESC, n.linked_from DESC, n.url",
    },
    Kind {
        id: "redirected",
        group: "links",
        title: "Links to redirects",
        about: "Pages link to these URLs, which lead elsewhere. Link to the new place.",
        severity: Shade::Notice,
        of: "URLs",
        columns: &[URL, STATUS, OUTCOME, column("lands_on", "Leads to", Unit::Url), LINKED_FROM],
        select: "n.url, n.status, n.outcome_name, l.url, n.linked_from",
        from: "node n JOIN node l ON l.id = n.lands_on WHERE n.redirects_to IS NOT NULL AND n.chain = 'lands' AND n.linked_from > 0",
        order: "n.linked_from DESC, n.url",
    },
    Kind {
        id: "orphans",
        group: "links",
        title: "Orphans",
        about: "No other page links to these pages, so visitors do not find them. Link to them, or take them away.",
        severity: Shade::Warning,
        of: "pages",
        columns: &[URL, TITLE, column("last_at", "Last visited", Unit::Time)],
        select: "n.url, n.title, n.last_at",
        from: "orphan n",
        order: "n.url",
    },
    Kind {
        id: "dead_ends",
        group: "links",
        title: "Dead ends",
        about: "These pages link to no page. Visitors can only go back.",
        severity: Shade::Notice,
        of: "pages",
        columns: &[URL, TITLE],
        select: "n.url, n.title",
        from: "dead_end n",
        order: "n.url",
    },
    Kind {
        id: "mixed",
        group: "content",
        title: "Mixed content",
        about: "These pages are served over HTTPS and load parts over plain HTTP, which browsers block or warn of. Load them over HTTPS.",
        severity: Shade::Error,
        of: "pages",
        columns: &[URL, column("parts", "Parts", Unit::Count), column("urls", "The first of them", Unit::Urls)],
        select: "n.url, (SELECT count(*) FROM insecure_part p WHERE p.from_id = n.id),
                 (SELECT json_group_array(url) FROM (SELECT DISTINCT p.url FROM insecure_part p WHERE p.from_id = n.id ORDER BY p.url LIMIT 5))",
        from: "node n WHERE n.id IN (SELECT from_id FROM insecure_part)",
        order: "n.url",
    },
    Kind {
        id: "titles_missing",
        group: "content",
        title: "Pages without a title",
        about: "Search engines and browsers show the title of a page. Give each page a `<title>`.",
        severity: Shade::Warning,
        of: "pages",
        columns: &[URL, LINKED_FROM],
        select: "n.url, n.linked_from",
        from: "document n WHERE n.title IS NULL OR trim(n.title) = ''",
        order: "n.linked_from DESC, n.url",
    },
    Kind {
        id: "titles_same",
        group: "content",
        title: "Duplicate titles",
        about: "Nobody can tell these pages apart by their titles. Say in each what the page is about.",
        severity: Shade::Warning,
        of: "titles",
        columns: &[TITLE, PAGES, EXAMPLES],
        select: "n.title, n.pages, (SELECT json_group_array(url) FROM (SELECT d.url FROM document d WHERE d.title = n.title ORDER BY d.url LIMIT 5))",
        from: "(SELECT title, count(*) AS pages FROM document WHERE trim(title) <> '' GROUP BY title HAVING count(*) > 1) n",
        order: "n.pages DESC, n.title",
    },
    Kind {
        id: "titles_long",
        group: "content",
        title: "Long titles",
        about: "Search engines cut titles of more than some 70 characters. Say the most important first, and leave out the rest.",
        severity: Shade::Notice,
        of: "pages",
        columns: &[URL, TITLE, column("chars", "Characters", Unit::Count)],
        select: "n.url, n.title, length(n.title)",
        from: "document n WHERE length(n.title) > ?1",
        order: "length(n.title) DESC, n.url",
    },
    Kind {
        id: "descriptions_missing",
        group: "content",
        title: "Pages without a description",
        about: "Search engines show the description of a page below its title. Without one, they choose some of the text.",
        severity: Shade::Notice,
        of: "pages",
        columns: &[URL, TITLE],
        select: "n.url, n.title",
        from: "document n WHERE n.description IS NULL OR trim(n.description) = ''",
        order: "n.linked_from DESC, n.url",
    },
    Kind {
        id: "descriptions_same",
        group: "content",
        title: "Duplicate descriptions",
        about: "A description that many pages share says nothing about any of them.",
        severity: Shade::Notice,
        of: "descriptions",
        columns: &[column("description", "Description", Unit::Text), PAGES, EXAMPLES],
        select: "n.description, n.pages,
                 (SELECT json_group_array(url) FROM (SELECT d.url FROM document d WHERE d.description = n.description ORDER BY d.url LIMIT 5))",
        from: "(SELECT description, count(*) AS pages FROM document WHERE trim(description) <> '' GROUP BY description HAVING count(*) > 1) n",
        order: "n.pages DESC, n.description",
    },
    Kind {
        id: "descriptions_long",
        group: "content",
        title: "Long descriptions",
        about: "Search engines cut descriptions of more than some 160 characters.",
        severity: Shade::Notice,
        of: "pages",
        columns: &[URL, column("description", "Description", Unit::Text), column("chars", "Characters", Unit::Count)],
        select: "n.url, n.description, length(n.description)",
        from: "document n WHERE length(n.description) > ?2",
        order: "length(n.description) DESC, n.url",
    },
    Kind {
        id: "duplicates",
        group: "content",
        title: "Duplicates",
        about: "These URLs have the same contents. Keep one, and redirect the others to it or let them name it as canonical.",
        severity: Shade::Warning,
        of: "groups",
        columns: &[
            column("same_as", "The first of them", Unit::Url),
            column("of_what", "The same", Unit::Text),
            column("copies", "Copies", Unit::Count),
            column("canonicals", "Pages called canonical", Unit::Urls),
            column("urls", "Copies", Unit::Urls),
        ],
        select: "n.same_as, n.of_what, n.copies,
                 (SELECT json_group_array(canonical) FROM (SELECT DISTINCT d.canonical FROM alike d
                  WHERE d.of_what = n.of_what AND d.same_as = n.same_as AND d.canonical IS NOT NULL ORDER BY 1 LIMIT 5)),
                 (SELECT json_group_array(url) FROM (SELECT d.url FROM alike d WHERE d.of_what = n.of_what AND d.same_as = n.same_as AND d.url <> n.same_as ORDER BY 1 LIMIT 5))",
        from: "(SELECT of_what, same_as, count(*) - 1 AS copies FROM alike GROUP BY of_what, same_as) n",
        order: "n.copies DESC, n.same_as, n.of_what",
    },
    Kind {
        id: "near_duplicates",
        group: "content",
        title: "Near-duplicate pages",
        about: "The texts of these pages differ in a few words. Put them together if they are about the same.",
        severity: Shade::Notice,
        of: "pages",
        columns: &[URL, column("same_as", "Like", Unit::Url), column("distance", "Bits of 64 that differ", Unit::Count)],
        select: "n.url, l.url, x.distance",
        from: "near x JOIN node n ON n.id = x.id JOIN node l ON l.id = x.like_id",
        order: "x.distance, l.url, n.url",
    },
    Kind {
        id: "thin",
        group: "content",
        title: "Thin pages",
        about: "These pages have fewer than 50 words. Say more, or put several together.",
        severity: Shade::Notice,
        of: "pages",
        columns: &[URL, TITLE, column("words", "Words", Unit::Count)],
        select: "n.url, n.title, n.words",
        from: "document n WHERE n.words < ?3",
        order: "n.words, n.url",
    },
    Kind {
        id: "language_missing",
        group: "content",
        title: "Pages without a language",
        about: "Screen readers and translators need to know the language: `<html lang=\"en\">`.",
        severity: Shade::Notice,
        of: "pages",
        columns: &[URL, TITLE],
        select: "n.url, n.title",
        from: "document n WHERE n.language IS NULL",
        order: "n.linked_from DESC, n.url",
    },
    Kind {
        id: "robots",
        group: "indexing",
        title: "Forbidden by robots.txt",
        about: "Pages link to these URLs, and robots.txt forbids crawlers to request them. Check that nothing is among them that should be found.",
        severity: Shade::Notice,
        of: "URLs",
        columns: &[URL, column("rule", "Rule", Unit::Text), LINKED_FROM],
        select: "n.url, n.detail, n.linked_from",
        from: "node n WHERE n.outcome_name = 'blocked_by_robots_txt'",
        order: "n.linked_from DESC, n.url",
    },
    Kind {
        id: "noindex",
        group: "indexing",
        title: "Pages marked noindex",
        about: "These pages say `noindex`, so search engines leave them out. Check that they should.",
        severity: Shade::Notice,
        of: "pages",
        columns: &[URL, LINKED_FROM],
        select: "n.url, n.linked_from",
        from: "node n WHERE n.outcome_name = 'blocked_at_request_of_remote' AND n.status BETWEEN 200 AND 299",
        order: "n.linked_from DESC, n.url",
    },
    Kind {
        id: "refused",
        group: "indexing",
        title: "Refused by the server",
        about: "The server asks for a log-in or a consent, or lets no crawler in. Check that nothing is among them that should be found.",
        severity: Shade::Notice,
        of: "URLs",
        columns: &[URL, STATUS, OUTCOME, DETAIL, LINKED_FROM],
        select: "n.url, n.status, n.outcome_name, n.detail, n.linked_from",
        from: "node n WHERE n.outcome_name IN ('blocked_by_challenge', 'blocked_by_login', 'blocked_by_consent') OR (n.outcome_name = 'blocked_at_request_of_remote' AND n.status NOT BETWEEN 200 AND 299)",
        order: "n.linked_from DESC, n.url",
    },
    Kind {
        id: "canonical_broken",
        group: "indexing",
        title: "Broken canonical URLs",
        about: "These pages name a canonical URL that is missing or fails, so search engines may drop both. Name one that exists.",
        severity: Shade::Error,
        of: "pages",
        columns: &[URL, column("canonical", "Canonical", Unit::Url), OUTCOME],
        select: "n.url, n.canonical, c.outcome_name",
        from: "node n JOIN node c ON c.url = n.canonical WHERE n.canonical IS NOT NULL AND n.state IN ('page', 'copy') AND c.is_broken",
        order: "n.url",
    },
];
