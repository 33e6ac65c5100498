//! The items that came to pass a test in an iteration.

use std::ops::ControlFlow;
use std::path::Path;

use dragline_domain::definition::ItemTest;
use dragline_domain::frontier::IterationRow;
use dragline_local::LocalStore;
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_report::diff::{ItemChange, Span, each_first_item, each_item_change};

use super::message::{Derived, MatchedItem};

/// The most items in a message.
const ITEMS_MAX: usize = 50;

/// Returns the items that pass a test after an iteration, and did not before; `None` if there are
/// none. In the first iteration, all items that pass it are new.
///
/// # Errors
/// The crawl cannot be read.
pub(super) async fn matched(data: &Path, row: &IterationRow, test: &ItemTest) -> PortResult<Option<Derived>> {
    let failed = |error: dragline_local::OpenError| {
        PortError::new(PortErrorKind::Other, "read items of", row.crawl.as_str(), error.to_string())
    };
    let reader = LocalStore::open_read_only(data).map_err(failed)?.into_reader(row.crawl.clone());
    let (mut count, mut items) = (0, Vec::new());
    let mut tell = |change: ItemChange| {
        if passes_now(test, &change) {
            count += 1;
            if items.len() < ITEMS_MAX {
                items.push(MatchedItem::from(change));
            }
        }
        ControlFlow::Continue(())
    };
    match Span::choose(None, Some(row.number), row) {
        Ok(span) => each_item_change(&reader, span, &mut tell).await?,
        // Before the first one was nothing.
        Err(_) => each_first_item(&reader, row.number, &mut tell).await?,
    }
    let iteration = row.number.number();
    Ok((count > 0).then(|| Derived::ItemsMatched { iteration, test: test.to_string(), count, items }))
}

fn passes_now(test: &ItemTest, change: &ItemChange) -> bool {
    test.item_type.as_ref().is_none_or(|name| *name == change.r#type)
        && change.field == test.field
        && test.passes(change.new.as_deref())
        && !test.passes(change.old.as_deref())
}

#[cfg(test)]
mod tests {
    use dragline_report::diff::ItemChangeKind;

    use super::*;

    #[test]
    fn an_item_passes_once() {
        let change = |r#type: &str, field: &str, old: Option<&str>, new: Option<&str>| ItemChange {
            url: "https://shop.example/a".to_owned(),
            r#type: r#type.to_owned(),
            item: "Chair".to_owned(),
            change: ItemChangeKind::Changed,
            field: field.to_owned(),
            old: old.map(str::to_owned),
            new: new.map(str::to_owned),
        };
        let test = ItemTest { item_type: Some("Product".to_owned()), .."price < 100".parse().unwrap() };
        for (change, expected, why) in [
            (change("Product", "price", Some("129.9"), Some("99")), true, "it became cheap"),
            (change("Product", "price", None, Some("99")), true, "it is new, and cheap"),
            (change("Product", "price", Some("98"), Some("99")), false, "it was cheap before"),
            (change("Product", "price", Some("129.9"), Some("119")), false, "not cheap enough"),
            (change("Product", "price", Some("99"), None), false, "it is gone"),
            (change("Product", "rating", Some("5"), Some("4")), false, "another field"),
            (change("Offer", "price", Some("129.9"), Some("99")), false, "another type"),
        ] {
            assert_eq!(passes_now(&test, &change), expected, "{why}");
        }
    }
}
