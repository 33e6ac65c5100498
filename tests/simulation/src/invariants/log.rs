//! 1, 6 and 7: the log against the claims, the counts and the leftovers.

use dragline_ports::frontier::Progress;

use super::{Checked, Evidence, Invariant, Violation};

/// The final outcomes of the iteration by URL, and the candidates claimed in it.
const FINALS_AND_CLAIMS: &str = "
    WITH final AS (
        SELECT l.url, count(*) AS outcomes FROM crawl_log l JOIN origin o ON o.id = l.origin_id JOIN crawl c ON c.id = o.crawl_id
        WHERE c.name = ?1 AND l.iteration = ?2 AND l.is_final GROUP BY l.url),
    tried AS (
        SELECT DISTINCT l.url FROM crawl_log l JOIN origin o ON o.id = l.origin_id JOIN crawl c ON c.id = o.crawl_id
        WHERE c.name = ?1 AND l.iteration = ?2 AND NOT l.is_final AND l.crawl_type <> 'reparse'),
    claim AS (
        SELECT o.id AS origin_id, o.origin, o.origin || k.path_query AS url, k.claimed_by
        FROM crawl_candidate k JOIN origin o ON o.id = k.origin_id JOIN crawl c ON c.id = o.crawl_id
        WHERE c.name = ?1 AND k.queued_in = ?2)";

/// 1: every claimed URL has exactly one final outcome in the log, or is counted among its origin's
/// leftovers. Excepted are known URLs that the recrawl cursor claimed and nobody visited, where the
/// origin was then given up: they were in no todo, and stay due. A shorter way to a URL is one more
/// entry of it in the todo, and may be left over like one.
///
/// # Errors
/// The database cannot be read.
pub fn nothing_is_lost(evidence: &Evidence<'_>) -> Checked {
    let found = |rest: &str| evidence.violations(Invariant::NothingLost, &format!("{FINALS_AND_CLAIMS} {rest}"));
    let several = found("SELECT url || ' has ' || outcomes || ' final outcomes' FROM final WHERE outcomes > 1")?;
    // A visit that is to be tried again leaves no trace if its object is lost, and what was only
    // decided on again counts as lost with it.
    let most = if evidence.lost.is_empty() { "lost + ways" } else { "counted" };
    let lost = found(&format!(
        "SELECT origin || ': ' || (lost + passed_over) || ' claimed URLs have no outcome, ' || passed_over
                || ' of them for the cursor alone, ' || counted || ' are counted as left over, such as ' || ifnull(first, 'none')
         FROM (SELECT k.origin, ifnull(v.urls, 0) + ifnull(u.urls, 0) AS counted, ifnull(w.ways, 0) AS ways, min(iif(f.url IS NULL, k.url, NULL)) AS first,
                      total(f.url IS NULL AND (v.urls IS NULL OR k.claimed_by <> 'recrawl' OR t.url IS NOT NULL)) AS lost,
                      total(f.url IS NULL AND v.urls IS NOT NULL AND k.claimed_by = 'recrawl' AND t.url IS NULL) AS passed_over
               FROM claim k LEFT JOIN final f ON f.url = k.url LEFT JOIN tried t ON t.url = k.url
               LEFT JOIN (SELECT origin_id, sum(urls) AS urls FROM leftover WHERE iteration = ?2 GROUP BY origin_id) v ON v.origin_id = k.origin_id
               LEFT JOIN (SELECT origin_id, ifnull(json_extract(record, '$.counters.unreadable'), 0) AS urls FROM inbox WHERE iteration = ?2) u
                   ON u.origin_id = k.origin_id
               LEFT JOIN (SELECT origin_id, sum(json_array_length(nearer)) AS ways FROM known_url WHERE queued_in = ?2 GROUP BY origin_id) w
                   ON w.origin_id = k.origin_id
               GROUP BY k.origin_id)
         WHERE counted NOT BETWEEN lost AND {most}"
    ))?;
    let unclaimed = found(
        "SELECT url || ' has an outcome but was never claimed' FROM final WHERE url NOT IN (SELECT url FROM claim)",
    )?;
    Ok([several, lost, unclaimed].concat())
}

