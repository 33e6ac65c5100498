//! A crawl to read: two iterations with a bit of everything, put the way the steps put it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use dragline_domain::capture::{
    CrawlType, Exchange, FileEntry, Finality, LogEntry, RecordKind, RedirectEntry, SegmentLog, Visit,
};
use dragline_domain::change::{ChangeKind, Part, VisitChange};
use dragline_domain::content::Content;
use dragline_domain::document::{
    Directives, Disposition, Document, DocumentState, Link, LinkKind, Page, PageCut, Rel, StoredBody,
};
use dragline_domain::doubt::Namers;
use dragline_domain::frontier::{
    CandidateUpdate, Claim, Claimer, DocumentStanding, LastCapture, LastDocument, LeftoverReason, LinkDecisions,
    NamersUpdate, OriginKey, PageFinding, ParsePart, ParserCounters, PartKind, RulesDigest, SegmentRow, StateChange,
    UrlHistory, VisitPlace, VisitResult, VisitTarget,
};
use dragline_domain::ids::Iteration;
use dragline_domain::outcome::Outcome;
use dragline_domain::politeness::Pace;
use dragline_domain::recrawl::Absence;
use dragline_domain::rendering::Rendering;
use dragline_domain::simhash::TextPrint;
use dragline_domain::url::Spelling;
use dragline_formats::robots::{RobotsRecord, Unreadable};
use dragline_ports::documents::Documents;
use dragline_ports::frontier::{CommitParse, Frontier, GiveUp, RobotsRow};
use jiff::Timestamp;

use super::super::samples::{at, capture, key, markup, page_requests, sighting, trigger, url, uses};
use super::super::world::{DELAY, UNLIMITED, World};

/// What was made of one URL in a segment.
pub(super) struct Made {
    entry: LogEntry,
    document: Option<Document>,
    leads_to: VisitTarget,
    capture: Option<LastCapture>,
}

/// A visit that got a page of HTML.
pub(super) fn got(n: u32, of: &str) -> Made {
    let entry = LogEntry {
        n,
        url: url(of),
        at: at(i64::from(n) + 2),
        visit: Visit {
            sighting: sighting(1),
            redirects: 0,
            crawl_type: CrawlType::Queued,
            tries: 1,
            outcome: Outcome::FileIngested,
            finality: Finality::Final,
            detail: None,
            exchange: Some(Box::new(Exchange {
                robots: dragline_domain::capture::RobotsStand::Approved,
                elapsed: Duration::from_millis(250 + u64::from(n)),
                resends: 1,
                first_byte_ms: Some(120),
                remote: Some("192.0.2.7:443".parse().expect("an address")),
                body_bytes: 300,
                decoded_sha1: Some("02".repeat(20)),
                decoded_bytes: 900,
                status: None,
                rendering: Some(Box::new(Rendering { asked: page_requests(), ..Rendering::failed("as simulated") })),
            })),
            known: UrlHistory::default(),
            demand: None,
            missing: None,
            uses: Vec::new(),
        },
        status: Some(200),
        file: Some(Box::new(FileEntry {
            record: RecordKind::Response,
            offset: 1_000 * u64::from(n),
            length: 700,
            content_type: Some("text/html".to_owned()),
            body_bytes: 300,
            payload_sha1: [1; 20],
            etag: Some("\"1\"".to_owned()),
            last_modified: None,
            truncated: None,
        })),
        redirect: None,
        unchanged_since: None,
        change: Some(VisitChange { kind: ChangeKind::New, parts: Vec::new() }),
    };
    let text = format!("what {of} says\nin two lines");
    let page = Page { title: Some(format!("Title of {of}")), text, ..Page::default() };
    let content = Content { markup: Some(Box::new(markup())), uses: uses().0, ..Content::default() };
    let content = Some(Box::new(content));
    let document = Document { page: Some(page), content, ..Document::bare(n, url(of), Outcome::FileIngested) };
    Made { entry, document: Some(document), leads_to: VisitTarget::Nowhere, capture: Some(capture("\"1\"")) }
}

impl Made {
    /// Sets its outcome; it is not a page.
    fn ended(mut self, outcome: Outcome) -> Self {
        self.entry.visit.outcome = outcome;
        self.entry.change = None;
        self.capture = None;
        let emptied = |document| Document { outcome, page: None, links: Vec::new(), content: None, ..document };
        self.document = self.document.map(emptied);
        self
    }

