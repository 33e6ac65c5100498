//! A year of daily runs over the site. Each page is visited when the domain says that it is due.

use std::time::Duration;

use dragline_domain::definition::Definition;
use dragline_domain::recrawl::{LastVisits, RecrawlRules, VisitEnd, next_visit};
use dragline_domain::time::after;
use jiff::Timestamp;

use crate::site::{DAYS, Dice, Pace, Page};

/// The cost and results of a year of daily runs.
#[derive(Debug, Default)]
pub(crate) struct Year {
    /// Requests for pages.
    pub(crate) requests: u32,
    /// Requests for pages that never change and are always there, and the number of such pages.
    pub(crate) for_steady: (u32, u32),
    /// Requests for pages that were gone.
    pub(crate) while_gone: u32,
    /// Changes that were seen.
    pub(crate) seen: u32,
    /// Changes that were never seen, because another change, or the end of the page or of the year,
    /// came before a visit.
    pub(crate) missed: u32,
    /// The sum of the days from each change to the visit that noticed one, even if another had
    /// followed by then; and the number of these changes.
    pub(crate) noticed: (u32, u32),
}

impl Year {
    /// Returns the average number of requests for a page that never changes.
    pub(crate) fn requests_per_steady_page(&self) -> f64 {
        f64::from(self.for_steady.0) / f64::from(self.for_steady.1)
    }

    /// Returns the average number of days until a change was noticed.
    pub(crate) fn days_until_noticed(&self) -> f64 {
        f64::from(self.noticed.0) / f64::from(self.noticed.1)
    }
}

/// The crawl's state for a page.
struct KnownPage<'p> {
    page: &'p Page,
    due_at: Option<Timestamp>,
    last: LastVisits,
    /// The day on which it was last found.
    found_on: Option<u32>,
}

/// Runs the crawl once a day, within some minutes of the same time.
pub(crate) fn simulate(definition: &Definition, site: &[Page], seed: u64) -> Year {
    let rules = RecrawlRules::new(definition);
    let mut dice = Dice(seed);
    let mut year = Year::default();
    let mut pages: Vec<KnownPage<'_>> =
        site.iter().map(|page| KnownPage { page, due_at: None, last: LastVisits::default(), found_on: None }).collect();
    for day in 0..DAYS {
        let late = Duration::from_secs(dice.below(600));
        let began = after(Timestamp::UNIX_EPOCH, Duration::from_hours(24) * day + late);
        for known in &mut pages {
            if known.due_at.is_some_and(|due| due > began) {
                continue;
            }
            let ended = visit(known, day, &mut year);
            let next = next_visit(&rules.policy_for(&known.page.url), &known.last, ended, began);
            known.due_at = next.visited_from(began);
            known.last = LastVisits { interval: next.interval, away: next.away };
        }
    }
    for known in &pages {
        let after_last = known.page.changes.iter().filter(|day| Some(**day) > known.found_on);
        year.missed += u32::try_from(after_last.count()).unwrap();
        year.for_steady.1 += u32::from(is_steady(known.page));
    }
    year
}

fn is_steady(page: &Page) -> bool {
    page.pace == Pace::Never && page.away.is_empty()
}

/// Requests a page, updates the counts, and returns the visit's ending.
fn visit(known: &mut KnownPage<'_>, day: u32, year: &mut Year) -> VisitEnd {
    let page = known.page;
    year.requests += 1;
    year.for_steady.0 += u32::from(is_steady(page));
    if page.away.contains(&day) {
        year.while_gone += 1;
        return VisitEnd::Gone;
    }
    let Some(found_before) = known.found_on.replace(day) else { return VisitEnd::Changed };
    let since: Vec<u32> = page.changes.iter().copied().filter(|at| (found_before + 1..=day).contains(at)).collect();
    // Changes before the deletion of the page can no longer be seen.
    let was_away = !page.away.is_empty() && page.away.end <= day && found_before < page.away.start;
    let noticed = since.iter().filter(|at| !was_away || **at >= page.away.end);
    for at in noticed {
        year.noticed.0 += day - at;
        year.noticed.1 += 1;
    }
    let Some(overwritten) = since.len().checked_sub(1) else { return VisitEnd::Unchanged };
    year.seen += 1;
    year.missed += u32::try_from(overwritten).unwrap();
    VisitEnd::Changed
}