/// 1, where neither a stop nor a page budget ended the run: an origin that was given up left
/// nothing over, as each of its URLs got an outcome.
///
/// # Errors
/// The database cannot be read.
pub fn who_is_given_up_leaves_nothing(evidence: &Evidence<'_>) -> Checked {
    evidence.violations(
        Invariant::NothingLost,
        "SELECT o.origin || ': ' || v.urls || ' URLs without an outcome: ' || v.reason
         FROM leftover v JOIN origin o ON o.id = v.origin_id JOIN crawl c ON c.id = o.crawl_id
         WHERE c.name = ?1 AND v.iteration = ?2 AND v.urls > 0 AND v.reason IN ('robots_unreadable', 'origin_given_up')",
    )
}

/// Joins the iteration's visits with a table that refers to them, for counting.
const VISITS: &str = "FROM crawl_log l JOIN origin o ON o.id = l.origin_id JOIN crawl c ON c.id = o.crawl_id
    LEFT JOIN request r ON r.id = l.id LEFT JOIN file f ON f.id = l.id LEFT JOIN document d ON d.id = l.id
    WHERE c.name = ?1 AND l.iteration = ?2";

const SEGMENTS: &str = "FROM segment s JOIN origin o ON o.id = s.origin_id JOIN crawl c ON c.id = o.crawl_id
    WHERE c.name = ?1 AND s.iteration = ?2";

/// 6: the iteration's progress agrees with the log.
///
/// # Errors
/// The database cannot be read.
pub fn progress_equals_the_log(evidence: &Evidence<'_>, progress: &Progress) -> Checked {
    let visits = |counted: &str| evidence.number(&format!("SELECT {counted} {VISITS}"));
    let segments = |counted: &str| evidence.number(&format!("SELECT {counted} {SEGMENTS}"));
    // Those for addresses that cannot exist, and those of pages, are counted, and no visits. Where
    // a crawler died, nobody counted them.
    let since = evidence.accesses.iter().skip(evidence.accesses_before);
    let others = since.filter(|access| access.is_for_missing() || access.is_of_page()).count() as u64;
    let others = others + evidence.unsent;
    // So are the bytes of answers to pages, and of the robots.txt of other origins that they ask.
    let since = evidence.accesses.iter().skip(evidence.accesses_before);
    let to_pages = since.filter(|access| access.is_of_page() || access.is_robots_txt());
    let bytes_to_pages: u64 =
        to_pages.filter_map(|access| access.response()).map(|response| response.body.len() as u64).sum();
    let body_bytes = visits("ifnull(sum(f.body_bytes), 0)")?;
    let body_bytes = progress.crawler.body_bytes.clamp(body_bytes, body_bytes + bytes_to_pages);
    let requested = visits("count(r.id) + ifnull(sum(r.resends), 0)")?;
    let requested = progress.crawler.requests.clamp(requested, requested + others);
    // Requests are missing from the log where their object was lost, or its parses died too often.
    let asked = [
        ("requests".to_owned(), requested, progress.crawler.requests),
        (
            "retries".to_owned(),
            visits("count(*) FILTER (WHERE NOT l.is_final AND l.crawl_type <> 'reparse')")?,
            progress.crawler.retries,
        ),
        ("body bytes".to_owned(), body_bytes, progress.crawler.body_bytes),
        (
            "bodies cut".to_owned(),
            visits("count(*) FILTER (WHERE f.truncated = 'length' AND l.crawl_type <> 'reparse')")?,
            progress.crawler.bodies_cut,
        ),
    ];
    let stand_ins = visits(
        "count(*) FILTER (WHERE r.id IS NULL AND d.id IS NOT NULL AND l.crawl_type <> 'reparse' AND l.outcome NOT BETWEEN 170 AND 177)",
    )?;
    let is_lost = !evidence.lost.is_empty() || stand_ins > 0 || progress.parser.unreadable > 0;
    let (is_lost, counts_less) = (is_lost, |numbers: &(String, u64, u64)| numbers.1 < numbers.2);
    let mut numbers: Vec<_> = asked.into_iter().filter(|numbers| !(is_lost && counts_less(numbers))).collect();
    numbers.extend([
        ("reparsed".to_owned(), visits("count(*) FILTER (WHERE l.crawl_type = 'reparse')")?, progress.parser.reparsed),
        ("processed".to_owned(), visits("count(*) FILTER (WHERE d.state = 'processed')")?, progress.parser.processed),
        ("stuck".to_owned(), visits("count(*) FILTER (WHERE d.state = 'stuck')")?, progress.parser.stuck),
        ("URLs that ended".to_owned(), visits("count(*) FILTER (WHERE l.is_final)")?, progress.finished()),
        ("segments".to_owned(), segments("count(*)")?, progress.segments),
        ("parsed".to_owned(), segments("count(*) FILTER (WHERE s.state = 'processed')")?, progress.parsed),
    ]);
    for (reason, said) in &progress.leftovers {
        numbers.push((format!("left over, {}", reason.name()), left_over(evidence, Some(reason.name()))?, *said));
    }
    let all = progress.leftovers.iter().map(|(_, urls)| urls).sum();
    numbers.push(("left over".to_owned(), left_over(evidence, None)?, all));
    for (outcome, said) in &progress.parser.outcomes {
        let counted = visits(&format!("count(*) FILTER (WHERE l.is_final AND l.outcome = {})", outcome.code()))?;
        numbers.push((outcome.to_string(), counted, *said));
    }
    let wrong = numbers.into_iter().filter(|(_, counted, said)| counted != said);
    let violation = |(what, counted, said)| Violation {
        invariant: Invariant::ProgressEqualsLog,
        what: format!("{what}: the log holds {counted}, progress says {said}"),
    };
    Ok(wrong.map(violation).collect())
}

