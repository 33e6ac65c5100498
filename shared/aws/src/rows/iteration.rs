//! The iteration: an attribute for each part, as many origins count in it at once.

use aws_sdk_dynamodb::types::AttributeValue;
use dragline_domain::frontier::{IterationRow, IterationStatus, Reserve};
use dragline_domain::ids::{CrawlId, TriggerId};

use super::{RUNNING, agenda, fields, iteration_number, keys, row};
use crate::dynamo::{Expression, IndexWrites, Item, Role, Write, flag, instant, number, text};
use crate::errors::StoreError;
use crate::tables::{AGENDA, AGENDA_AT, DUE, PARTITION};

const NUMBER: &str = "number";
const STATUS: &str = "status";

fn item(iteration: &IterationRow) -> Item {
    let mut attributes = vec![
        (NUMBER, number(iteration.number.number())),
        (STATUS, text(iteration.status.name())),
        ("open", number(iteration.open)),
        ("token_out", flag(iteration.token_out)),
        ("trigger", text(&iteration.trigger.0)),
        ("started_at", instant(iteration.started_at)),
    ];
    if iteration.status != IterationStatus::Closed {
        attributes.extend(agenda(RUNNING, iteration.started_at));
    }
    let version = iteration.version.map(u64::from);
    let numbers =
        [("pages_left", iteration.budget.pages), ("bytes_left", iteration.budget.bytes), ("version", version)];
    let instants = [(DUE, iteration.due), ("ends_at", iteration.ends_at), ("closed_at", iteration.closed_at)];
    attributes.extend(numbers.into_iter().filter_map(|(name, left)| Some((name, number(left?)))));
    attributes.extend(instants.into_iter().filter_map(|(name, at)| Some((name, instant(at?)))));
    row(&keys::iteration(&iteration.crawl, iteration.number), attributes)
}

pub(crate) fn read(item: &Item) -> Result<IterationRow, StoreError> {
    let fields = fields(item)?;
    let status = IterationStatus::named(fields.text(STATUS)?);
    let crawl: Option<CrawlId> = fields.text(PARTITION)?.parse().ok();
    let damaged = |what: &str| StoreError::Damaged(format!("an iteration has an unknown {what}"));
    Ok(IterationRow {
        crawl: crawl.ok_or_else(|| damaged("crawl"))?,
        number: iteration_number(fields, NUMBER)?,
        version: fields.maybe_number("version")?,
        status: status.ok_or_else(|| damaged("status"))?,
        open: fields.number("open")?,
        budget: Reserve { pages: fields.maybe_number("pages_left")?, bytes: fields.maybe_number("bytes_left")? },
        token_out: fields.flag("token_out")?,
        due: fields.maybe_instant(DUE)?,
        trigger: TriggerId(fields.text("trigger")?.to_owned()),
        started_at: fields.instant("started_at")?,
        ends_at: fields.maybe_instant("ends_at")?,
        closed_at: fields.maybe_instant("closed_at")?,
    })
}

/// Puts an iteration that begins, unless another trigger was faster.
pub(crate) fn begin(iteration: &IterationRow) -> Write {
    let key = keys::iteration(&iteration.crawl, iteration.number);
    Write::put(Role::Iteration, &key, item(iteration)).if_absent().indexed(IndexWrites::One)
}

/// Counts origins that open; zero is final.
pub(crate) fn open(before: &IterationRow, after: &IterationRow) -> Write {
    let condition = Expression::new("#open > :zero AND #status <> :closed");
    update(before, after, condition.with(":zero", number(0)).with(":closed", text(IterationStatus::Closed.name())))
}

/// Takes an open origin off the count, and back what it had set aside. `None` if that changes nothing.
pub(crate) fn let_go(before: &IterationRow, after: &IterationRow) -> Option<Write> {
    let condition = || Expression::new("#open > :zero").with(":zero", number(0));
    (before != after).then(|| update(before, after, condition()))
}

/// Sets part of the budget aside, if it is there still; checks at least that the iteration gives leases.
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

/// Writes another status, if the one that it was decided from still holds, and the count of open origins if it is `Closed`.
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

/// The update that makes one row of the other: numbers move by their difference, so that others' moves stay.
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
    fn an_iteration_comes_back_as_it_was() {
        let begun = iteration();
        let returned = begun.return_token().unwrap();
        let closed = returned.close(begun.started_at).unwrap();
        let pinned = IterationRow { version: Some(7), ..begun.clone() };
        for iteration in [begun, returned, closed, pinned] {
            assert_eq!(read(&item(&iteration)).unwrap(), iteration);
        }
    }

    #[test]
    fn numbers_move_by_their_difference() {
        let before = iteration();
        let more = before.one_origin_more().unwrap();
        let (_, reserved) = before.reserve(Reserve { pages: Some(4), bytes: Some(9) }).unwrap();
        for (after, expected, why) in [
            (&more, "SET #open = #open + :open_more", "an origin opens"),
            (&reserved, "SET #pages_left = #pages_left + :pages_more", "pages are set aside; bytes are unlimited"),
            (
                &before.return_token().unwrap(),
                "SET #open = #open + :open_more, #token_out = :token_out REMOVE #due",
                "the token comes back",
            ),
        ] {
            assert_eq!(change(&before, after).text(), expected, "{why}");
        }
    }
}
