//! The description of every key. Everything that is documented or checked about a single key comes
//! from here.

use std::time::Duration;

use super::{KeyDefault, KeyFlag, Length, Number, Slot, ValueKind};
use crate::definition::{Draft, Effect, Quantity, limits};
use crate::url::UrlRules;

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_mins(1);
const RENDER_MAX: Duration = Duration::from_mins(2);
const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);
const YEAR: Duration = Duration::from_hours(365 * 24);
const KIB: u64 = 1 << 10;
const GIB: u64 = 1 << 30;
const PIB: u64 = 1 << 50;

keys! {
    /// The crawl's name. Another name means another crawl.
    Name = "name" {
        field: name,
        kind: Name,
        default: Derived("the host of the first seed, with its port if one is written (`127.0.0.1-8080`)"),
        example: "example-docs",
        effect: WhichUrls,
    }
    /// The URLs where the crawl begins, from which its scope follows. The rules apply to seeds as
    /// well: a definition is refused if a pattern excludes a seed, or if no seed can be crawled.
    Seeds = "seeds" {
        field: seeds,
        kind: Seeds(10_000),
        default: Required,
        example: "[https://example.org/docs/]",
        effect: WhichUrls,
    }
    /// Whether the sitemaps of the seeds' sites are read.
    ///
    /// | word | what is done |
    /// |---|---|
    /// | `ignore` | nothing |
    /// | `follow` | the robots.txt of each seed's origin is visited like a seed, which also puts it into the archive; so are the sitemaps that it names, and what they list is crawled |
    /// | `only` | the same, and links of pages are not followed: only seeds and what sitemaps list is crawled |
    ///
    /// Sitemaps and what they list are links: they have to be in scope and count for the budget.
    /// What is named as a sitemap is read as one, whatever type the server names: XML, RSS, Atom or
    /// a list of URLs, also compressed. `scope.include` is about pages, so sitemaps need not match
    /// it; what they list has to, and counts like a seed for `scope.max_depth`. Where robots.txt
    /// names none, or does not exist, `/sitemap.xml` is tried once. Pages in other languages that a
    /// sitemap names (`xhtml:link`) are crawled as well; its pictures and videos are links. Of a
    /// sitemap that gives nothing, people are told why. Any other sitemap in XML that the crawl
    /// comes across is read, too, also one that is a seed.
    Sitemaps = "sitemaps" {
        field: sitemaps,
        kind: Sitemaps,
        default: Value("ignore"),
        example: "follow",
        effect: WhichUrls,
        flag: "sitemaps" "Whether the sitemaps that robots.txt names are read: ignore, follow, or only (no links of pages are followed)",
    }
    /// Whether the entries of feeds are visited: RSS, Atom and JSON Feed.
    ///
    /// | word | what is done |
    /// |---|---|
    /// | `ignore` | nothing: a feed is a file like others |
    /// | `follow` | feeds that are seeds, or that pages name (`<link rel=alternate>`), are visited, and the page of each entry is crawled |
    ///
    /// Feeds and their entries are links: they have to be in scope and count for the budget. What a
    /// page names as a feed is read as one, whatever type the server names. `scope.include` is
    /// about pages, so such a feed need not match it; its entries have to, and count like seeds for
    /// `scope.max_depth`. Of a feed in several parts (RFC 5005, `next_url` of JSON Feed) up to five
    /// more are read. [A site's news](../guide/news.md) shows how to follow a newspaper.
    Feeds = "feeds" {
        field: feeds,
        kind: Feeds,
        default: Value("ignore"),
        example: "follow",
        effect: WhichUrls,
        flag: "feeds" "Whether the entries of feeds are visited (RSS, Atom, JSON Feed): ignore or follow",
    }
    /// Whether what pages need to be shown is fetched: pictures, style sheets and what these name,
    /// scripts, fonts, sound and video; also the pictures that scripts load once they come into
    /// view (`data-src` and its like), those of previews (`og:image`) and of web app manifests, and
    /// each site's `/favicon.ico`.
    ///
    /// | word | what is done |
    /// |---|---|
    /// | `ignore` | nothing: they are recorded as links of the page |
    /// | `fetch` | they are visited and archived with their page, also from other sites |
    ///
    /// Requisites need not be in scope, and are at the depth of their page; up to five may follow
    /// one another, such as a page's style sheet, one that it imports, and a picture in that.
    /// `scope.exclude`, `do_not_crawl` and robots.txt apply to them, and each site is asked at its
    /// own pace. They have a budget of their own (`budget.requisites_per_page`); those of the last
    /// pages that `budget.pages` allows may be left to the next run. Of what a script loads, the
    /// modules are known that it imports by a URL.
    ///
    /// A page in a frame is a page like others if it is in scope. If it is not, such as another
    /// site's video, it is fetched as a part of the page, with what it needs in turn; its links are
    /// not followed, nor are frames within it.
    ///
    /// Archives that are to be replayed (`dragline archive`) need it. Where pages are known
    /// already, `dragline reparse` finds the requisites in styles within them.
    Requisites = "requisites" {
        field: requisites,
        kind: Requisites,
        default: Value("ignore"),
        example: "fetch",
        effect: WhichUrls,
        flag: "requisites" "Whether pictures, styles and scripts of pages are archived with them: ignore or fetch",
    }
    /// Whether links that lead out of the crawl are checked: to other sites, to what `scope` or
    /// `sitemaps` leaves out, and to pictures, styles and scripts that are not fetched.
    ///
    /// | word | what is done |
    /// |---|---|
    /// | `ignore` | nothing: they are recorded as links of the page |
    /// | `check` | each is asked for once, and how that ended is kept (`dragline broken`, `dragline report`) |
    ///
    /// The request is a HEAD, and a GET where that fails. Redirects are followed, up to twenty.
    /// robots.txt is obeyed, and each host is asked at its own pace; `scope.exclude` and
    /// `do_not_crawl` apply. [links.md](links.md#links-that-lead-out) says when a link is asked for
    /// again, and what is told of it.
    LinksExternal = "links.external" {
        field: links.external,
        kind: ExternalLinks,
        default: Value("ignore"),
        example: "check",
        effect: WhichUrls,
        flag: "check-external" "Ask whether what links out of the crawl lead to is there",
    }
    /// What a URL must have in common with a seed to belong to the crawl.
    ///
    /// | word | in common |
    /// |---|---|
    /// | `origin` | scheme, host and port |
    /// | `site` | host, with or without `www.`, by http or https; another port is another site |
    /// | `host` | host; any scheme and port |
    /// | `domain` | registered domain, such as `example.co.uk`; any host below it |
    ///
    /// A seed that redirects brings the origin that it leads to into the crawl: with a permanent
    /// redirect (301, 308) any origin of the same registered domain; with a temporary one (302,
    /// 303, 307) only the same host by https instead of http, with `www.` or without it, as with a
    /// seed that only refreshes. Links and later pages do not.
    ///
    /// With `site`, each URL is visited as it is linked, so a link to an address that only
    /// redirects costs one request, and one to an address that does not work is told as broken.
    /// Where a site shows the same pages under several of its names, and each page names its
    /// canonical URL, links lead on under the name of the seed, so that nothing is crawled twice.
    ScopeWithin = "scope.within" {
        field: scope.within,
        kind: Within,
        default: Value("site"),
        example: "domain",
        effect: WhichUrls,
        flag: "within" "Which sites links may lead to: that of a seed's origin, site, host or domain",
    }
    /// Which URLs to crawl: if there are any patterns, the whole URL must match at least one.
    ScopeInclude = "scope.include" {
        field: scope.include,
        kind: Patterns(100),
        default: Nothing("all URLs"),
        example: "['/docs/']",
        effect: WhichUrls,
        flag: "include" "Crawl only URLs that match; can be given several times",
    }
    /// Which URLs not to crawl: the whole URL must match none of the patterns. Takes precedence
    /// over `scope.include`. What is added while a crawl runs takes effect at once, also for URLs
    /// that wait already; the next run visits what is taken out.
    ScopeExclude = "scope.exclude" {
        field: scope.exclude,
        kind: Patterns(100),
        default: Nothing("none"),
        example: "['\\.zip$']",
        effect: WhichUrls,
        flag: "exclude" "Skip URLs that match; can be given several times",
    }
    /// The maximum number of links between a seed and a URL. 0 crawls the seeds alone.
    ScopeMaxDepth = "scope.max_depth" {
        field: scope.max_depth,
        kind: Count(0..=10_000),
        default: Nothing("no limit"),
        example: "5",
        effect: WhichUrls,
        flag: "max-depth" "Follow at most this many links from a seed; 0 crawls only the seeds",
    }
    /// URLs in scope that are never fetched. A URL for which a condition holds is logged as
    /// `blocked_url_by_local_policy` (173), with the reason of the first such rule. A rule that is
    /// added while a crawl runs takes effect at once.
    DoNotCrawl = "do_not_crawl" {
        field: do_not_crawl,
        kind: Blocks(500),
        default: Nothing("none"),
        example: "
  - when: { path: { prefix: /cgi-bin/ } }
    reason: answers cost the site a lot",
        effect: WhichUrls,
    }
    /// Which query parameters a URL may have. If there are rules, a URL with a query is fetched
    /// only if one rule whose condition holds allows all of its parameters; otherwise it is logged
    /// as blocked (173). URLs without a query are not affected.
    UrlQueryParameters = "url_query_parameters" {
        field: url_query_parameters,
        kind: QueryRules(500),
        default: Nothing("all parameters"),
        example: "
  - allow: [page]
  - when: { path: { equals: /search } }
    allow: [q, page]",
        effect: WhichUrls,
    }
    /// Query parameters that are removed from every URL before anything else looks at it. `utm_*`
    /// stands for all names that begin with `utm_`, and `sid?` for a `sid` whose value looks like a
    /// session id: 16 or more letters and digits in no order, or a UUID. A list replaces the
    /// default; `[]` strips nothing.
    StripQueryParameters = "strip_query_parameters" {
        field: strip_query_parameters,
        kind: Parameters(UrlRules::PATTERNS_MAX),
        default: Derived("session ids and the tracking parameters of the common services"),
        example: "['utm_*', ref]",
        effect: WhichUrls,
    }
    /// How often one path segment may occur in a URL; `/a/b/a` has `a` twice. A URL above any of
    /// the first three limits under `traps` is logged as blocked (173).
    TrapsSegmentRepeatsMax = "traps.segment_repeats_max" {
        field: traps.segment_repeats_max,
        kind: Count(1..=100),
        default: Value("2"),
        example: "3",
        effect: WhichUrls,
    }
    /// How many segments a path may have; `/a/b` has two.
    TrapsSegmentsMax = "traps.segments_max" {
        field: traps.segments_max,
        kind: Count(1..=1_000),
        default: Value("20"),
        example: "12",
        effect: WhichUrls,
    }
    /// How many bytes a URL may have.
    TrapsUrlBytesMax = "traps.url_bytes_max" {
        field: traps.url_bytes_max,
        kind: Count(16..=2_048),
        default: Value("2048"),
        example: "1024",
        effect: WhichUrls,
    }
    /// How many pages of one shape may lead on to more of it and show nothing new. The shape of a
    /// URL is its path with numbers and ids replaced, and the names of its parameters; URLs whose
    /// paths differ below an id only, or that have the same path with other parameters, are a
    /// group, for which twice as many pages are allowed. Pages that show news, or lead to others
    /// that do, count against it. After 24 such pages, or a third of the limit, further URLs of the
    /// shape wait behind all others; after all of it they are logged as `crawler_trap` (185).
    /// Origins with fewer than 100 URLs are not watched. [traps.md](traps.md) has the rule and its
    /// figures.
    TrapsFruitlessPagesMax = "traps.fruitless_pages_max" {
        field: traps.fruitless_pages_max,
        kind: Count(6..=10_000),
        default: Value("1000"),
        example: "100",
        effect: WhichUrls,
    }
    /// URLs to which no limit under `traps` applies: the whole URL must match one of the patterns.
    TrapsExcept = "traps.except" {
        field: traps.except,
        kind: Patterns(100),
        default: Nothing("none"),
        example: "['/calendar/2026/']",
        effect: WhichUrls,
    }
    /// Pages fetched in a run, without the pictures, styles and scripts that belong to them. Once
    /// an origin has twenty times as many URLs waiting as pages are left, and at least 5,000,
    /// further links to it are counted but not followed. A later page or run may follow them.
    ///
    /// Once it is spent, an origin at which the last pages were fetched still gets what these need
    /// to be shown, and checks of its links; other origins get nothing more.
    BudgetPages = "budget.pages" {
        field: budget.pages,
        kind: Count(1..=1_000_000_000_000),
        default: Nothing("no limit"),
        example: "100000",
        effect: WhichUrls,
        flag: "max-pages" "Stop an iteration after this many pages",
    }
    /// Pages fetched from each origin in a run. Each name of a site, with `www.` or without it, by
    /// http or https, is an origin of its own here; `budget.pages` counts them together.
    BudgetPagesPerOrigin = "budget.pages_per_origin" {
        field: budget.pages_per_origin,
        kind: Count(1..=1_000_000_000_000),
        default: Nothing("no limit"),
        example: "5000",
        effect: WhichUrls,
    }
    /// Pictures, styles, scripts and other files that are fetched with one page (`requisites:
    /// fetch`), or with one style sheet. They do not count for the budgets of pages; further ones
    /// are counted but not fetched.
    BudgetRequisitesPerPage = "budget.requisites_per_page" {
        field: budget.requisites_per_page,
        kind: Count(0..=10_000),
        default: Value("500"),
        example: "100",
        effect: WhichUrls,
    }
    /// Other origins that one page may lead to, by links and by what it loads. Links to further
    /// ones are counted but not followed, as each origin costs a robots.txt and turns of its own,
    /// even if nobody is there. Another page may lead to them.
    BudgetOriginsPerPage = "budget.origins_per_page" {
        field: budget.origins_per_page,
        kind: Count(0..=10_000),
        default: Value("500"),
        example: "50",
        effect: WhichUrls,
    }
    /// Origins that a run may open. Once it has opened as many, links to further ones are counted
    /// but not followed; seeds and known sites are visited in any case. Parses that are under way
    /// at the same time may go beyond it by what each of them finds.
    BudgetOrigins = "budget.origins" {
        field: budget.origins,
        kind: Count(1..=10_000_000),
        default: Value("100000"),
        example: "2000",
        effect: WhichUrls,
    }
    /// Bytes of bodies as received, in a run.
    BudgetBytes = "budget.bytes" {
        field: budget.bytes,
        kind: Size(1..=PIB),
        default: Nothing("no limit"),
        example: "20GiB",
        effect: WhichUrls,
    }
    /// The time from the run's beginning.
    BudgetDuration = "budget.duration" {
        field: budget.duration,
        kind: Time(SECOND..=YEAR),
        default: Nothing("no limit"),
        example: "12h",
        effect: WhichUrls,
        flag: "max-time" "Stop after this time, such as 30m or 12h",
    }
    /// The time from the start of one request to a host to the start of the next, whatever its
    /// scheme and port and whichever crawl asks. A longer `Crawl-delay` in robots.txt takes
    /// precedence.
    PolitenessDelay = "politeness.delay" {
        field: politeness.delay,
        // With more than an hour, no iteration would end.
        kind: Time(Duration::ZERO..=HOUR),
        default: Value("1s"),
        example: "2s",
        effect: HowOnly,
        flag: "delay" "Time from the start of one request to the start of the next, such as 1s or 500ms",
    }
    /// Requests to one origin at the same time.
    PolitenessConcurrency = "politeness.concurrency" {
        field: politeness.concurrency,
        kind: Count(1..=256),
        default: Value("1"),
        example: "4",
        effect: HowOnly,
        flag: "concurrency" "Maximum number of requests to one site at the same time",
    }
    /// How many hosts of one registered domain are crawled at the same time, as one server often
    /// stands behind them. `de.example.org` and `fr.example.org` belong to one, `one.github.io` and
    /// `two.github.io` do not (by the [Public Suffix List](https://publicsuffix.org/)); IP
    /// addresses have none. Hosts of all crawls count, and each crawl keeps its own limit; other
    /// hosts wait their turn.
    PolitenessHostsPerDomain = "politeness.hosts_per_domain" {
        field: politeness.hosts_per_domain,
        // Each host that is being crawled has an entry in its domain's row.
        kind: Count(1..=100),
        default: Value("4"),
        example: "2",
        effect: HowOnly,
    }
    /// How long to wait, in all, for an origin that was reached before but no longer responds: with
    /// five `failures` four waits, each eight times as long as the one before (with 15 minutes: 1.5
    /// s, 12 s, 98 s and 13 minutes). Then it is given up, and its remaining URLs fail with it.
    PolitenessPatience = "politeness.patience" {
        field: politeness.patience,
        kind: Time(SECOND..=DAY),
        default: Value("15m"),
        example: "2h",
        effect: HowOnly,
    }
    /// After how many failures in a row an origin is given up. Only what may persist counts: no
    /// connection, or no answer. Each answer makes up for one failure. Before the origin is given
    /// up, the first page that worked is requested once more, or robots.txt if none has worked yet;
    /// if it is answered, the crawl goes on.
    PolitenessFailures = "politeness.failures" {
        field: politeness.failures,
        kind: Count(1..=100),
        default: Value("5"),
        example: "20",
        effect: HowOnly,
    }
    /// How long a robots.txt is valid once it was fetched (RFC 9309, section 2.4). If the delay is
    /// longer than that, each robots.txt is still valid for the page after it.
    PolitenessRobotsMaxAge = "politeness.robots_max_age" {
        field: politeness.robots_max_age,
        kind: Time(MINUTE..=DAY),
        default: Value("30m"),
        example: "2h",
        effect: HowOnly,
    }
    /// How many bytes of bodies an origin sends in a second, on average. A body is read no faster,
    /// for up to half of `fetch.timeout`, and the next request waits until this average is kept.
    PolitenessBytesPerSecond = "politeness.bytes_per_second" {
        field: politeness.bytes_per_second,
        kind: Size(1..=PIB),
        default: Nothing("no limit"),
        example: "500KB",
        effect: HowOnly,
    }
    /// The time for name lookup, TCP and TLS. At most `fetch.timeout`.
    FetchConnectTimeout = "fetch.connect_timeout" {
        field: fetch.connect_timeout,
        kind: Time(limits::TIMEOUT),
        default: Value("10s"),
        example: "5s",
        effect: HowOnly,
    }
    /// The time from the sent request to the end of the response header. At most `fetch.timeout`.
    FetchFirstByteTimeout = "fetch.first_byte_timeout" {
        field: fetch.first_byte_timeout,
        kind: Time(limits::TIMEOUT),
        default: Value("20s"),
        example: "30s",
        effect: HowOnly,
    }
    /// The time for the whole exchange. If a body is not complete by then, what has arrived is
    /// kept, and marked as cut.
    FetchTimeout = "fetch.timeout" {
        field: fetch.timeout,
        kind: Time(limits::EXCHANGE),
        default: Value("60s"),
        example: "30s",
        effect: HowOnly,
    }
    /// How often a URL that fails is requested again in the same iteration: after no answer, an
    /// answer that breaks off, or status 408, 421, 425, 429, 502 to 504 and the like; after any
    /// other 5xx status once at most. The waits are 2 s, 8 s, 32 s and so on; after 429, 503 and
    /// the like 2 s, 4 s, 8 s. While a host refuses more than single URLs, each is requested five
    /// times again at least, unless this is 0.
    FetchRetries = "fetch.retries" {
        field: fetch.retries,
        kind: Count(0..=10),
        default: Value("2"),
        example: "4",
        effect: HowOnly,
        flag: "retries" "How often a URL that fails is requested again",
    }
    /// The size of the response header: all its fields with their names. A larger one, or one of
    /// more than 2,000 fields, is a failure.
    FetchHeaderBytesMax = "fetch.header_bytes_max" {
        field: fetch.header_bytes_max,
        kind: Size(limits::HEADER_BYTES),
        default: Value("64KiB"),
        example: "128KiB",
        effect: HowOnly,
    }
    /// The size of a body as received, if its `Content-Type` is one that is read: HTML, XML, JSON,
    /// plain text, style sheets, and whatever is named as a sitemap. A larger one is cut, and
    /// marked as such. At most `fetch.decoded_bytes_max`.
    FetchBodyBytesMax = "fetch.body_bytes_max" {
        field: fetch.body_bytes_max,
        kind: Size(limits::BODY_BYTES),
        default: Value("10MiB"),
        example: "5MiB",
        effect: HowOnly,
    }
    /// The size of any other body as received: of a picture, a video, an archive, a script, a PDF
    /// or an office file. A larger one is cut, and marked as such. While it arrives it is written
    /// to the disk, and takes no memory. Of PDFs and office files over 10 MiB no text is made.
    FetchFileBytesMax = "fetch.file_bytes_max" {
        field: fetch.file_bytes_max,
        kind: Size(limits::FILE_BYTES),
        default: Value("100MiB"),
        example: "1GiB",
        effect: HowOnly,
    }
    /// The size of a body once decompressed. A larger one is cut, and marked as such. For bodies
    /// that are not read it is at least `fetch.file_bytes_max`.
    FetchDecodedBytesMax = "fetch.decoded_bytes_max" {
        field: fetch.decoded_bytes_max,
        kind: Size(KIB..=GIB),
        default: Value("50MiB"),
        example: "100MiB",
        effect: HowOnly,
    }
    /// What the crawler calls itself. The name at the beginning, up to the first space or slash,
    /// selects the group in robots.txt, in any letter case. RFC 9309 only allows names without
    /// digits; even so, a group for `bot2` is for `bot2` and not for `bot`.
    UserAgent = "user_agent" {
        field: user_agent,
        kind: UserAgent,
        default: Derived("Dragline/VERSION and its address"),
        example: "ShelfBot/1.0 (+https://example.org/bot)",
        effect: HowOnly,
        flag: "user-agent" "What the crawler calls itself; the first word selects its group in robots.txt",
    }
    /// Who runs the crawl, and how to reach them, such as a name with an e-mail address. This and
    /// the other keys of `archive` are written into the `warcinfo` record of each WARC file (WARC
    /// 1.1, section 6.2), where whoever gets the archive finds them. They are not sent to any
    /// server; `user_agent` is.
    ArchiveOperator = "archive.operator" {
        field: archive.operator,
        kind: Line,
        default: Nothing("it is not said"),
        example: "Example Library <web-archive@example.org>",
        effect: HowOnly,
    }
    /// Who publishes the archive.
    ArchivePublisher = "archive.publisher" {
        field: archive.publisher,
        kind: Line,
        default: Nothing("it is not said"),
        example: "Example Library",
        effect: HowOnly,
    }
    /// What the archive contains, and what for.
    ArchiveDescription = "archive.description" {
        field: archive.description,
        kind: Line,
        default: Nothing("it is not said"),
        example: "Manuals of our catalogue, as they were when it changed",
        effect: HowOnly,
    }
    /// The collection that the archive is part of. That it is part of the crawl and its iteration
    /// is written in any case.
    ArchiveIsPartOf = "archive.is_part_of" {
        field: archive.is_part_of,
        kind: Line,
        default: Nothing("the crawl and its iteration alone"),
        example: "Documentation of library software",
        effect: HowOnly,
    }
    /// The machine that crawls. It is also part of the names of merged WARC files (`dragline
    /// archive --warc`). The machine is not asked for its name, as an archive may be published.
    ArchiveHostname = "archive.hostname" {
        field: archive.hostname,
        kind: Hostname,
        default: Nothing("it is not said; file names have `localhost`"),
        example: "crawler1.example.org",
        effect: HowOnly,
    }
    /// How much to extract from each page. A change applies to pages that are fetched or made
    /// again; `dragline reparse` makes all again.
    ///
    /// | word | what is made |
    /// |---|---|
    /// | `text` | title, description, text and links |
    /// | `items` | also its items: what it says in JSON-LD, microdata, RDFa and OpenGraph; of RSS, Atom and JSON Feed, the feed with its entries |
    /// | `full` | also its main part as text and as Markdown, headings, dates, author, pictures, feeds, meta elements and validity; ten times the work |
    Content = "content" {
        field: content,
        kind: Content,
        default: Value("items"),
        example: "full",
        effect: HowOnly,
        flag: "content" "How much to extract from each page: text, items or full",
    }
    /// Whether a page that calls another URL canonical is shown as a copy of it, without its text.
    /// A change applies to pages that are fetched or made again; `dragline reparse` makes all
    /// again.
    ///
    /// | word | what is done |
    /// |---|---|
    /// | `obey` | the page is a copy, if its canonical URL leads to a page that is like it ([180 `not_canonical`](outcomes.md#180-not_canonical)) |
    /// | `ignore` | nothing: every page stands for itself |
    ///
    /// In both cases the canonical URL is followed as a link: a page that is named there may be
    /// found nowhere else.
    Canonical = "canonical" {
        field: canonical,
        kind: Canonical,
        default: Value("obey"),
        example: "ignore",
        effect: HowOnly,
        flag: "canonical" "Whether pages that call another URL canonical are copies of it: obey or ignore",
    }
    /// What is done about servers that do not say by a status that a page is missing. A change
    /// applies to pages that are fetched or made again.
    ///
    /// | word | what is done |
    /// |---|---|
    /// | `ignore` | nothing: whatever comes with a good status is a page |
    /// | `detect` | once an iteration, each origin is asked for an address that cannot exist; what is answered like that is missing ([182 `soft_404`](outcomes.md#182-soft_404)) |
    ///
    /// The additional request, and those for where it leads, obey robots.txt, wait for their turn
    /// and are counted, though not as pages; the answers are in the archive. Where they say
    /// nothing, as on a site whose every page is made by scripts, nothing is recognised.
    Soft404 = "soft_404" {
        field: soft_404,
        kind: Soft404,
        default: Value("ignore"),
        example: "detect",
        effect: HowOnly,
        flag: "soft-404" "Whether pages that stand for missing ones are recognised: ignore or detect",
    }
    /// Which pages are rendered: run in a headless browser, as their scripts make what they show.
    ///
    /// | word | what is rendered |
    /// |---|---|
    /// | `never` | nothing; the summary and the report tell how many pages need it |
    /// | `auto` | pages that say next to nothing until their scripts have run, by their HTML alone; not what the server sends whole |
    /// | `always` | every page |
    ///
    /// The browser has no network: each request of a page is made by the crawl, at the pace of its
    /// host, by its robots.txt and the rules of this file, and is archived. Pictures, media, fonts
    /// and pings are not asked for. [rendering.md](../guide/rendering.md) says what you need and
    /// what you get. A page that asks for noindex is not rendered.
    ///
    /// Without a browser, a crawl with `auto` tells once what it could not show, and goes on; with
    /// `always` it does not begin. A change applies to pages that are fetched again.
    RenderWhen = "render.when" {
        field: render.when,
        kind: RenderWhen,
        default: Value("never"),
        example: "auto",
        effect: HowOnly,
        flag: "render" "Which pages are run in a browser, as their scripts make what they show: never, auto or always",
    }
    /// The pages that may be rendered, by patterns over their URLs: none else is, whatever `when`
    /// says.
    RenderPaths = "render.paths" {
        field: render.paths,
        kind: Patterns(1_000),
        default: Nothing("all"),
        example: "[/app/]",
        effect: HowOnly,
    }
    /// A CSS selector of an element that each page contains in the end: the page is read as soon as
    /// it is there, or else when its time has passed.
    RenderWaitFor = "render.wait_for" {
        field: render.wait_for,
        kind: Selector,
        default: Nothing("the page is read when its time has passed and it requests nothing more"),
        example: "'#results li'",
        effect: HowOnly,
    }
    /// How much time passes for a page until it is read. Its clock stands still while a request of
    /// it waits for its turn or its answer, and runs on at once while nothing is to be done: five
    /// seconds mostly take a fraction of a second.
    RenderPageTime = "render.page_time" {
        field: render.page_time,
        kind: Time(SECOND..=MINUTE),
        default: Value("5s"),
        example: "10s",
        effect: HowOnly,
    }
    /// The limit on the time that a rendering takes, with all waits for the page's requests. What
    /// there is by then is kept.
    RenderTimeout = "render.timeout" {
        field: render.timeout,
        kind: Time(SECOND..=RENDER_MAX),
        default: Value("30s"),
        example: "1m",
        effect: HowOnly,
    }
    /// The limit on the requests of a page while it is rendered. More are refused.
    RenderRequestsMax = "render.requests_max" {
        field: render.requests_max,
        kind: Count(0..=1_000),
        default: Value("50"),
        example: "100",
        effect: HowOnly,
    }
    /// Which hosts but its own a page may ask while it is rendered.
    ///
    /// | word | which |
    /// |---|---|
    /// | `none` | none |
    /// | `domain` | those of the same registered domain, such as `api.example.org` for `www.example.org` |
    /// | `all` | any |
    ///
    /// Each is asked at its own pace, by its own robots.txt.
    RenderOtherHosts = "render.other_hosts" {
        field: render.other_hosts,
        kind: OtherHosts,
        default: Value("domain"),
        example: "all",
        effect: HowOnly,
    }
    /// URLs to which scripts of a page may POST while it is rendered, by patterns: such as the
    /// address of a GraphQL service, where a POST only reads. Nothing but GET is sent anywhere
    /// else.
    RenderPost = "render.post" {
        field: render.post,
        kind: Patterns(1_000),
        default: Nothing("none"),
        example: "[/graphql$]",
        effect: HowOnly,
    }
    /// What is pictured of each page that is rendered, as PNG beside its document in the archive.
    ///
    /// | word | what |
    /// |---|---|
    /// | `none` | nothing |
    /// | `view` | its first screen: 1280 by 800 pixels |
    /// | `page` | all of it, 1280 pixels wide and up to 10,000 high |
    ///
    /// Its pictures are then asked for while it is rendered, which costs requests and time; fonts
    /// are not. `dragline get --screenshot` prints it. Where a rendering fails, there is none.
    RenderScreenshot = "render.screenshot" {
        field: render.screenshot,
        kind: Screenshot,
        default: Value("none"),
        example: "view",
        effect: HowOnly,
    }
    /// What the pages are for. Sites say for which purposes theirs may be used; where one reserves
    /// this purpose, its pages are not requested or not kept ([184
    /// `use_reserved`](outcomes.md#184-use_reserved)). [use.md](use.md) has what is read, and what
    /// it means.
    ///
    /// | word | what the pages are for |
    /// |---|---|
    /// | `search` | an index that leads people to them |
    /// | `ai-input` | what a model is given for an answer: retrieval, summaries, assistants |
    /// | `ai-train` | training or adapting a model |
    /// | `archive` | copies for later readers |
    ///
    /// Without a purpose nothing is refused, and what sites say is stored with their pages all the
    /// same. A change applies to pages that are fetched or made again.
    Purpose = "purpose" {
        field: purpose,
        kind: Purpose,
        default: Nothing("no purpose is claimed, and nothing is refused for it"),
        example: "search",
        effect: HowOnly,
        flag: "purpose" "What the pages are for, so that those are left out whose sites reserve it: search, ai-input, ai-train or archive",
    }
    /// What you want from pages: your own types of items. [Places and kinds](#places-and-kinds)
    /// says how they are written. A type has a name, `when` (on which pages; all if left out),
    /// `each` (if a page has several, the place of each), and `fields`. A field has a place, a
    /// `kind`, and rules: `required`, `min` and `max` of numbers and money, a `pattern` of texts.
    /// What does not fit is kept as it stands in the page, with the field and the rule.
    ///
    /// Pages that are parsed from then on have what a change asks for.
    Items = "items" {
        field: items,
        kind: ItemTypes(100),
        default: Nothing("none"),
        example: "
  - type: Product
    when: { path: { prefix: /shop/ } }
    fields:
      name: { css: h1, required: true }
      price: { any: [{ item: offers.price }, { css: .price }], kind: money, min: 0 }",
        // The same URLs are visited, whatever is taken from them.
        effect: HowOnly,
    }
    /// The main part of pages, where you know it better than what is found: CSS selectors of the
    /// elements that it is made of (`include`), of those that are no part of it (`exclude`), and of
    /// those whose text may differ without the page being another one (`ignore`): a counter of
    /// visits, the time of day. `dragline extract` shows what comes of it, and `dragline reparse`
    /// applies it to stored pages.
    Main = "main" {
        field: main,
        kind: MainRules(100),
        default: Nothing("it is found, with `content: full`"),
        example: "
  - when: { path: { prefix: /docs/ } }
    include: ['#content']
    exclude: [.edit-link]
    ignore: [.visits]",
        effect: HowOnly,
    }
    /// When a page that is known is due again. A run fetches what is due, and the seeds.
    ///
    /// | word | due again |
    /// |---|---|
    /// | `always` | in every run |
    /// | `fixed` | after `recrawl.interval` |
    /// | `adaptive` | after `recrawl.interval` at first; then the interval is multiplied by 1.4 when the page has not changed, and by 0.8 when it has |
    ///
    /// `fixed` and `adaptive` need an interval. Pages that are gone, or fail, are due less and less
    /// often by any of them.
    RecrawlPolicy = "recrawl.policy" {
        field: recrawl.policy,
        kind: RecrawlWord,
        default: Derived("`adaptive` with an interval, `always` without one"),
        example: "adaptive",
        // As for all keys of `recrawl`: which URLs an iteration visits follows from the times that
        // earlier visits stored. A change only decides on the times that are stored from now on, so
        // an iteration can continue with it.
        effect: HowOnly,
    }
    /// How long after its first fetch a page is due again.
    RecrawlInterval = "recrawl.interval" {
        field: recrawl.interval,
        kind: Time(MINUTE..=YEAR),
        default: Nothing("every run fetches everything"),
        example: "1d",
        effect: HowOnly,
    }
    /// The shortest that an adaptive interval becomes. At most `recrawl.interval`, without which it
    /// has no effect.
    RecrawlMin = "recrawl.min" {
        field: recrawl.min,
        kind: Time(MINUTE..=YEAR),
        default: Value("1h"),
        example: "6h",
        effect: HowOnly,
    }
    /// The longest that an interval becomes, and the longest wait before a page that is gone is
    /// asked for again. At least `recrawl.interval`.
    RecrawlMax = "recrawl.max" {
        field: recrawl.max,
        kind: Time(MINUTE..=YEAR),
        default: Value("90d"),
        example: "30d",
        effect: HowOnly,
    }
    /// Pages with another policy. The first rule whose `when` holds for a URL decides; what it
    /// leaves out comes from the keys above. With an interval and no `policy` anywhere, a rule is
    /// adaptive. In the example, news are due every hour, and the archive is after a month at
    /// first.
    RecrawlRules = "recrawl.rules" {
        field: recrawl.rules,
        kind: RecrawlRules(100),
        default: Nothing("none"),
        example: "
  - when: { path: { prefix: /news/ } }
    policy: fixed
    interval: 1h
  - when: { path: { prefix: /archive/ } }
    interval: 30d
    max: 90d",
        effect: HowOnly,
    }
    /// When a deployed stack, or `dragline serve`, begins an iteration. A time that comes while the
    /// last iteration is still running is skipped. Times must be at least 5 minutes apart.
    /// `dragline crawl` does not wait for them: it begins when you run it.
    ScheduleCron = "schedule.cron" {
        field: schedule,
        kind: Cron,
        default: Nothing("no iteration begins by itself"),
        example: "'0 8 * * *'",
        effect: HowOnly,
    }
    /// The time zone of `schedule.cron`. When the clocks are put forward, a time that does not
    /// exist comes as much later; when they are put back, one that occurs twice comes once.
    /// Schedules of each hour (`*`) keep the time between two iterations.
    ScheduleTimeZone = "schedule.time_zone" {
        field: schedule,
        kind: TimeZone,
        default: Value("UTC"),
        example: "Europe/Berlin",
        effect: HowOnly,
    }
    /// What is sent to sites that ask who calls, and by which network they are reached: rules by
    /// `hosts` (`a.example`, `*.a.example` for it and all below it, `a.example:8443` for a port
    /// that is not the scheme's) and, if it is not for all of their URLs, `when`. All rules that
    /// match a URL apply; where two set the same, the later one does.
    ///
    /// | key | what it sets |
    /// |---|---|
    /// | `headers` | fields of each request, by name |
    /// | `cookies` | `Cookie`: a value such as `a=1; b=2`, or a file of cookies (Netscape's format, or Playwright's `storage_state`) of which those are sent that a browser would send; or `session`: those that the site sets are sent back to it, for one iteration |
    /// | `login` | a form by which the crawl logs in before the first page: `url`, where it is sent; `page`, which has it, if that is another URL; `fields` to fill in, by name; `logged_in`, a text that only pages for members have; `logged_out`, one that only answers to strangers have |
    /// | `basic` | `Authorization: Basic`, from `name:password` |
    /// | `bearer` | `Authorization: Bearer`, from a token |
    /// | `client_certificate` | a certificate and its key in PEM, for TLS |
    /// | `accept_language` | `Accept-Language`, such as `de, en;q=0.5` |
    /// | `referer` | `none` (the default), `origin` or `page`: what is said of the page with the link |
    /// | `proxy` | the proxy that makes the connections: `http://`, `https://`, `socks5://` or `socks5h://` with host and port; with `proxy_login`, from `name:password` |
    ///
    /// Values are named, never written: `env:NAME`, or `file:PATH`, a file that its owner alone can
    /// read; on a stack `secret:NAME`, a secret of AWS Secrets Manager, and nothing else. They are
    /// sent to these hosts and to no other, whatever redirects or links to them, over plain HTTP
    /// only with `allow_plain: true`, and written nowhere: the archive says `[redacted]`, also for
    /// the cookies that the site sets in answer. Sessions are in memory alone. A form is only ever
    /// sent to the `url` of `login`, and links that log out are not followed.
    Access = "access" {
        field: access,
        kind: AccessRules(50),
        default: Nothing("requests say who asks by `user_agent` alone"),
        example: "
  - hosts: [members.example.org]
    headers: {X-Api-Key: env:API_KEY}
    cookies: file:cookies.txt
  - hosts: ['*.staging.example.org']
    basic: env:STAGING_LOGIN
    accept_language: de
  - hosts: [shop.example.org]
    login:
      url: https://shop.example.org/login
      fields: {user: env:SHOP_USER, password: env:SHOP_PASSWORD}
      logged_in: Log out",
        effect: HowOnly,
    }
    /// Who is told what happens. Each rule has a `webhook` (a URL, and `secret`, which names where
    /// the secret is that signs requests: `env:NAME` or `file:PATH`) or an `email`. `events` lists
    /// the occasions: `started`, `finished`, `changed` (finished, and something has changed),
    /// `stuck`, `drifted`, `given_up`, `skipped`, `warning`, `disk_low`; without it, all but
    /// `started`. `progress` is how often progress is told: `10%` of the known URLs, or `30m`.
    /// `items` tells of items that come to pass a test, of a type (`item_type`) or of any.
    ///
    /// `dragline crawl` and `dragline serve` do (docs/reference/notices.md); a stack sends its
    /// notices to its SNS topic instead.
    Notify = "notify" {
        field: notify,
        kind: NotifyRules(20),
        default: Nothing("nobody"),
        example: "
  - webhook: https://example.org/hooks
    secret: env:HOOK_SECRET
    events: [finished, stuck]
  - email: ada@example.org
    items: price < 100
    item_type: Product",
        effect: HowOnly,
    }
    /// The PostgreSQL database in which results are kept up to date: where its address is, as it
    /// has a password (docs/reference/sink.md). `dragline crawl` writes there at the end, and
    /// `dragline serve` while it crawls, too; a stack does not, but `dragline export --to` does.
    SinkPostgres = "sink.postgres" {
        field: sink.postgres,
        kind: Reference,
        default: Nothing("none"),
        example: "env:DATABASE_URL",
        effect: HowOnly,
    }
    /// The directory to which each iteration that is over is written as Parquet files, by crawl and
    /// iteration (docs/reference/sink.md). It is in the data directory unless its path is absolute,
    /// which `dragline serve` refuses.
    SinkParquet = "sink.parquet" {
        field: sink.parquet,
        kind: Line,
        default: Nothing("none"),
        example: "parquet",
        effect: HowOnly,
    }
    /// The private key by which each request is signed, so that sites may know the crawler by more
    /// than its name: `dragline identity new` makes one. See docs/guide/identity.md. It is a way to
    /// be known, never to hide.
    IdentityKey = "identity.key" {
        field: identity.key,
        kind: Reference,
        default: Nothing("requests are not signed"),
        example: "file:identity.pem",
        effect: HowOnly,
    }
    /// The host where sites find the public key, by HTTPS, in
    /// `/.well-known/http-message-signatures-directory`. Each signed request names it.
    IdentityDirectory = "identity.directory" {
        field: identity.directory,
        kind: Line,
        default: Nothing("none is named: sites must have been told of the key"),
        example: "https://bot.example.org",
        effect: HowOnly,
    }
    /// The user to whom the crawl belongs, for people with crawls in common.
    User = "user" {
        field: user,
        kind: Line,
        default: Nothing("nobody in particular"),
        example: "ada",
        effect: HowOnly,
    }
}
