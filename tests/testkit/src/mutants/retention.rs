//! What is kept, with one defect each.

use dragline_domain::frontier::{IterationRow, OriginKey, SegmentId};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::url::CrawlUrl;
use dragline_ports::error::PortResult;
use dragline_ports::reader::Cursor;
use dragline_ports::retention::{ForgetTotals, Forgetting, ObjectsNaming, PruneMode, PrunedSegments, Pruning};
use jiff::Timestamp;

use super::mutants;

mutants! {
    /// What is wrong with what is kept.
    RetentionMutation, for R, |this| this.inner;
    Pruning<R: Pruning> {
        fn list_iterations(crawl: &CrawlId) -> Vec<IterationRow>;
            - OldestFirst: "iterations are listed oldest first" but |rows| rows.reverse();
        fn mark_pruned(crawl: &CrawlId, cut: Iteration, now: Timestamp) -> ();
            - MarkForgotten: "iterations are not marked" => Ok(());
            - MarksOneMore: "one iteration more is marked" { let cut = cut.next(); };
        fn prune_segments(
            origin: &OriginKey, cut: Iteration, after: Option<&SegmentId>, effect: PruneMode
        ) -> PrunedSegments;
            - NothingDeleted: "nothing is deleted" { let effect = PruneMode::Count; };
            - CountDeletes: "a count deletes what it counts" { let effect = PruneMode::Delete; };
            - DropsOneMore: "one iteration more is dropped" { let cut = cut.next(); };
            - UnusedNotNamed: "objects that nothing refers to are not named" but |pruned| pruned.unused.clear();
            - KeptNotCounted: "visits that stay are not counted" but |pruned| pruned.kept = 0;
        fn forget_objects(segments: &[SegmentId]) -> ();
            - GoneForgotten: "objects that are gone are not recorded as gone" => Ok(());
    }
    Forgetting<R: Forgetting> {
        fn objects_naming(crawl: &CrawlId, urls: &[CrawlUrl], after: Option<&Cursor>) -> ObjectsNaming;
        fn forget_urls(crawl: &CrawlId, urls: &[CrawlUrl]) -> ForgetTotals;
            - NothingForgotten: "nothing is forgotten" => Ok(ForgetTotals::default());
    }
}
