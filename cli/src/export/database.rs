//! `dragline export --to`: everything to a PostgreSQL database, and later what is new.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use dragline_domain::shown;
use dragline_local::SystemClock;
use dragline_ports::clock::Clock as _;
use dragline_ports::reader::Reader;
use dragline_sink::{Address, Event, SinkError, Target};

use crate::args::DatabaseArgs;
use crate::crawl_handle::CrawlHandle;
use crate::definition_source::read_secret;
use crate::error::Failure;
use crate::terminal::Console;

/// The time between two lines of progress.
const PROGRESS_EVERY: Duration = Duration::from_secs(5);

/// Writes a crawl to the database at this address, until it equals the crawl.
///
/// # Errors
/// The address is not valid, the crawl cannot be read, or the database refuses something.
pub(super) async fn write(
    found: &CrawlHandle<impl Reader>,
    to: &str,
    args: &DatabaseArgs,
    console: &Console,
) -> Result<(), Failure> {
    let target = Target {
        address: read_address(to)?,
        schema: args.schema.clone().unwrap_or_default(),
        reader: args.reader.clone(),
        start: args.start(),
        patience: args.patience(),
        batch_rows: None,
    };
    let progress = DatabaseProgress::new(console);
    let written = dragline_sink::write(&found.reader, &found.crawl, &target, &|event| progress.show(&event)).await;
    let totals = written.map_err(|error| failure(found, error))?;
    let unchanged = totals.rows - totals.changed;
    console.say(&format!(
        "{} is up to date in {}, schema `{}`: {} written, {} removed, {} unchanged",
        found.crawl,
        target.address,
        target.schema,
        shown::plural(totals.changed, "row"),
        shown::count(totals.removed),
        shown::count(unchanged)
    ));
    Ok(())
}

/// Reads an address, or the variable or the file that it names, so that no password has to be on
/// the command line.
fn read_address(to: &str) -> Result<Address, Failure> {
    let text = match to.parse() {
        Ok(reference) => read_secret(&reference, "the address of the database")?,
        Err(_) if Address::is_url(to) => to.to_owned(),
        Err(_) => return Err(address_error("`--to` needs the address of a PostgreSQL database")),
    };
    text.parse().map_err(|error: dragline_sink::AddressError| address_error(&error.to_string()))
}

fn address_error(message: &str) -> Failure {
    Failure::new(message).with_hint("write it as `postgres://USER@HOST/DATABASE`, with `%40` for an `@` in a password")
}

fn failure(found: &CrawlHandle<impl Reader>, error: SinkError) -> Failure {
    let hint = error.hint();
    let failure = match error {
        SinkError::Reader(error) => found.read_error(error),
        error => Failure::new(error.to_string()),
    };
    match hint {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    }
}

/// Tells how far it is, and what it waits for.
struct DatabaseProgress<'c> {
    console: &'c Console,
    rows: Cell<u64>,
    clock: SystemClock,
    /// When it told something, by the monotonic clock.
    told: Cell<Duration>,
    waiting: RefCell<Option<String>>,
}

impl<'c> DatabaseProgress<'c> {
    fn new(console: &'c Console) -> Self {
        let clock = SystemClock::new();
        Self { console, rows: Cell::default(), clock, told: Cell::default(), waiting: RefCell::default() }
    }

    fn show(&self, event: &Event) {
        match event {
            Event::Waiting(why) => {
                // Each reason once, however often it is tried.
                if self.waiting.replace(Some(why.clone())).as_ref() != Some(why) {
                    self.console.warn(&format!("the database does not answer, trying again: {why}"));
                }
            }
            Event::Committed { what, rows } => {
                self.waiting.take();
                self.rows.set(self.rows.get() + rows);
                let now = self.clock.monotonic();
                if now.saturating_sub(self.told.get()) >= PROGRESS_EVERY {
                    self.told.set(now);
                    self.console.say(&format!("{} so far, now {what}", shown::plural(self.rows.get(), "row")));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_url_or_names_where_it_is() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "postgres://me:secret@db.example/results\n").unwrap();
        let address = read_address(&format!("file:{}", file.path().display())).unwrap();
        assert_eq!(address.to_string(), "`results` at db.example");
        for (to, message) in [
            (
                "env:DRAGLINE_NO_SUCH_VARIABLE",
                "the variable `DRAGLINE_NO_SUCH_VARIABLE` with the address of the database is not set",
            ),
            ("mysql://me@db.example/results", "`--to` needs the address of a PostgreSQL database"),
            ("postgres://me:secret@db.example:x/results", "the address of the database is not valid"),
        ] {
            assert_eq!(read_address(to).unwrap_err().message, message);
        }
    }
}
