//! The inbox: an attribute for each number, as several parsers add to them concurrently.

use aws_sdk_dynamodb::types::AttributeValue;
use dragline_domain::frontier::{Counts, Inbox, OriginKey, ParserCounters, Seeding, change_named, outcome_named};

use super::{DUE_NAMES, Owed, SET_DUE, due_attributes, due_values, fields, index_writes, iteration_number, keys, row};
use crate::dynamo::{Expression, Fields, Item, Role, Write, flag, number, text, texts};
use crate::errors::StoreError;
use crate::tables::{DUE, ITERATION};

const OPEN: &str = "open";
/// An attribute that only rows of earlier versions have.
const SEEDED: &str = "seeded";
/// Watched shapes as JSON; absent if there are none.
const SHAPES: &str = "shapes";

pub(crate) fn item(origin: &OriginKey, inbox: &Inbox) -> Item {
    let attributes = [(ITERATION, number(inbox.iteration.number())), (OPEN, flag(inbox.open))];
    let listed = Some(&inbox.seeded).filter(|seeded| !seeded.is_empty());
    let listed = listed.map(|seeded| (SEEDED, texts(seeded.iter().map(Seeding::as_str))));
    let attributes = attributes.into_iter().chain(listed).chain(due_attributes(Owed::Turn, origin, inbox.due));
    let mut item = row(&keys::inbox(origin), attributes);
    let counts = Counts::from_inbox(inbox);
    item.extend(counts.numbers().map(|(name, count)| (name.to_owned(), number(i128::from(count)))));
    item.extend(shapes(inbox).map(|shapes| (SHAPES.to_owned(), text(shapes))));
    item
}

fn shapes(inbox: &Inbox) -> Option<String> {
    let json = || serde_json::to_string(&inbox.shapes).expect("they are lists of numbers");
    (!inbox.shapes.is_empty()).then(json)
}

pub(crate) fn read(item: &Item) -> Result<Inbox, StoreError> {
    let fields = fields(item)?;
    let listed = fields.maybe(SEEDED, Fields::texts)?.unwrap_or_default();
    Ok(Inbox {
        iteration: iteration_number(fields, ITERATION)?,
        open: fields.flag(OPEN)?,
        added: fields.number("added")?,
        parsed: fields.number("parsed")?,
        seeded: listed.into_iter().map(|seeding| Seeding::from_stored(seeding.to_owned())).collect(),
        due: fields.maybe_instant(DUE)?,
        counters: counters(fields)?,
        shapes: fields.maybe(SHAPES, Fields::text)?.map(serde_json::from_str).transpose()?.unwrap_or_default(),
    })
}

fn counters(fields: Fields<'_>) -> Result<ParserCounters, StoreError> {
    let outcomes = fields.0.keys().filter_map(|name| Some((outcome_named(name)?, name)));
    let changes = fields.0.keys().filter_map(|name| Some((change_named(name)?, name)));
    Ok(ParserCounters {
        found: fields.number("found")?,
        // Rows of earlier versions do not have it.
        found_stripped: fields.maybe_number("found_stripped")?.unwrap_or(0),
        processed: fields.number("processed")?,
        stuck: fields.number("stuck")?,
        // As above.
        unreadable: fields.maybe_number("unreadable")?.unwrap_or(0),
        outcomes: outcomes
            .map(|(outcome, name)| Ok((outcome, fields.number(name)?)))
            .collect::<Result<_, StoreError>>()?,
        links_out_of_scope: fields.number("links_out_of_scope")?,
        links_too_deep: fields.number("links_too_deep")?,
        links_nofollow: fields.number("links_nofollow")?,
        // As above.
        links_beyond_budget: fields.maybe_number("links_beyond_budget")?.unwrap_or(0),
        changes: changes.map(|(kind, name)| Ok((kind, fields.number(name)?))).collect::<Result<_, StoreError>>()?,
        // As above.
        reparsed: fields.maybe_number("reparsed")?.unwrap_or(0),
        // As above.
        drifted: fields.maybe_number("drifted")?.unwrap_or(0),
    })
}

/// Writes the additions by todo or a parse, if the origin is still open or closed as before. Others
/// may add concurrently.
pub(crate) fn add(origin: &OriginKey, before: Option<&Inbox>, after: &Inbox) -> Write {
    let key = keys::inbox(origin);
    let index = index_writes(before.and_then(|before| before.due), after.due);
    let write = match before {
        None => Write::put(Role::Inbox, &key, item(origin, after)).if_absent(),
        Some(before) if before.iteration == after.iteration => {
            let update = Write::update(Role::Inbox, &key, change(origin, before, after), &item(origin, after));
            let update = update.when(as_open(before));
            // Unlike numbers, they cannot be added to.
            if before.shapes == after.shapes { update } else { update.when(as_watched(before)) }
        }
        Some(before) => Write::put(Role::Inbox, &key, item(origin, after)).when(as_open(before)),
    };
    write.indexed(index)
}

