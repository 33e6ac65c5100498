//! The suites of the ports, run on the local adapters and on mutants of them.

mod adapters;
mod mutants;

mod frontier {
    use super::adapters::frontier;

    dragline_testkit::frontier_suite!(frontier());
}

mod log {
    use super::adapters::log;

    dragline_testkit::log_suite!(log());
}

mod documents {
    use super::adapters::documents;

    dragline_testkit::documents_suite!(documents());
}

mod reader {
    use super::adapters::reader;

    dragline_testkit::reader_suite!(reader());
}

mod retention {
    use super::adapters::retained;

    dragline_testkit::retention_suite!(retained());
}

mod remaking {
    use super::adapters::remaking;

    dragline_testkit::remaking_suite!(remaking());
}

mod archive {
    use super::adapters::archive;

    dragline_testkit::archive_suite!(archive());
}

mod queue {
    use super::adapters::queue;

    dragline_testkit::queue_suite!(queue());
}

mod session {
    use super::adapters::scripted;

    dragline_testkit::session_suite!(scripted());
}

mod time {
    use dragline_local::{SystemClock, SystemRng};

    dragline_testkit::time_suite!(async { ((SystemClock::new(), SystemRng), ()) });
}
