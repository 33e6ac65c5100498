//! The iteration: an attribute for each part, as many origins change its counts concurrently.

use aws_sdk_dynamodb::types::AttributeValue;
use dragline_domain::frontier::{Cursors, IterationRow, IterationStatus, OriginCursor, Reserve, Task, Walk};
use dragline_domain::ids::{CrawlId, TriggerId};
use jiff::Timestamp;

use super::{RUNNING, agenda, fields, iteration_number, keys, row};
use crate::dynamo::{Expression, Fields, IndexWrites, Item, Role, Write, flag, instant, json, number, text};
use crate::errors::StoreError;
use crate::tables::{AGENDA, AGENDA_AT, DUE, PARTITION};

const NUMBER: &str = "number";
const STATUS: &str = "status";
const ORIGINS: &str = "origins";
const TASK: &str = "task";
const PRUNED_AT: &str = "pruned_at";
/// The mark of iterations whose counts are kept; missing on those begun by an earlier version.
const COUNTED: &str = "counted";

/// The stored form of a finished cursor. Before, it is the last finished origin, and absent if
/// there is none.
const DONE: &str = "done";

/// Returns the attribute of a cursor.
const fn cursor_name(walk: Walk) -> &'static str {
    match walk {
        Walk::Seeds => "seeds_cursor",
        Walk::Known => "known_cursor",
        Walk::Holders => "holders_cursor",
        Walk::Leftovers => "leftovers_cursor",
    }
}

fn cursor(cursor: &OriginCursor) -> Option<AttributeValue> {
    match cursor {
        OriginCursor::NotBegun => None,
        OriginCursor::After(origin) => Some(text(origin.as_str())),
        OriginCursor::Done => Some(text(DONE)),
    }
}

fn read_cursor(fields: Fields<'_>, name: &str) -> Result<OriginCursor, StoreError> {
    match fields.text(name)? {
        DONE => Ok(OriginCursor::Done),
        _ => fields.parsed(name).map(OriginCursor::After),
    }
}

fn read_cursors(fields: Fields<'_>) -> Result<Cursors, StoreError> {
    Walk::ALL.into_iter().try_fold(Cursors::default(), |cursors, walk| {
        let cursor = fields.maybe(cursor_name(walk), read_cursor)?;
        Ok(cursors.with(walk, cursor.unwrap_or_default()))
    })
}

fn item(iteration: &IterationRow) -> Item {
    let mut attributes = vec![
        (NUMBER, number(iteration.number.number())),
        (STATUS, text(iteration.status.name())),
        ("open", number(iteration.open)),
        (ORIGINS, number(iteration.origins)),
        ("token_out", flag(iteration.token_out)),
        ("trigger", text(&iteration.trigger.0)),
        ("started_at", instant(iteration.started_at)),
    ];
    if iteration.status != IterationStatus::Closed {
        attributes.extend(agenda(RUNNING, iteration.started_at));
    }
    if iteration.task != Task::Crawl {
        attributes.push((TASK, json(&iteration.task).expect("a task has only texts and lists")));
    }
    let version = iteration.version.map(u64::from);
    let numbers = [
        ("pages_left", iteration.budget.pages),
        ("bytes_left", iteration.budget.bytes),
        ("version", version),
        ("joined_before", iteration.joined_before),
    ];
    let instants = [
        (DUE, iteration.due),
        ("ends_at", iteration.ends_at),
        ("closed_at", iteration.closed_at),
        (PRUNED_AT, iteration.pruned_at),
    ];
    attributes.extend(numbers.into_iter().filter_map(|(name, left)| Some((name, number(left?)))));
    attributes.extend(instants.into_iter().filter_map(|(name, at)| Some((name, instant(at?)))));
    let cursors = Walk::ALL.into_iter().map(|walk| (cursor_name(walk), cursor(iteration.cursors.get(walk))));
    attributes.extend(cursors.filter_map(|(name, cursor)| Some((name, cursor?))));
    row(&keys::iteration(&iteration.crawl, iteration.number), attributes)
}

