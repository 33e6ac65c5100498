//! A site whose pages change from day to day at random: other texts, failures, redirects, pages
//! that go and come back.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dragline_domain::definition::{Definition, Draft};
use dragline_testkit::whole_crawls::definition;

use crate::rules::scripted::{Act, Asked, ScriptedSite, answer};

/// How many pages it has besides its first.
const PAGES: usize = 14;

/// The site, and which day it is there.
pub(crate) struct Days {
    site: ScriptedSite,
    today: Arc<AtomicUsize>,
    seed: u64,
}

impl Days {
    pub(crate) async fn start(seed: u64) -> Self {
        let today = Arc::new(AtomicUsize::new(0));
        let shared = Arc::clone(&today);
        let site = ScriptedSite::start(move |asked| act(asked, seed, shared.load(Ordering::Relaxed))).await;
        Self { site, today, seed }
    }

    pub(crate) fn turn_to(&self, day: usize) {
        self.today.store(day, Ordering::Relaxed);
    }
}

/// Mixes numbers into one that looks random.
fn mixed(parts: [u64; 4]) -> u64 {
    parts.into_iter().fold(0x9e37_79b9_7f4a_7c15, |sum: u64, part| {
        let sum = (sum ^ part).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        sum ^ (sum >> 29)
    })
}

/// Draws a page.
fn one_of(drawn: u64) -> u64 {
    drawn % PAGES as u64
}

/// The definition of a day: on some days pages are due that on others are not, and links are
/// decided by other rules.
pub(crate) fn definition_of(days: &Days, day: usize) -> Definition {
    definition(&[days.site.url("/")], |draft: &mut Draft| {
        draft.name = "docs".parse().unwrap();
        // In order, so that two runs find everything in the same way.
        draft.politeness.concurrency = 1;
        let drawn = mixed([days.seed, day as u64, 0, 77]);
        if drawn.is_multiple_of(3) {
            draft.recrawl.interval = Some(Duration::from_hours(30 * 24));
        }
        if drawn.is_multiple_of(5) {
            draft.scope.exclude.push("/3$".parse().unwrap());
        }
        if drawn.is_multiple_of(7) {
            draft.scope.max_depth = Some(1);
        }
    })
}

fn act(asked: &Asked, seed: u64, day: usize) -> Act {
    let Some(number) = asked.target.strip_prefix('/').filter(|rest| *rest != "robots.txt") else {
        return answer(404, &[], "");
    };
    let number: usize = if number.is_empty() { 0 } else { number.parse().unwrap_or(PAGES) };
    let draw = |what: u64| mixed([seed, day as u64, number as u64, what]);
    // Most days a page is as it was the day before.
    let edition = (0..=day).filter(|day| mixed([seed, *day as u64, number as u64, 1]).is_multiple_of(4)).count();
    let mood = if number == 0 { 0 } else { draw(2) % 16 };
    match mood {
        0..=8 => {
            let tag = format!("etag: \"{number}-{edition}\"");
            if asked.field("if-none-match").is_some_and(|sent| tag.ends_with(sent)) && draw(3).is_multiple_of(2) {
                return answer(304, &[&tag], "");
            }
            let links: String = (0..4)
                .map(|n| one_of(mixed([seed, edition as u64, number as u64, 10 + n])))
                .map(|to| format!("<a href=/{to}>{to}</a> "))
                .collect();
            let fields: &[&str] = if number.is_multiple_of(2) {
                &["content-type: text/html", &tag]
            } else {
                &["content-type: text/html"]
            };
            let stamp = if number.is_multiple_of(5) { day } else { 0 };
            answer(
                200,
                fields,
                format!("<title>{number}</title>page {number} edition {edition} {links}<!-- {stamp} -->"),
            )
        }
        9 => answer(404, &["content-type: text/html"], format!("no {number} on {day}")),
        10 => answer(410, &[], ""),
        11 => answer(403, &[], ""),
        12 => answer(301, &[&format!("location: /{}", one_of(draw(4)))], ""),
        13 => answer(200, &["content-type: application/pdf"], format!("%PDF {edition}")),
        14 => answer(200, &["content-type: text/html", "x-robots-tag: noindex"], format!("secret {edition}")),
        _ => answer(418, &[], "teapot"),
    }
}
