//! The suites on adapters with a defect: some behaviour rejects each mutant, and each behaviour
//! rejects some mutant.
//!
//! Which behaviours reject which mutants is written to `conformance.md` in Cargo's directory for
//! files of tests, `target/tmp`.

use std::collections::BTreeSet;
use std::fmt::{Debug, Write};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, panic, thread};

use dragline_testkit::mutants::{
    ArchiveMutation, DocumentsMutation, FrontierMutation, Mutant, QueueMutation, ReaderMutation, RemakingMutation,
    RetentionMutation,
};
use tokio::runtime::{Builder, Runtime};

use super::adapters;

/// The names of the behaviours that reject a mutant.
type Names = Vec<&'static str>;

async fn judge_frontier(mutation: FrontierMutation) -> Names {
    let mut rejected_by = dragline_testkit::frontier_suite!(rejections, async {
        let (frontier, guard) = adapters::frontier().await;
        (Mutant::new(frontier, mutation), guard)
    });
    rejected_by.extend(dragline_testkit::log_suite!(rejections, async {
        let ((frontier, reader), guard) = adapters::log().await;
        ((Mutant::new(frontier, mutation), reader), guard)
    }));
    rejected_by
}

async fn judge_archive(mutation: ArchiveMutation) -> Names {
    dragline_testkit::archive_suite!(rejections, async {
        let (archive, guard) = adapters::archive().await;
        (Mutant::new(archive, mutation), guard)
    })
}

async fn judge_documents(mutation: DocumentsMutation) -> Names {
    dragline_testkit::documents_suite!(rejections, async {
        let ((frontier, documents), guard) = adapters::documents().await;
        ((frontier, Mutant::new(documents, mutation)), guard)
    })
}

async fn judge_reader(mutation: ReaderMutation) -> Names {
    dragline_testkit::reader_suite!(rejections, async {
        let ((frontier, documents, reader), guard) = adapters::reader().await;
        ((frontier, documents, Mutant::new(reader, mutation)), guard)
    })
}

async fn judge_retention(mutation: RetentionMutation) -> Names {
    dragline_testkit::retention_suite!(rejections, async {
        let ((frontier, documents, reader, retained), guard) = adapters::retained().await;
        ((frontier, documents, reader, Mutant::new(retained, mutation)), guard)
    })
}

async fn judge_remaking(mutation: RemakingMutation) -> Names {
    dragline_testkit::remaking_suite!(rejections, async {
        let ((frontier, documents, reader, remaking, retained), guard) = adapters::remaking().await;
        let remaking = Mutant::new((remaking, documents.clone()), mutation);
        ((frontier, documents, reader, remaking, retained), guard)
    })
}

async fn judge_queue(mutation: QueueMutation) -> Names {
    dragline_testkit::queue_suite!(rejections, async {
        let ((queue, receiver), guard) = adapters::queue().await;
        ((Mutant::new(queue, mutation), receiver), guard)
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

/// Judges every mutant of an adapter, in as many threads as the machine has processors.
fn judge_all<M: Copy + Debug + Sync>(
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
                    // Paused time advances when there is nothing else to do, so that waiting in
                    // vain takes no time.
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

/// Judges the mutants of several adapters, each with its suites.
macro_rules! judge_ports {
    ($($port:literal: $mutation:ident by $judge:ident, of $($suite:ident)+;)*) => {[$((
        $port,
        judge_all(
            $mutation::ALL,
            $mutation::defect,
            [$(&dragline_testkit::$suite!(names, ())[..]),+].concat(),
            |runtime, mutation| runtime.block_on($judge(mutation)),
        ),
    )),*]};
}

#[test]
fn every_mutant_is_rejected_and_every_behaviour_rejects_one() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if thread::current().name() != Some(JUDGE) {
            usual(panic);
        }
    }));
    let verdicts = judge_ports! {
        "Frontier": FrontierMutation by judge_frontier, of frontier_suite log_suite;
        "Archive": ArchiveMutation by judge_archive, of archive_suite;
        "Documents": DocumentsMutation by judge_documents, of documents_suite;
        "Reader": ReaderMutation by judge_reader, of reader_suite;
        "Retention": RetentionMutation by judge_retention, of retention_suite;
        "Remaking": RemakingMutation by judge_remaking, of remaking_suite;
        "Queue": QueueMutation by judge_queue, of queue_suite;
    };
    let tables = verdicts.iter().map(|(port, verdicts)| format!("## {port}\n\n{}", verdicts.table));
    let table = Path::new(env!("CARGO_TARGET_TMPDIR")).join("conformance.md");
    fs::write(table, tables.collect::<Vec<_>>().join("\n")).unwrap();
    for (port, Verdicts { survivors, idle, .. }) in &verdicts {
        assert!(survivors.is_empty(), "{port}: no behaviour rejects {survivors:?}");
        assert!(idle.is_empty(), "{port}: these behaviours reject no mutant: {idle:?}");
    }
}