pub(crate) fn read(item: &Item) -> Result<IterationRow, StoreError> {
    let fields = fields(item)?;
    let status = IterationStatus::from_name(fields.text(STATUS)?);
    let crawl: Option<CrawlId> = fields.text(PARTITION)?.parse().ok();
    let damaged = |what: &str| StoreError::Damaged(format!("an iteration has an unknown {what}"));
    Ok(IterationRow {
        crawl: crawl.ok_or_else(|| damaged("crawl"))?,
        number: iteration_number(fields, NUMBER)?,
        version: fields.maybe_number("version")?,
        status: status.ok_or_else(|| damaged("status"))?,
        open: fields.number("open")?,
        origins: fields.maybe_number(ORIGINS)?.unwrap_or(0),
        joined_before: fields.maybe_number("joined_before")?,
        budget: Reserve { pages: fields.maybe_number("pages_left")?, bytes: fields.maybe_number("bytes_left")? },
        token_out: fields.flag("token_out")?,
        due: fields.maybe_instant(DUE)?,
        trigger: TriggerId(fields.text("trigger")?.to_owned()),
        started_at: fields.instant("started_at")?,
        ends_at: fields.maybe_instant("ends_at")?,
        closed_at: fields.maybe_instant("closed_at")?,
        pruned_at: fields.maybe_instant(PRUNED_AT)?,
        cursors: read_cursors(fields)?,
        task: fields.maybe(TASK, Fields::json)?.unwrap_or_default(),
    })
}

/// Puts a new iteration, unless another trigger was faster.
pub(crate) fn begin(iteration: &IterationRow) -> Write {
    let key = keys::iteration(&iteration.crawl, iteration.number);
    let mut item = item(iteration);
    item.insert(COUNTED.to_owned(), flag(true));
    Write::put(Role::Iteration, &key, item).if_absent().indexed(IndexWrites::One)
}

/// Whether its counts were kept since it began. Otherwise its rows have to be summed.
pub(crate) fn is_counted(item: &Item) -> bool {
    item.contains_key(COUNTED)
}

/// Counts opened origins; zero is final.
pub(crate) fn open(before: &IterationRow, after: &IterationRow) -> Write {
    let condition = Expression::new("#open > :zero AND #status <> :closed");
    update(before, after, condition.with(":zero", number(0)).with(":closed", text(IterationStatus::Closed.name())))
}

/// Subtracts an origin from the count of open ones, and returns its reservation. `None` if that
/// changes nothing.
pub(crate) fn released(before: &IterationRow, after: &IterationRow) -> Option<Write> {
    let condition = || Expression::new("#open > :zero").with(":zero", number(0));
    (before != after).then(|| update(before, after, condition()))
}

/// Reserves part of the budget, if it is still there; at least checks that the iteration grants
/// leases.
pub(crate) fn reserve(before: &IterationRow, after: &IterationRow) -> Write {
    let mut condition = Expression::new("#status = :is_open").with(":is_open", text(IterationStatus::Open.name()));
    for (name, less) in [
        ("pages_left", less(before.budget.pages, after.budget.pages)),
        ("bytes_left", less(before.budget.bytes, after.budget.bytes)),
    ] {
        if less > 0 {
            let enough = format!("#{name} >= :least_{name}");
            condition = condition.and(Expression::new(enough).with(&format!(":least_{name}"), number(less)));
        }
    }
    if before == after {
        return Write::check(Role::Iteration, &key(before), &item(before), condition);
    }
    update(before, after, condition)
}

/// Returns the scheduler's token, once.
pub(crate) fn return_token(before: &IterationRow, after: &IterationRow) -> Write {
    update(before, after, Expression::new("#token_out = :out").with(":out", flag(true)))
}

/// Records that it was pruned, unless that is recorded.
pub(crate) fn prune(row: &IterationRow, now: Timestamp) -> Write {
    let after = IterationRow { pruned_at: Some(now), ..row.clone() };
    let update = Expression::new("SET #pruned_at = :pruned_at").with(":pruned_at", instant(now));
    let condition = Expression::new("attribute_exists(#status) AND attribute_not_exists(#pruned_at)");
    Write::update(Role::Iteration, &key(row), update, &item(&after)).when(condition)
}