    /// Sets when it was asked for.
    pub(super) fn asked_at(mut self, at: Timestamp) -> Self {
        self.entry.at = at;
        self
    }

    /// Makes it an answer with the body that was fetched then, of which the document of this entry
    /// was made.
    pub(super) fn unchanged_since(mut self, since: Timestamp, place: VisitPlace) -> Self {
        self = self.ended(Outcome::FileDidNotChange);
        self.entry.unchanged_since = Some(since);
        self.entry.visit.known.document = Some(LastDocument {
            place,
            outcome: Outcome::FileIngested,
            standing: DocumentStanding::Shown,
            links: LinkDecisions { by: RulesDigest(7), depth: 1 },
        });
        self.entry.change = Some(VisitChange { kind: ChangeKind::Unchanged, parts: Vec::new() });
        self.entry.file.iter_mut().for_each(|file| file.record = RecordKind::Revisit);
        self.document = None;
        self
    }

    /// Makes it an entry without a request, by which the document is made again of this one's body.
    pub(super) fn made_again_of(mut self, earlier: &Document) -> Self {
        self.entry.visit.crawl_type = CrawlType::Reparse;
        self.entry.visit.finality = Finality::Aside;
        self.entry.unchanged_since = earlier.body.as_ref().map(|body| body.at);
        (self.entry.status, self.entry.file, self.entry.visit.exchange) = (None, None, None);
        (self.entry.change, self.capture) = (None, None);
        self.of_body(earlier)
    }

    /// Sets the body of its document: that of an earlier one.
    pub(super) fn of_body(mut self, earlier: &Document) -> Self {
        self.document = self.document.map(|document| Document { body: earlier.body.clone(), ..document });
        self
    }

    /// Adds a document of its own, which ends as the visit does.
    pub(super) fn with_document(mut self, document: Option<Document>) -> Self {
        let outcome = self.entry.visit.outcome;
        self.document = document.map(|document| Document { outcome, ..document });
        self
    }

    /// Returns its document.
    pub(super) fn document(&self) -> Option<Document> {
        self.document.clone()
    }

    /// Sets the status of the answer.
    fn status(mut self, status: u16) -> Self {
        self.entry.status = Some(status);
        self
    }

    /// Marks it as never asked for, for this reason.
    fn not_asked(mut self, detail: &str) -> Self {
        (self.entry.status, self.entry.file, self.entry.visit.exchange) = (None, None, None);
        self.entry.visit.tries = 0;
        self.detail(detail)
    }

    fn detail(mut self, detail: &str) -> Self {
        self.entry.visit.detail = Some(detail.to_owned());
        self.document = self.document.map(|document| Document { detail: Some(detail.to_owned()), ..document });
        self
    }

    /// Makes it lead to another URL by a link of this kind, such as a redirect.
    fn leads(mut self, source: LinkKind, to: &str) -> Self {
        self.entry.redirect = Some(RedirectEntry { target: url(to), is_permanent: true, source });
        self.leads_to = VisitTarget::Url(url(to));
        if let (LinkKind::Canonical, Some(Document { page: Some(page), .. })) = (source, &mut self.document) {
            page.canonical = Some(url(to));
        }
        self.link(source, to, Disposition::Follow)
    }

    pub(super) fn link(mut self, kind: LinkKind, to: &str, disposition: Disposition) -> Self {
        let anchor = (kind == LinkKind::A).then(|| format!("to {to}"));
        let link = Link { kind, target: url(to), disposition, spelling: Spelling::Whole, rel: Rel::Follow, anchor };
        self.document.iter_mut().for_each(|document| document.links.push(link.clone()));
        self
    }

    /// Sets the title of its page.
    pub(super) fn titled(mut self, title: &str) -> Self {
        if let Some(Document { page: Some(page), .. }) = &mut self.document {
            page.title = Some(title.to_owned());
        }
        self
    }

    /// Sets the text of its page.
    fn saying(mut self, text: &str) -> Self {
        if let Some(Document { page: Some(page), .. }) = &mut self.document {
            text.clone_into(&mut page.text);
        }
        self
    }

    /// Makes it a page with a canonical URL; the parser leaves open whether it is a copy.
    fn calls_canonical(self, other: &str) -> Self {
        let mut made = self.leads(LinkKind::Canonical, other);
        made.entry.visit.outcome = Outcome::NotCanonical;
        made.document = made.document.map(|document| Document { outcome: Outcome::NotCanonical, ..document });
        made.capture = made.capture.map(|capture| LastCapture { outcome: Outcome::NotCanonical, ..capture });
        made
    }
}

