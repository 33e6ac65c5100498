//! The witnesses themselves: sites are what their seed says, and each invariant sees its damage.

mod damage;
mod sites;

use dragline_simulation::{Plan, Remains, Setup, run};

/// What a run of this seed leaves in which nothing went wrong.
fn ran(seed: u64) -> Remains {
    let report = run(Setup::new(seed, Plan::Clean));
    report.assert_holds();
    report.remains
}
