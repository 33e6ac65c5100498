//! The suites of the ports on this crate's adapters, and on mutants of them.

#![expect(clippy::unwrap_used, reason = "a test says more by failing than by an error")]

mod adapters;
mod mutants;

mod frontier {
    use crate::adapters::frontier;

    dragline_testkit::frontier_suite!(frontier());
}

mod log {
    use crate::adapters::log;

    dragline_testkit::log_suite!(log());
}

mod documents {
    use crate::adapters::documents;

    dragline_testkit::documents_suite!(documents());
}

mod archive {
    use crate::adapters::archive;

    dragline_testkit::archive_suite!(archive());
}

mod queue {
    use crate::adapters::queue;

    dragline_testkit::queue_suite!(queue());
}

mod time {
    use dragline_local::{SystemChance, SystemClock};

    dragline_testkit::time_suite!(async { ((SystemClock::new(), SystemChance), ()) });
}