/// The first segment of `a.example`: a page with links of several dispositions, a URL that is tried
/// again, one that does not exist, and one that a rule blocks.
fn first_of_a() -> Vec<Made> {
    let mut home = got(0, "https://a.example/")
        .link(LinkKind::A, "https://a.example/copy", Disposition::Follow)
        .link(LinkKind::Img, "https://a.example/i.png", Disposition::NotAPage)
        .link(LinkKind::A, "https://elsewhere.example/", Disposition::OutOfScope)
        .link(LinkKind::A, "https://a.example/blocked", Disposition::Blocked("rule 1: \"blocked\"".to_owned()))
        .link(LinkKind::Iframe, "https://a.example/a", Disposition::TooDeep);
    home.entry.visit.sighting = sighting(0);
    if let Some(Document { page: Some(page), .. }) = &mut home.document {
        *page = Page {
            description: Some("about".to_owned()),
            language: Some("en".to_owned()),
            charset: Some("UTF-8".to_owned()),
            directives: Directives { noindex: false, nofollow: true },
            cut: PageCut::Links,
            ..page.clone()
        };
    }
    if let Some(file) = &mut home.entry.file {
        file.truncated = Some("length".to_owned());
    }
    let mut again = got(1, "https://a.example/a").ended(Outcome::RequestTimeout).detail("timed out: after 30 s");
    again.entry.visit.finality = Finality::Retried;
    (again.entry.status, again.entry.file, again.document) = (None, None, None);
    vec![
        home,
        again,
        got(2, "https://a.example/gone").ended(Outcome::FileNotFound).status(404),
        got(3, "https://a.example/blocked").ended(Outcome::BlockedUrlByLocalPolicy).not_asked("rule 1: \"blocked\""),
    ]
}

/// Its second segment: the page that was tried again, a copy of it, a page whose canonical URL does
/// not exist, and a redirect.
fn second_of_a() -> Vec<Made> {
    let mut again = got(0, "https://a.example/a");
    (again.entry.visit.crawl_type, again.entry.visit.tries) = (CrawlType::Retry, 2);
    vec![
        again,
        got(1, "https://a.example/copy").calls_canonical("https://a.example/a"),
        got(2, "https://a.example/original").calls_canonical("https://a.example/gone"),
        got(3, "https://a.example/moved")
            .ended(Outcome::PermanentRedirect)
            .status(301)
            .leads(LinkKind::Redirect, "https://b.example/"),
    ]
}

/// The only segment of `b.example` in the first iteration: pages, and a capture that broke the
/// parser.
fn first_of_b() -> Vec<Made> {
    let mut stuck = got(1, "https://b.example/stuck").ended(Outcome::UnknownError).detail("it broke: 'x'");
    stuck.document.iter_mut().for_each(|document| document.state = DocumentState::Stuck);
    vec![
        got(0, "https://b.example/").link(LinkKind::A, "https://a.example/", Disposition::NoFollow),
        stuck,
        got(2, "https://b.example/fails"),
        got(3, "https://b.example/leaves"),
    ]
}

/// The same origin in the second iteration: a page, unchanged, a new one, a URL that was not asked
/// for, and pages that fail and are gone. `known` is what the first knew about the page.
fn second_of_b(known: UrlHistory) -> Vec<Made> {
    let mut same = got(0, "https://b.example/").ended(Outcome::FileDidNotChange).status(304);
    same.entry.visit.crawl_type = CrawlType::Recrawl;
    same.entry.unchanged_since = Some(at(2));
    same.entry.visit.known = known;
    same.leads_to = VisitTarget::AsBefore;
    if let Some(file) = &mut same.entry.file {
        (file.record, file.content_type) = (RecordKind::Revisit, None);
    }
    let forbidden =
        got(2, "https://b.example/private").ended(Outcome::BlockedByRobotsTxt).not_asked("robots.txt line 2");
    let fails = got(3, "https://b.example/fails").ended(Outcome::ServerUnavailable).status(503);
    let mut leaves = got(4, "https://b.example/leaves").ended(Outcome::FileNotFound).status(404);
    leaves.entry.change = Some(VisitChange { kind: ChangeKind::Gone, parts: vec![Part::Status, Part::Text] });
    vec![same, got(1, "https://b.example/new"), forbidden, fails, leaves]
}