/// Writes the counts of remade documents, if the origin is as it was read. Counters may fall, which
/// additions cannot express.
pub(crate) fn recount(origin: &OriginKey, before: &Inbox, after: &Inbox) -> Write {
    let as_counted = Expression::new("#added = :was_added AND #parsed = :was_parsed");
    let as_counted = as_counted.with(":was_added", number(before.added)).with(":was_parsed", number(before.parsed));
    Write::put(Role::Inbox, &keys::inbox(origin), item(origin, after)).when(as_open(before)).when(as_counted)
}

fn as_watched(before: &Inbox) -> Expression {
    match shapes(before) {
        Some(shapes) => Expression::new("#shapes = :was_shapes").with(":was_shapes", text(shapes)),
        None => Expression::new("attribute_not_exists(#shapes)"),
    }
}

fn as_open(before: &Inbox) -> Expression {
    Expression::new("#iteration = :was_iteration AND #open = :was_open")
        .with(":was_iteration", number(before.iteration.number()))
        .with(":was_open", flag(before.open))
}

/// Writes the changes decided from these numbers, if nobody added or parsed since. Without changes,
/// it only checks that.
pub(crate) fn decided(origin: &OriginKey, before: &Inbox, after: &Inbox) -> Write {
    let key = keys::inbox(origin);
    let unchanged = Expression::new("#iteration = :was_iteration AND #added = :was_added AND #parsed = :was_parsed")
        .with(":was_iteration", number(before.iteration.number()))
        .with(":was_added", number(before.added))
        .with(":was_parsed", number(before.parsed));
    if before == after {
        return Write::check(Role::Inbox, &key, &item(origin, before), unchanged);
    }
    let update = Write::update(Role::Inbox, &key, change(origin, before, after), &item(origin, after));
    update.when(unchanged).indexed(index_writes(before.due, after.due))
}

/// Returns the update from one inbox to the other. Numbers change by addition, so that concurrent
/// additions stay.
fn change(origin: &OriginKey, before: &Inbox, after: &Inbox) -> Expression {
    let (mut sets, mut adds, mut removes) = (Vec::new(), Vec::new(), Vec::new());
    let mut values: Vec<(String, AttributeValue)> = Vec::new();
    if before.open != after.open {
        sets.push("#open = :open".to_owned());
        values.push((":open".to_owned(), flag(after.open)));
    }
    if before.shapes != after.shapes {
        match shapes(after) {
            Some(shapes) => {
                sets.push("#shapes = :shapes".to_owned());
                values.push((":shapes".to_owned(), text(shapes)));
            }
            None => removes.push("#shapes".to_owned()),
        }
    }
    match after.due {
        Some(due) => {
            sets.push(SET_DUE.to_owned());
            values.extend(due_values(Owed::Turn, origin, due).map(|(name, value)| (name.to_owned(), value)));
        }
        None => removes.push(DUE_NAMES.to_owned()),
    }
    for (name, more) in Counts::from_inbox_change(Some(before), after).numbers().filter(|(_, more)| *more > 0) {
        adds.push(format!("#{name} :{name}"));
        values.push((format!(":{name}"), number(i128::from(more))));
    }
    let sections = [("SET", sets), ("REMOVE", removes), ("ADD", adds)];
    let sections = sections.into_iter().filter(|(_, parts)| !parts.is_empty());
    let text: Vec<String> = sections.map(|(verb, parts)| format!("{verb} {}", parts.join(", "))).collect();
    values.into_iter().fold(Expression::new(text.join(" ")), |update, (name, value)| update.with(&name, value))
}

#[cfg(test)]
mod tests {
    use dragline_domain::ids::Iteration;
    use dragline_domain::outcome::Outcome;
    use jiff::Timestamp;

    use super::*;

    fn origin() -> OriginKey {
        OriginKey { crawl: "docs".parse().unwrap(), origin: "https://a.example".parse().unwrap() }
    }

    fn inbox() -> Inbox {
        let mut inbox = Inbox { open: true, added: 9, parsed: 2, ..Inbox::new(Iteration::FIRST) };
        inbox.seeded.push(Seeding::from_stored("t#0000".into()));
        inbox.due = Some(Timestamp::from_second(60).unwrap());
        inbox.counters.outcomes.insert(Outcome::UnknownError, 3);
        inbox.counters.outcomes.insert(Outcome::FileIngested, 4);
        inbox
    }

    #[test]
    fn an_inbox_is_read_back() {
        let closed = Inbox::new(Iteration::FIRST);
        for inbox in [inbox(), closed] {
            let item = item(&origin(), &inbox);
            assert_eq!(read(&item).unwrap(), inbox);
            assert_eq!(item.contains_key(SEEDED), !inbox.seeded.is_empty(), "only an earlier version's list is kept");
        }
    }

    #[test]
    fn a_change_adds_differences_and_leaves_the_rest() {
        let before = inbox();
        let mut after = before.clone();
        after.added += 5;
        after.counters.outcomes.insert(Outcome::FileIngested, 6);
        let text = change(&origin(), &before, &after).text().to_owned();
        let expected =
            "SET #due = :due, #due_slot = :slot, #due_shard = :shard ADD #added :added, #outcome20 :outcome20";
        assert_eq!(text, expected);
        let settled = Inbox { open: false, due: None, ..before.clone() };
        assert_eq!(change(&origin(), &before, &settled).text(), "SET #open = :open REMOVE #due, #due_slot, #due_shard");
    }
}
