//! The suites on adapters with a defect: some behaviour rejects each mutant, and each behaviour rejects some mutant.
//!
//! `docs/conformance.md` lists which behaviours reject which mutants; the test checks it.

use std::collections::BTreeSet;
use std::fmt::{Debug, Write};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, panic, thread};

use dragline_testkit::mutants::{
    ArchiveMutation, DocumentsMutation, FrontierMutation, MutantArchive, MutantDocuments, MutantFrontier, MutantQueue,
    MutantReader, MutantRemaking, MutantRetained, QueueMutation, ReaderMutation, RemakingMutation, RetentionMutation,
};
use tokio::runtime::{Builder, Runtime};

use super::adapters;

/// The page that lists which behaviours reject which mutants.
const PAGE: &str = include_str!("../../../../docs/conformance.md");

/// The names of behaviours.
type Names = Vec<&'static str>;

async fn of_frontier(mutation: FrontierMutation) -> Names {
    let mut rejected_by = dragline_testkit::frontier_suite!(rejections, async {
        let (frontier, guard) = adapters::frontier().await;
        (MutantFrontier::new(frontier, mutation), guard)
    });
    rejected_by.extend(dragline_testkit::log_suite!(rejections, async {
        let ((frontier, reader), guard) = adapters::log().await;
        ((MutantFrontier::new(frontier, mutation), reader), guard)
    }));
    rejected_by
}

async fn of_archive(mutation: ArchiveMutation) -> Names {
    dragline_testkit::archive_suite!(rejections, async {
        let (archive, guard) = adapters::archive().await;
        (MutantArchive::new(archive, mutation), guard)
    })
}

async fn of_documents(mutation: DocumentsMutation) -> Names {
    dragline_testkit::documents_suite!(rejections, async {
        let ((frontier, documents), guard) = adapters::documents().await;
        ((frontier, MutantDocuments::new(documents, mutation)), guard)
    })
}

async fn of_reader(mutation: ReaderMutation) -> Names {
    dragline_testkit::reader_suite!(rejections, async {
        let ((frontier, documents, reader), guard) = adapters::reader().await;
        ((frontier, documents, MutantReader::new(reader, mutation)), guard)
    })
}

async fn of_retention(mutation: RetentionMutation) -> Names {
    dragline_testkit::retention_suite!(rejections, async {
        let ((frontier, documents, reader, retained), guard) = adapters::retained().await;
        ((frontier, documents, reader, MutantRetained::new(retained, mutation)), guard)
    })
}

async fn of_remaking(mutation: RemakingMutation) -> Names {
    dragline_testkit::remaking_suite!(rejections, async {
        let ((frontier, documents, reader, remaking, retained), guard) = adapters::remaking().await;
        let remaking = MutantRemaking::new(remaking, documents.clone(), mutation);
        ((frontier, documents, reader, remaking, retained), guard)
    })
}

async fn of_queue(mutation: QueueMutation) -> Names {
    dragline_testkit::queue_suite!(rejections, async {
        let ((queue, receiver), guard) = adapters::queue().await;
        ((MutantQueue::new(queue, mutation), receiver), guard)
    })
}

/// The verdicts of the suites on a port's mutants.
#[derive(Default)]
struct Verdicts {
    /// The table of all mutants.
    table: String,
    /// Mutants that nothing rejects.
    survivors: Vec<String>,
    /// Behaviours that reject nothing.
    idle: BTreeSet<&'static str>,
}

/// The name of threads whose panics are verdicts and are not printed.
const JUDGE: &str = "judge";