/// The only segment of `h.example`: pages that call another one canonical, which is like them,
/// unlike them, or named by many.
fn first_of_h() -> Vec<Made> {
    let text = |of: &str| (0..60).map(|n| format!("{of}{n} ")).collect::<String>();
    let mut pages = vec![
        got(0, "https://h.example/").saying(&text("home")),
        got(1, "https://h.example/same")
            .saying(&format!("{} too", text("home")))
            .calls_canonical("https://h.example/moved"),
        got(2, "https://h.example/unlike").saying(&text("other")).calls_canonical("https://h.example/moved"),
        got(3, "https://h.example/moved")
            .ended(Outcome::PermanentRedirect)
            .status(301)
            .leads(LinkKind::Redirect, "https://h.example/"),
        got(4, "https://h.example/few").saying("Welcome"),
        got(5, "https://h.example/short").saying("Hello").calls_canonical("https://h.example/few"),
        got(6, "https://h.example/many").saying("Shop"),
        got(7, "https://h.example/many/same").saying("Shop").calls_canonical("https://h.example/many"),
    ];
    pages.extend((8..38).map(|n| {
        let of = format!("https://h.example/many/{n}");
        got(n, &of).saying(&format!("Product {n}")).calls_canonical("https://h.example/many")
    }));
    pages
}

/// All documents of the story, each with its iteration.
pub(super) fn documents() -> Vec<(Iteration, Document)> {
    let first = [first_of_a(), second_of_a(), first_of_b()];
    let told = first.into_iter().map(|made| (Iteration::FIRST, made));
    let told = told.chain([(Iteration::FIRST.next(), second_of_b(UrlHistory::default()))]);
    told.flat_map(|(iteration, made)| made.into_iter().filter_map(move |made| Some((iteration, made.document?))))
        .collect()
}

/// Puts the story into a store's frontier and documents.
pub(super) struct Teller<'s, F, D> {
    pub(super) frontier: &'s F,
    pub(super) documents: &'s D,
}