/// Moves a cursor, if it is still where it was read.
pub(crate) fn move_cursor(before: &IterationRow, after: &IterationRow, walk: Walk) -> Write {
    update(before, after, is_still_there(before, walk))
}

fn is_still_there(before: &IterationRow, walk: Walk) -> Expression {
    let name = cursor_name(walk);
    match cursor(before.cursors.get(walk)) {
        Some(was) => Expression::new(format!("#{name} = :was")).with(":was", was),
        None => Expression::new(format!("attribute_not_exists(#{name})")),
    }
}

/// Changes the status, if the current one still holds; for `Closed` it also checks the count of
/// open origins.
pub(crate) fn change_status(before: &IterationRow, after: &IterationRow) -> Write {
    let was = Expression::new("#status = :was_status").with(":was_status", text(before.status.name()));
    let condition = match after.status {
        IterationStatus::Closed => was.and(Expression::new("#open = :zero").with(":zero", number(0))),
        IterationStatus::Open | IterationStatus::Paused | IterationStatus::Stopping => was,
    };
    update(before, after, condition)
}

fn key(iteration: &IterationRow) -> crate::dynamo::Key {
    keys::iteration(&iteration.crawl, iteration.number)
}

fn is_reserved(before: &IterationRow, after: &IterationRow) -> bool {
    less(before.budget.pages, after.budget.pages) > 0 || less(before.budget.bytes, after.budget.bytes) > 0
}

fn less(before: Option<u64>, after: Option<u64>) -> u64 {
    before.unwrap_or(0).saturating_sub(after.unwrap_or(0))
}

fn update(before: &IterationRow, after: &IterationRow, condition: Expression) -> Write {
    let index = if closes(before, after) { IndexWrites::One } else { IndexWrites::None };
    Write::update(Role::Iteration, &key(before), change(before, after), &item(after)).when(condition).indexed(index)
}

fn closes(before: &IterationRow, after: &IterationRow) -> bool {
    before.status != after.status && after.status == IterationStatus::Closed
}

/// Returns the update from one row to the other. Numbers change by their difference, so that
/// concurrent changes stay.
fn change(before: &IterationRow, after: &IterationRow) -> Expression {
    let mut sets = Vec::new();
    let mut values: Vec<(&str, AttributeValue)> = Vec::new();
    let moves = [
        ("open", Some(before.open), Some(after.open)),
        ("pages_left", before.budget.pages, after.budget.pages),
        ("bytes_left", before.budget.bytes, after.budget.bytes),
    ];
    let placeholders = [":open_more", ":pages_more", ":bytes_more"];
    for ((name, before, after), placeholder) in moves.into_iter().zip(placeholders) {
        let (Some(before), Some(after)) = (before, after) else { continue };
        if before != after {
            sets.push(format!("#{name} = #{name} + {placeholder}"));
            values.push((placeholder, number(i128::from(after) - i128::from(before))));
        }
    }
    if before.origins != after.origins {
        sets.push(format!("#{ORIGINS} = if_not_exists(#{ORIGINS}, :none) + :origins_more"));
        values.push((":none", number(0)));
        values.push((":origins_more", number(i128::from(after.origins) - i128::from(before.origins))));
    }
    if before.status != after.status {
        sets.push("#status = :status".to_owned());
        values.push((":status", text(after.status.name())));
    }
    if before.token_out != after.token_out {
        sets.push("#token_out = :token_out".to_owned());
        values.push((":token_out", flag(after.token_out)));
    }
    if let (None, Some(closed_at)) = (before.closed_at, after.closed_at) {
        sets.push("#closed_at = :closed_at".to_owned());
        values.push((":closed_at", instant(closed_at)));
    }
    let mut removed = Vec::new();
    for walk in Walk::ALL {
        let name = cursor_name(walk);
        // The search may have begun since the row was read: a reservation ends it in any case.
        let is_ended = walk == Walk::Holders && is_reserved(before, after);
        match (before.cursors.get(walk) != after.cursors.get(walk), cursor(after.cursors.get(walk))) {
            (true, Some(to)) => {
                sets.push(format!("#{name} = :cursor"));
                values.push((":cursor", to));
            }
            (true, None) => removed.push(format!("#{name}")),
            (false, _) if is_ended => removed.push(format!("#{name}")),
            (false, _) => {}
        }
    }
    if before.due.is_some() && after.due.is_none() {
        removed.push("#due".to_owned());
    }
    if closes(before, after) {
        removed.extend([AGENDA, AGENDA_AT].map(|name| format!("#{name}")));
    }
    let part = |verb, parts: Vec<String>| (!parts.is_empty()).then(|| format!("{verb} {}", parts.join(", ")));
    let parts = [part("SET", sets), part("REMOVE", removed)];
    let text = parts.into_iter().flatten().collect::<Vec<_>>().join(" ");
    values.into_iter().fold(Expression::new(text), |update, (name, value)| update.with(name, value))
}

