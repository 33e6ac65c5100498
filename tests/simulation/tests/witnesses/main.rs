//! The witnesses themselves: sites are what their seed says, and each invariant sees its damage.

#![expect(clippy::unwrap_used, reason = "a test says more by failing than by an error")]

mod damage;
mod sites;

use dragline_simulation::{Plan, Remains, Setup, run};

/// What a run of this seed leaves in which nothing went wrong.
fn ran(seed: u64) -> Remains {
    let report = run(Setup::new(seed, Plan::Clean));
    report.assert_holds();
    report.remains
}