impl<'s, F: Frontier, D: Documents> Teller<'s, F, D> {
    /// Puts all of it; the second iteration is still under way.
    pub(super) async fn tell(&self) -> World<'s, F> {
        let first = self.tell_first().await;
        self.close_first(&first).await;
        self.tell_second().await
    }

    /// Puts the first iteration, up to the point where nothing is left to do.
    pub(super) async fn tell_first(&self) -> World<'s, F> {
        let world = World::begin(self.frontier, UNLIMITED).await;
        let (a, b) = (key("a.example"), key("b.example"));
        world.seed(&a, &["/", "/a", "/gone"]).await;
        let found = ["/a", "/copy", "/moved", "/original"];
        self.claim(&world, &a, &["/blocked", "/copy", "/later", "/moved", "/original"]).await;
        let segment = world.crawl_until_idle(&a, 1, 0).await;
        self.put(&segment, &first_of_a()).await;
        world.parse(&segment, (0, PartKind::Last), &[(&a, &found)]).await;
        self.settle(&world, &a).await;
        let segment = world.crawl_until_idle(&a, 2, 20).await;
        self.put(&segment, &second_of_a()).await;
        world.parse(&segment, (0, PartKind::Last), &[]).await;
        world.seed(&b, &["/", "/fails", "/leaves", "/stuck"]).await;
        let segment = world.crawl_until_idle(&b, 3, 40).await;
        self.put(&segment, &first_of_b()).await;
        world.parse(&segment, (0, PartKind::Last), &[]).await;
        self.leave(&world, "c.example", LeftoverReason::Stopped, &["/1", "/2", "/3"]).await;
        self.put_robots(&key("c.example"), RobotsRecord::Readable { text: "User-agent: *\n".to_owned() }).await;
        self.leave(&world, "d.example", LeftoverReason::RobotsUnreadable, &["/"]).await;
        let detail = "host not found: d.example".to_owned();
        self.put_robots(&key("d.example"), RobotsRecord::Unreadable(Unreadable::Failed { detail })).await;
        self.lose(&world, "e.example").await;
        world
    }

    /// Closes the first iteration and its origins.
    pub(super) async fn close_first(&self, world: &World<'s, F>) {
        world.end(&[&key("a.example"), &key("b.example"), &key("e.example")]).await;
    }

    /// Begins the second iteration and puts what it has done so far.
    pub(super) async fn tell_second(&self) -> World<'s, F> {
        let world = World::begin_by(self.frontier, "u", UNLIMITED).await;
        let b = key("b.example");
        world.seed_by(&b, "u", &["/", "/fails", "/leaves", "/new", "/private"]).await;
        let claims = world.claim(&b, Claimer::trigger(&trigger("u")), &["/"]).await;
        let Some(Claim::Own { known }) = claims.into_iter().next() else { panic!("it was claimed before") };
        let segment = world.crawl_until_idle(&b, 4, 2_000).await;
        self.put(&segment, &second_of_b(known)).await;
        world.parse(&segment, (0, PartKind::Last), &[]).await;
        self.leave(&world, "c.example", LeftoverReason::BudgetExhausted, &["/1"]).await;
        world
    }

    /// Puts pages of which some are not believed about their canonical URL; returns how many.
    pub(super) async fn tell_doubted(&self, world: &World<'s, F>) -> usize {
        let (h, made) = (key("h.example"), first_of_h());
        let paths: Vec<&str> = made.iter().map(|made| made.entry.url.path_and_query()).collect();
        world.seed(&h, &paths).await;
        let segment = world.crawl_until_idle(&h, 7, 4_000).await;
        self.put(&segment, &made).await;
        world.parse(&segment, (0, PartKind::Last), &[]).await;
        made.len()
    }

    /// Puts rows that come after all others, whatever order a store has.
    pub(super) async fn tell_more(&self, world: &World<'s, F>) {
        self.tell_more_in(world, ["f.example", "g.example"]).await;
    }

    /// A row for each stream: a page of the first origin, and what the other left over.
    pub(super) async fn tell_more_in(&self, world: &World<'s, F>, hosts: [&str; 2]) {
        let crawled = key(hosts[0]);
        world.seed(&crawled, &["/"]).await;
        let segment = world.crawl_until_idle(&crawled, 5, 3_000).await;
        let home = format!("{}/", crawled.origin);
        self.put(&segment, &[got(0, &home).link(LinkKind::A, &home, Disposition::Follow)]).await;
        world.parse(&segment, (0, PartKind::Last), &[]).await;
        self.leave(world, hosts[1], LeftoverReason::Stopped, &["/"]).await;
    }

    /// Claims these URLs as links found.
    pub(super) async fn claim(&self, world: &World<'s, F>, origin: &OriginKey, paths: &[&str]) {
        world.claim(origin, Claimer::trigger(&trigger("found")), paths).await;
    }

    async fn settle(&self, world: &World<'s, F>, origin: &OriginKey) {
        let seen = world.origin(origin).await;
        self.frontier.settle(origin, &seen).await.unwrap();
    }

    /// Puts the results of a segment, as a parser does.
    pub(super) async fn put(&self, segment: &SegmentRow, made: &[Made]) {
        let documents = made.iter().filter_map(|made| {
            let document = made.document.clone()?;
            // What is unchanged was made of no body, unless it says of which.
            let of_own = || stored_body(segment, &made.entry).filter(|_| made.entry.unchanged_since.is_none());
            let body = document.body.clone().or_else(of_own);
            Some(Document { body, ..document })
        });
        let documents: Vec<Document> = documents.collect();
        self.documents.put_new(segment, &documents).await.unwrap();
        let log = SegmentLog {
            segment: segment.id.clone(),
            iteration: segment.iteration,
            object: segment.object.clone(),
            committed_at: segment.committed_at,
            agent: "agent".to_owned(),
            entries: made.iter().map(|made| made.entry.clone()).collect(),
        };
        self.frontier.put_log(&Arc::new(log)).await.unwrap();
        let ends = made.iter().filter(|made| made.entry.visit.finality == Finality::Final);
        let updates: Vec<CandidateUpdate> = ends.map(|made| update(segment, made)).collect();
        self.frontier.update_candidates(&segment.id.origin, &updates).await.unwrap();
        let mut named: BTreeMap<&str, Namers> = BTreeMap::new();
        for update in &updates {
            if let (
                StateChange::Shown { outcome: Outcome::NotCanonical, .. },
                VisitTarget::Url(canonical),
                Some(text),
            ) = (&update.state, &update.leads_to, update.text)
            {
                let by = named.entry(canonical.path_and_query()).or_default();
                *by = by.with(text);
            }
        }
        let named = named.into_iter().map(|(path, by)| NamersUpdate { path_and_query: path.to_owned(), by });
        self.frontier.add_namers(&segment.id.origin, &named.collect::<Vec<_>>()).await.unwrap();
    }

    /// Gives up an origin with these URLs.
    pub(super) async fn leave(&self, world: &World<'s, F>, host: &str, reason: LeftoverReason, paths: &[&str]) {
        let origin = key(host);
        let by = format!("left {} {}", world.iteration, paths.join(" "));
        world.seed_by(&origin, &by, paths).await;
        let (iteration, seen) = (world.iteration, world.origin(&origin).await);
        let request = GiveUp { origin, iteration, seen, reason, now: at(50) };
        self.frontier.give_up(&request).await.unwrap();
    }

    /// Crawls an origin whose captures are lost.
    async fn lose(&self, world: &World<'s, F>, host: &str) {
        let origin = key(host);
        world.seed(&origin, &["/1", "/2"]).await;
        let segment = world.crawl_until_idle(&origin, 6, 60).await;
        let commit = CommitParse {
            segment: segment.id.clone(),
            iteration: world.iteration,
            part_number: 0,
            kind: PartKind::Last,
            part: ParsePart { targets: Vec::new() },
            pace: Pace::new(DELAY),
            counters: ParserCounters { unreadable: 2, ..ParserCounters::default() },
            pages: Vec::new(),
            now: at(70),
            due: at(130),
        };
        self.frontier.commit_parse(&commit).await.unwrap();
    }

    async fn put_robots(&self, origin: &OriginKey, record: RobotsRecord) {
        let row = RobotsRow { record, fetched_at: at(1), expires_at: at(100) };
        self.frontier.put_robots(origin, &row).await.unwrap();
    }
}

