//! The suites on adapters with a defect: some behaviour rejects each mutant, and each behaviour
//! rejects some mutant.
//!
//! `mutants.txt` has a mutant and a behaviour on each line, by ports. Only these are run: all
//! behaviours on all mutants take a quarter of an hour. To find who rejects a new mutant, add it:
//! the message names its behaviours.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{iter, panic, thread};

use dragline_testkit::mutants::{
    ArchiveMutation, DocumentsMutation, FetcherMutation, FrontierMutation, Mutant, QueueMutation, ReaderMutation,
    RemakingMutation, RetentionMutation,
};
use tokio::runtime::{Builder, Runtime};

use super::adapters;

/// Whether a behaviour rejects a mutant; `None` where its suites have none of this name.
type Rejection = Option<bool>;

async fn judge_frontier(mutation: FrontierMutation, behaviour: &str) -> Rejection {
    let frontier = async {
        let (frontier, guard) = adapters::frontier().await;
        (Mutant::new(frontier, mutation), guard)
    };
    let rejection = dragline_testkit::frontier_suite!(rejection, (behaviour, frontier));
    if rejection.is_some() {
        return rejection;
    }
    let log = async {
        let ((frontier, reader), guard) = adapters::log().await;
        ((Mutant::new(frontier, mutation), reader), guard)
    };
    dragline_testkit::log_suite!(rejection, (behaviour, log))
}

async fn judge_archive(mutation: ArchiveMutation, behaviour: &str) -> Rejection {
    let archive = async {
        let (archive, guard) = adapters::archive().await;
        (Mutant::new(archive, mutation), guard)
    };
    dragline_testkit::archive_suite!(rejection, (behaviour, archive))
}

async fn judge_documents(mutation: DocumentsMutation, behaviour: &str) -> Rejection {
    let documents = async {
        let ((frontier, documents), guard) = adapters::documents().await;
        ((frontier, Mutant::new(documents, mutation)), guard)
    };
    dragline_testkit::documents_suite!(rejection, (behaviour, documents))
}

async fn judge_reader(mutation: ReaderMutation, behaviour: &str) -> Rejection {
    let reader = async {
        let ((frontier, documents, reader), guard) = adapters::reader().await;
        ((frontier, documents, Mutant::new(reader, mutation)), guard)
    };
    dragline_testkit::reader_suite!(rejection, (behaviour, reader))
}

async fn judge_retention(mutation: RetentionMutation, behaviour: &str) -> Rejection {
    let retained = async {
        let ((frontier, documents, reader, retained), guard) = adapters::retained().await;
        ((frontier, documents, reader, Mutant::new(retained, mutation)), guard)
    };
    dragline_testkit::retention_suite!(rejection, (behaviour, retained))
}

async fn judge_remaking(mutation: RemakingMutation, behaviour: &str) -> Rejection {
    let remaking = async {
        let ((frontier, documents, reader, remaking, retained), guard) = adapters::remaking().await;
        let remaking = Mutant::new((remaking, documents.clone()), mutation);
        ((frontier, documents, reader, remaking, retained), guard)
    };
    dragline_testkit::remaking_suite!(rejection, (behaviour, remaking))
}

async fn judge_queue(mutation: QueueMutation, behaviour: &str) -> Rejection {
    let queue = async {
        let ((queue, receiver), guard) = adapters::queue().await;
        ((Mutant::new(queue, mutation), receiver), guard)
    };
    dragline_testkit::queue_suite!(rejection, (behaviour, queue))
}

async fn judge_sessions(mutation: FetcherMutation, behaviour: &str) -> Rejection {
    let fetcher = async {
        let ((fetcher, sites), guard) = adapters::scripted().await;
        ((Mutant::new(fetcher, mutation), sites), guard)
    };
    dragline_testkit::session_suite!(rejection, (behaviour, fetcher))
}

/// The lines of a port in `mutants.txt`: a mutant, and a behaviour that rejects it.
fn expected_lines(port: &str) -> Vec<(&'static str, &'static str)> {
    let lines = include_str!("mutants.txt").lines();
    let mut lines = lines.skip_while(|line| line.strip_prefix("# ") != Some(port));
    assert!(lines.next().is_some(), "mutants.txt has no section {port}");
    lines.map_while(|line| line.split_once(' ').filter(|(mutant, _)| *mutant != "#")).collect()
}

/// The name of threads whose panics are verdicts and are not printed.
const JUDGE: &str = "judge";

/// Returns what is wrong with the lines of a port: mutants that survive, and mutants and behaviours
/// that are missing.
fn judge_all<M: Copy + Debug + Sync>(
    port: &str,
    mutations: &[M],
    behaviours: &[&'static str],
    rejects: impl Fn(&Runtime, M, &str) -> Rejection + Sync,
) -> Vec<String> {
    let expected = expected_lines(port);
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    // Each mutant with its behaviours, or with all where it has none.
    let cases: Vec<_> = mutations
        .iter()
        .map(|&mutation| {
            let name = format!("{mutation:?}");
            let own = expected.iter().filter(|(mutant, _)| *mutant == name).map(|&(_, behaviour)| behaviour);
            (mutation, own.collect::<Vec<_>>())
        })
        .collect();
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, usize::from) {
            let judge = thread::Builder::new().name(JUDGE.to_owned());
            judge
                .spawn_scoped(scope, || {
                    // Paused time advances when there is nothing else to do, so that waiting in
                    // vain takes no time.
                    let runtime = Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
                    let cases = iter::from_fn(|| cases.get(next.fetch_add(1, Ordering::Relaxed)));
                    for (mutation, own) in cases {
                        let complaints: Vec<_> = if own.is_empty() {
                            let all = behaviours.iter().filter(|name| rejects(&runtime, *mutation, name) == Some(true));
                            vec![format!("{mutation:?} has no line; rejected by {:?}", all.collect::<Vec<_>>())]
                        } else {
                            let survived = own.iter().filter(|name| rejects(&runtime, *mutation, name) != Some(true));
                            survived.map(|name| format!("{mutation:?} is not rejected by {name}")).collect()
                        };
                        wrong.lock().unwrap().extend(complaints);
                    }
                })
                .unwrap();
        }
    });
    let mut wrong = wrong.into_inner().unwrap();
    let known: BTreeSet<_> = mutations.iter().map(|mutation| format!("{mutation:?}")).collect();
    let unknown = expected.iter().filter(|(mutant, _)| !known.contains(*mutant));
    wrong.extend(unknown.map(|(mutant, _)| format!("{mutant} is no mutant")));
    let idle = behaviours.iter().filter(|name| !expected.iter().any(|(_, behaviour)| behaviour == *name));
    wrong.extend(idle.map(|name| format!("{name} rejects no mutant")));
    wrong
}

/// Judges the mutants of several adapters, each with its suites.
macro_rules! judge_ports {
    ($($port:literal: $mutation:ident by $judge:ident, of $($suite:ident)+;)*) => {[$((
        $port,
        judge_all(
            $port,
            $mutation::ALL,
            &[$(&dragline_testkit::$suite!(names, ())[..]),+].concat(),
            |runtime, mutation, behaviour| runtime.block_on($judge(mutation, behaviour)),
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
        "Fetcher": FetcherMutation by judge_sessions, of session_suite;
    };
    let wrong: Vec<_> =
        verdicts.iter().flat_map(|(port, wrong)| wrong.iter().map(move |what| format!("{port}: {what}"))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