#[cfg(test)]
mod tests {
    use dragline_domain::ids::Iteration;
    use jiff::Timestamp;

    use super::*;

    fn iteration() -> IterationRow {
        let at = Timestamp::from_second(1_795_000_000).unwrap();
        let budget = Reserve { pages: Some(10), bytes: None };
        let crawl = "docs".parse().unwrap();
        IterationRow::begin(crawl, Iteration::FIRST, TriggerId("t".into()), budget, at, None, at)
    }

    #[test]
    fn an_iteration_is_read_back() {
        let begun = iteration();
        let returned = begun.return_token().unwrap();
        let closed = returned.close(begun.started_at).unwrap();
        let pinned = IterationRow { version: Some(7), joined_before: Some(9), origins: 12, ..begun.clone() };
        let origin: dragline_domain::url::Origin = "https://a.example".parse().unwrap();
        let cursors = Cursors::default().with(Walk::Seeds, OriginCursor::Done);
        let begun_with =
            IterationRow { cursors: cursors.with(Walk::Leftovers, OriginCursor::After(origin)), ..begun.clone() };
        for iteration in [begun, returned, closed, pinned, begun_with] {
            assert_eq!(read(&item(&iteration)).unwrap(), iteration);
        }
    }

    #[test]
    fn numbers_move_by_their_difference() {
        let before = iteration();
        let more = before.one_origin_more().unwrap();
        let (_, reserved) = before.reserve(Reserve { pages: Some(4), bytes: Some(9) }).unwrap();
        for (after, expected, why) in [
            (&more, "SET #open = #open + :open_more", "an origin opens again"),
            (
                &before.one_new_origin_more().unwrap(),
                "SET #open = #open + :open_more, #origins = if_not_exists(#origins, :none) + :origins_more",
                "a new one opens, also in a row of an earlier version",
            ),
            (
                &reserved,
                "SET #pages_left = #pages_left + :pages_more REMOVE #holders_cursor",
                "pages are set aside; bytes are unlimited; whoever searched for holders found none before",
            ),
            (
                &before.return_token().unwrap(),
                "SET #open = #open + :open_more, #token_out = :token_out REMOVE #due",
                "the token comes back",
            ),
        ] {
            assert_eq!(change(&before, after).text(), expected, "{why}");
        }
    }

    #[test]
    fn a_cursor_moves_from_where_it_was_read() {
        let at = |host: &str| OriginCursor::After(format!("https://{host}").parse().unwrap());
        let begun = iteration();
        let first = begun.move_cursor(Walk::Known, &OriginCursor::NotBegun, &at("a.example")).unwrap();
        let second = first.move_cursor(Walk::Known, &at("a.example"), &OriginCursor::Done).unwrap();
        let again = second.move_cursor(Walk::Known, &OriginCursor::Done, &OriginCursor::NotBegun).unwrap();
        for (before, after, update, condition, why) in [
            (&begun, &first, "SET #known_cursor = :cursor", "attribute_not_exists(#known_cursor)", "the first part"),
            (&first, &second, "SET #known_cursor = :cursor", "#known_cursor = :was", "the last part"),
            (&second, &again, "REMOVE #known_cursor", "#known_cursor = :was", "the next round"),
        ] {
            assert_eq!(change(before, after).text(), update, "{why}");
            assert_eq!(is_still_there(before, Walk::Known).text(), condition, "{why}");
        }
    }
}