/// Where the answer of a visit is stored; `None` if there was none.
fn stored_body(segment: &SegmentRow, entry: &LogEntry) -> Option<StoredBody> {
    let file = entry.file.as_ref()?;
    Some(StoredBody {
        visit: place(segment, entry.n),
        at: entry.at,
        status: entry.status?,
        content_type: file.content_type.clone(),
        body_bytes: file.body_bytes,
        object: segment.object.clone(),
        offset: file.offset,
        length: file.length,
    })
}

pub(super) fn place(segment: &SegmentRow, n: u32) -> VisitPlace {
    VisitPlace { iteration: segment.iteration, turn: segment.id.turn, segment: segment.id.n, n }
}

fn update(segment: &SegmentRow, made: &Made) -> CandidateUpdate {
    let Made { entry, document, leads_to, capture } = made;
    let outcome = entry.visit.outcome;
    let is_stuck = document.as_ref().is_some_and(|document| document.state == DocumentState::Stuck);
    let state = match outcome.page_finding() {
        _ if is_stuck => StateChange::Kept,
        PageFinding::Content => StateChange::Shown {
            place: place(segment, entry.n),
            outcome,
            links: LinkDecisions { by: RulesDigest(7), depth: entry.visit.sighting.depth },
            changed_at: Some(entry.at),
        },
        PageFinding::AsBefore => StateChange::Confirmed,
        PageFinding::Gone => StateChange::Hidden(DocumentStanding::Gone),
        PageFinding::Forbidden => StateChange::Hidden(DocumentStanding::Withdrawn),
        PageFinding::Nothing => StateChange::Kept,
    };
    CandidateUpdate {
        path_and_query: entry.url.path_and_query().to_owned(),
        iteration: segment.iteration,
        turn: segment.id.turn,
        n: segment.id.n,
        ended: Some(VisitResult {
            outcome,
            at: entry.at,
            capture: capture.clone().map(|capture| LastCapture { fetched_at: entry.at, ..capture }),
            due_at: (segment.iteration == Iteration::FIRST).then(|| at(90_000)),
            interval: (capture.is_some() || outcome.page_finding() == PageFinding::AsBefore)
                .then(|| Duration::from_millis(5)),
            away: (outcome == Outcome::FileNotFound).then_some(Absence::Gone { since: entry.at }),
            blocked_by: None,
        }),
        state,
        leads_to: leads_to.clone(),
        text: document.as_ref().and_then(|document| Some(TextPrint::new(&document.page.as_ref()?.text))),
    }
}