/// How many URLs are left over, for this reason or for any.
fn left_over(evidence: &Evidence<'_>, reason: Option<&str>) -> rusqlite::Result<u64> {
    let of_reason = reason.map(|reason| format!("AND v.reason = '{reason}'")).unwrap_or_default();
    evidence.number(&format!(
        "SELECT ifnull(sum(v.urls), 0) FROM (
            SELECT origin_id, iteration, reason, urls FROM leftover
            UNION ALL SELECT origin_id, iteration, 'segment_unreadable', ifnull(json_extract(record, '$.counters.unreadable'), 0) FROM inbox) v
         JOIN origin o ON o.id = v.origin_id JOIN crawl c ON c.id = o.crawl_id
         WHERE c.name = ?1 AND v.iteration = ?2 {of_reason}"
    ))
}

/// 7: the iteration is closed, with nothing queued, leased or unparsed.
///
/// # Errors
/// The database cannot be read.
pub fn is_over(evidence: &Evidence<'_>) -> Checked {
    let found = |sql: &str| evidence.violations(Invariant::Over, sql);
    let iteration = found(
        "SELECT 'the iteration is ' || i.status || ' with ' || i.open || ' origins open'
         FROM iteration i JOIN crawl c ON c.id = i.crawl_id
         WHERE c.name = ?1 AND i.number = ?2 AND (i.status <> 'closed' OR i.open <> 0 OR i.token_out)",
    )?;
    let origins = found(
        "SELECT o.origin || ' is ' || l.state || ', inbox ' || iif(b.open, 'open', 'shut') || ', ' || l.taken || ' taken of ' || b.added
                || ', ' || b.parsed || ' parsed of ' || l.segments
         FROM origin o JOIN crawl c ON c.id = o.crawl_id JOIN lease l ON l.origin_id = o.id JOIN inbox b ON b.origin_id = o.id
         WHERE c.name = ?1 AND b.iteration = ?2
               AND (l.state <> 'closed' OR b.open OR l.taken <> b.added OR l.segments <> b.parsed)",
    )?;
    let unparsed = found(&format!("SELECT s.object || ' is not parsed' {SEGMENTS} AND s.state <> 'processed'"))?;
    let todo = found(
        "SELECT o.origin || ': a chunk of ' || t.urls || ' URLs was never taken'
         FROM todo t JOIN origin o ON o.id = t.origin_id JOIN crawl c ON c.id = o.crawl_id
         WHERE c.name = ?1 AND t.iteration = ?2 AND NOT EXISTS (
            SELECT 1 FROM leftover v WHERE v.origin_id = t.origin_id AND v.iteration = ?2)",
    )?;
    Ok([iteration, origins, unparsed, todo].concat())
}
