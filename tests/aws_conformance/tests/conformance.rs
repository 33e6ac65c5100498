//! The suites of the ports, over fresh tables, buckets and queues each.

use dragline_aws_conformance::{Fresh, clients};

async fn fresh() -> Fresh {
    Fresh::new(clients().await)
}

mod frontier {
    use super::*;

    dragline_testkit::frontier_suite!(async { (fresh().await.frontier().await, ()) });
}

mod documents {
    use super::*;

    dragline_testkit::documents_suite!(async {
        let fresh = fresh().await;
        ((fresh.frontier().await, fresh.documents()), ())
    });
}

mod archive {
    use super::*;

    dragline_testkit::archive_suite!(async { (fresh().await.archive().await, ()) });
}