/// Judges every mutant of a port, in as many threads as the machine has processors.
fn judge<M: Copy + Debug + Sync>(
    mutations: &[M],
    defect: fn(M) -> &'static str,
    behaviours: impl IntoIterator<Item = &'static str>,
    rejections: impl Fn(&Runtime, M) -> Names + Sync,
) -> Verdicts {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(vec![Names::new(); mutations.len()]));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, usize::from) {
            let judge = thread::Builder::new().name(JUDGE.to_owned());
            judge
                .spawn_scoped(scope, || {
                    // Paused time advances when there is nothing else to do, so that waiting in vain takes no time.
                    let runtime = Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let Some(&mutation) = mutations.get(number) else { return };
                        let rejected_by = rejections(&runtime, mutation);
                        found.lock().unwrap()[number] = rejected_by;
                    }
                })
                .unwrap();
        }
    });
    let mut verdicts = Verdicts { idle: behaviours.into_iter().collect(), ..Verdicts::default() };
    verdicts.table.push_str("| mutant | its defect | rejected by |\n|---|---|---|\n");
    for (mutation, rejected_by) in mutations.iter().zip(found.into_inner().unwrap()) {
        if rejected_by.is_empty() {
            verdicts.survivors.push(format!("{mutation:?}"));
        }
        rejected_by.iter().for_each(|behaviour| _ = verdicts.idle.remove(behaviour));
        let names: Vec<String> = rejected_by.iter().map(|name| format!("`{name}`")).collect();
        writeln!(verdicts.table, "| `{mutation:?}` | {} | {} |", defect(*mutation), names.join(", ")).unwrap();
    }
    verdicts
}

#[test]
fn every_mutant_is_rejected_and_every_behaviour_rejects_one() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if thread::current().name() != Some(JUDGE) {
            usual(panic);
        }
    }));
    let frontier =
        dragline_testkit::frontier_suite!(names, ()).into_iter().chain(dragline_testkit::log_suite!(names, ()));
    let verdicts = [
        (
            "Frontier",
            judge(FrontierMutation::ALL, FrontierMutation::defect, frontier, |runtime, mutation| {
                runtime.block_on(of_frontier(mutation))
            }),
        ),
        (
            "Archive",
            judge(
                ArchiveMutation::ALL,
                ArchiveMutation::defect,
                dragline_testkit::archive_suite!(names, ()),
                |runtime, mutation| runtime.block_on(of_archive(mutation)),
            ),
        ),
        (
            "Documents",
            judge(
                DocumentsMutation::ALL,
                DocumentsMutation::defect,
                dragline_testkit::documents_suite!(names, ()),
                |runtime, mutation| runtime.block_on(of_documents(mutation)),
            ),
        ),
        (
            "Reader",
            judge(
                ReaderMutation::ALL,
                ReaderMutation::defect,
                dragline_testkit::reader_suite!(names, ()),
                |runtime, mutation| runtime.block_on(of_reader(mutation)),
            ),
        ),
        (
            "Retention",
            judge(
                RetentionMutation::ALL,
                RetentionMutation::defect,
                dragline_testkit::retention_suite!(names, ()),
                |runtime, mutation| runtime.block_on(of_retention(mutation)),
            ),
        ),
        (
            "Remaking",
            judge(
                RemakingMutation::ALL,
                RemakingMutation::defect,
                dragline_testkit::remaking_suite!(names, ()),
                |runtime, mutation| runtime.block_on(of_remaking(mutation)),
            ),
        ),
        (
            "Queue",
            judge(
                QueueMutation::ALL,
                QueueMutation::defect,
                dragline_testkit::queue_suite!(names, ()),
                |runtime, mutation| runtime.block_on(of_queue(mutation)),
            ),
        ),
    ];
    let tables: String = verdicts.iter().map(|(port, verdicts)| format!("\n## {port}\n\n{}", verdicts.table)).collect();
    let (head, _) = PAGE.split_once("\n## ").unwrap();
    let seen = Path::new(env!("CARGO_TARGET_TMPDIR")).join("conformance.md");
    fs::write(&seen, format!("{head}{tables}")).unwrap();
    for (port, Verdicts { survivors, idle, .. }) in &verdicts {
        assert!(survivors.is_empty(), "{port}: no behaviour rejects {survivors:?}");
        assert!(idle.is_empty(), "{port}: these behaviours reject no mutant: {idle:?}");
    }
    assert!(PAGE.ends_with(&tables), "docs/conformance.md is out of date; replace it with {}", seen.display());
}
