//! Tests of the simulation itself: sites follow from their seed, and each invariant finds its
//! damage.

mod damage;
mod sites;

use dragline_simulation::{Plan, Remains, Setup, run};

/// The report of a clean run of this seed.
fn ran(seed: u64) -> Remains {
    let report = run(Setup::new(seed, Plan::Clean));
    report.assert_holds();
    report.remains
}
