//! Which pages want more than their URL.

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

use super::{Host, Wants};

/// How often a page wants anything.
const WANTING: f64 = 0.15;

/// Makes a page's wants of its path.
type Draw = fn(&str) -> Wants;

/// What pages of a generated site want.
pub(super) const OF_SITES: [Draw; 5] = [encoded, tracked, with_cookie, both, unconditional];

/// What pages of a site in editions want: a 304 says there what a whole answer says not.
pub(super) const OF_EDITIONS: [Draw; 4] = [encoded, tracked, with_cookie, both];

/// Draws what the pages want. The other draws of the same seed do not depend on it.
pub(super) fn draw<'h>(seed: u64, hosts: impl Iterator<Item = &'h mut Host>, kinds: &[Draw]) {
    let mut dice = StdRng::seed_from_u64(!seed);
    for (path, page) in hosts.flat_map(|host| &mut host.pages) {
        if dice.random_bool(WANTING) {
            page.wants = kinds.choose(&mut dice).expect("not empty")(path);
        }
    }
}

/// The last character is encoded, which it need not be; of the root, an empty query.
fn encoded(path: &str) -> Wants {
    Wants::Spelling(match path.char_indices().last() {
        Some((at, last)) if last != '/' => format!("{}%{:02x}", &path[..at], u32::from(last)),
        _ => format!("{path}?"),
    })
}

/// A parameter that crawls strip.
fn tracked(path: &str) -> Wants {
    Wants::Spelling(format!("{path}?PHPSESSID=ab12"))
}

fn with_cookie(_: &str) -> Wants {
    Wants::Cookie
}

fn both(path: &str) -> Wants {
    Wants::SpellingAndCookie(format!("{path}?utm_source=simulation"))
}

fn unconditional(_: &str) -> Wants {
    Wants::NoConditions
}
