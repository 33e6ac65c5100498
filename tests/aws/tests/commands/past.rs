//! The past of a stack made again: the same as that of a data directory, the same however often,
//! and wherever it dies.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dragline_aws::{ATTEMPTS_MAX, http_client};
use dragline_aws_tests::clients_over;
use dragline_aws_tests::faults::{Fault, Faults};
use dragline_aws_tests::{EmulatedStack, Ran, dragline};
use dragline_domain::definition::Definition;
use dragline_domain::remake::RemakeTotals;
use dragline_testkit::hostile::{HostileSite, html, links, reply};
use dragline_testkit::whole_crawls::crawl;
use serde_json::Value;

/// How many chairs there are.
const CHAIRS: usize = 4;

/// A shop whose prices are in an attribute, which is no part of any text, and change daily, but for
/// that of the second chair, whose page has a comment that does. The third is sold out on the
/// second day. All pages but one call the first chair canonical where they are asked with a
/// parameter.
async fn shop(day: Arc<AtomicUsize>) -> HostileSite {
    HostileSite::start(move |asked| {
        let day = day.load(Ordering::Relaxed);
        match asked.target.as_str() {
            "/robots.txt" => reply(404, &[], ""),
            "/" => {
                let chairs: Vec<String> = (1..=CHAIRS).map(|n| format!("/chair/{n}")).collect();
                let all = chairs.iter().map(String::as_str).chain(["/moved", "/chair/1?from=home"]);
                html(format!("<title>Shop</title>{}", links(all)))
            }
            "/moved" => reply(301, &["location: /chair/1"], ""),
            "/chair/2" => html(chair("2", "7", &format!("<!-- {day} -->"))),
            "/chair/3" if day == 2 => reply(404, &[], ""),
            "/chair/1?from=home" => html(chair("1", "8", "<link rel=canonical href=/chair/1>")),
            target => html(chair(target.rsplit('/').next().unwrap_or_default(), &day.to_string(), "")),
        }
    })
    .await
}

fn chair(n: &str, price: &str, more: &str) -> String {
    format!("<title>Chair {n}</title>{more}<h1>Chair {n}</h1><b data-price='{price}.50'></b><p>Sit down on {n}.</p>")
}

const BROKEN: &str = "name: { css: h9, required: true }";
const PRICE: &str = "name: { css: h1, required: true }\n      price: { css: b, attribute: data-price, kind: number }";

fn yaml(site: &HostileSite, fields: &str) -> String {
    format!(
        "name: docs\nseeds: ['{}']\nuser_agent: 'Test/1 (+https://contact.example)'\npoliteness: {{ delay: 0s }}\nitems:\n  - type: Chair\n    when: {{ path: {{ prefix: /chair/ }} }}\n    fields:\n      {fields}\n",
        site.url("/")
    )
}

fn definition(site: &HostileSite, fields: &str) -> Definition {
    dragline_definition::parse(&yaml(site, fields), "crawl.yaml").unwrap()
}

/// The rows that a command prints on both engines, without what differs by nature.
fn rows(site: &HostileSite, ran: [Ran; 2]) -> [BTreeSet<String>; 2] {
    ran.map(|ran| {
        assert!(matches!(ran.code, Some(0 | 1)), "{}", ran.stderr);
        let lines = ran.stdout.lines().map(|line| {
            let Ok(Value::Object(mut row)) = serde_json::from_str::<Value>(line) else { return line.to_owned() };
            for name in BY_NATURE {
                row.remove(name);
            }
            Value::Object(row).to_string().replace(&site.url(""), "")
        });
        lines.collect()
    })
}

/// Times, and where captures are stored.
const BY_NATURE: [&str; 17] = [
    "at",
    "duration_ms",
    "first_byte_ms",
    "remote",
    "object",
    "offset",
    "length",
    "first_seen",
    "due_at",
    "last_at",
    "last_contentful_at",
    "interval_ms",
    "last_checked",
    "last_changed",
    "away_since",
    "data",
    "stack",
];

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_definition_is_applied_to_the_past_on_both_engines_alike() {
    let (day, stack, data) = (Arc::new(AtomicUsize::new(1)), EmulatedStack::new().await, tempfile::tempdir().unwrap());
    let (site, folder) = (shop(Arc::clone(&day)).await, data.path());
    let broken = definition(&site, BROKEN);
    for n in 1..=3 {
        day.store(n, Ordering::Relaxed);
        stack.crawl(&broken).await;
        crawl(&folder.join("data"), &broken).await;
    }
    stack.publish(&broken.name).await;
    let before = stack.dump().await;
    let requests = site.targets().len();
    let ask = |arguments: &[&str]| {
        let of_stack = [arguments, &["--crawl", "docs", "--stack", stack.name()]].concat();
        let of_data = [arguments, &["--data", "data"]].concat();
        [of_stack, of_data].map(|arguments| dragline(folder, &arguments))
    };
    let same = |arguments: &[&str]| {
        let [of_stack, of_data] = rows(&site, ask(arguments));
        assert_eq!(of_stack, of_data, "{arguments:?}");
        of_stack
    };
    fs::write(folder.join("crawl.yaml"), yaml(&site, PRICE)).unwrap();
    let made = same(&["reparse", "crawl.yaml", "--all", "--json"]);
    let made: Value = serde_json::from_str(made.first().unwrap()).unwrap();
    assert_eq!((made["kept"].as_u64(), made["misfits"].as_u64()), (Some(0), Some(0)), "{made}");
    assert!(made["different"].as_u64().unwrap() >= 12, "{made}");
    for what in ["pages", "links", "log", "candidates", "items"] {
        assert!(!same(&["export", "--what", what]).is_empty(), "{what}");
    }
    for (iteration, prices) in [("1", vec!["1.5", "7.5", "8.5"]), ("2", vec!["2.5", "7.5"]), ("3", vec!["3.5"])] {
        let items = same(&["export", "--what", "items", "--type", "Chair", "--iteration", iteration]);
        for price in prices {
            assert!(items.iter().any(|row| row.contains(&format!("\"price\":{price}"))), "{iteration}: {items:?}");
        }
        same(&["export", "--what", "log", "--iteration", iteration]);
    }
    for (from, to) in [("1", "2"), ("2", "3"), ("1", "3")] {
        same(&["diff", "--from", from, "--to", to]);
    }
    for path in ["/chair/1", "/chair/2", "/chair/3", "/moved"] {
        // It also says when, and where the records are, which differs.
        let [of_stack, of_data] = ask(&["history", &site.url(path)]).map(|ran| {
            assert_eq!(ran.code, Some(0), "{path}: {}", ran.stderr);
            ["unchanged", "changed", "items", "new", "gone", "back"].map(|word| ran.stdout.matches(word).count())
        });
        assert_eq!(of_stack, of_data, "{path}");
    }
    let [of_stack, of_data] = ask(&["status", "--json"]).map(|ran| {
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let status: Value = serde_json::from_str(&ran.stdout).unwrap();
        ["stuck", "outcomes", "changes", "links_nofollow", "links_beyond_budget", "drifted"]
            .map(|name| status[name].clone())
    });
    assert_eq!(of_stack, of_data);
    assert_eq!(of_stack[0], 0, "the counters agree with the documents");
    assert_eq!(site.targets().len(), requests, "nothing was requested");

    let after = stack.dump().await;
    let has_changed = |prefix: &str| {
        let of = |dump: &BTreeMap<String, String>| {
            dump.iter().filter(|(key, _)| key.starts_with(prefix)).map(|(key, tag)| format!("{key} {tag}")).collect()
        };
        let [before, after]: [Vec<String>; 2] = [of(&before), of(&after)];
        before != after && !after.is_empty()
    };
    for (prefix, why) in [
        ("items/docs/1/", "the items of the first iteration"),
        ("search/docs/editions/", "an edition of the word index"),
        ("reports/docs/", "the report"),
    ] {
        assert!(has_changed(prefix), "{why}: {:?}", after.keys().collect::<Vec<_>>());
    }
    let again = same(&["reparse", "--all", "--json"]);
    assert!(again.first().unwrap().contains("\"different\":0"), "{again:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn wherever_it_dies_on_a_stack_it_goes_on_and_ends_with_the_same_bytes() {
    let faults = Faults::default();
    let stack = EmulatedStack::over(clients_over(faults.over(http_client())).await).await;
    let day = Arc::new(AtomicUsize::new(1));
    let site = shop(Arc::clone(&day)).await;
    let (broken, priced) = (definition(&site, BROKEN), definition(&site, PRICE));
    for n in 1..=3 {
        day.store(n, Ordering::Relaxed);
        stack.crawl(&broken).await;
    }
    let first = stack.dump().await;
    let unchanged = stack.remake(&broken.name).await.unwrap();
    assert_same(&stack.dump().await, &first, "the same definition gives what the parses gave");
    assert_eq!((unchanged.different, unchanged.kept), (0, 0), "{unchanged:?}");
    stack.put(&priced).await;
    let done = stack.remake(&broken.name).await.unwrap();
    let expected = stack.dump().await;
    assert_ne!(expected, first);
    assert_eq!(stack.remake(&broken.name).await.unwrap().different, 0);
    assert_same(&stack.dump().await, &expected, "twice");

    stack.put(&broken).await;
    let back = stack.remake(&broken.name).await.unwrap();
    assert_same(&stack.dump().await, &first, "back to what it was");
    let (mut died, mut ways) = (0, [(&priced, &done, &expected), (&broken, &back, &first)].into_iter().cycle());
    for (operation, passed_max) in [
        // The beginning; then of each segment what is intended, and that it is done.
        ("TransactWriteItems", 4),
        // Documents, the log, candidates, and the end.
        ("PutObject", 1),
        ("PutItem", 1),
        ("BatchExecuteStatement", 1),
        ("DeleteItem", 0),
    ] {
        for (fault, passed) in (0..=passed_max).flat_map(|passed| [(Fault::Lost, passed), (Fault::AnswerLost, passed)])
        {
            let (Some((definition, done, expected)), context) =
                (ways.next(), format!("{fault:?} of {operation} {passed}"))
            else {
                continue;
            };
            stack.put(definition).await;
            let mut plan = vec![Fault::Passed; passed];
            // As often as the client tries.
            plan.extend([fault; ATTEMPTS_MAX as usize]);
            faults.plan(operation, &plan);
            let tried = stack.remake(&broken.name).await;
            assert!(faults.are_over(), "{context}: it struck");
            died += u64::from(tried.is_err());
            let ended = match tried {
                Ok(ended) => ended,
                Err(_) => stack.remake(&broken.name).await.unwrap(),
            };
            // An ending whose answer is lost leaves nothing to go on with: the next run begins
            // anew, and finds all made.
            let different = if operation == "DeleteItem" && fault == Fault::AnswerLost { 0 } else { done.different };
            assert_eq!(ended, RemakeTotals { different, ..*done }, "{context}");
            assert_same(&stack.dump().await, expected, &context);
        }
    }
    assert!(died >= 12, "there is something to die at: {died}");
}

/// Compares row by row, as all of it is too much to read.
fn assert_same(one: &BTreeMap<String, String>, other: &BTreeMap<String, String>, context: &str) {
    let rows = |dump: &BTreeMap<String, String>| {
        dump.iter().map(|(key, value)| format!("{key} = {value}")).collect::<BTreeSet<String>>()
    };
    let (one, other) = (rows(one), rows(other));
    let differ: Vec<&String> = one.symmetric_difference(&other).collect();
    assert!(differ.is_empty(), "{context}: {differ:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn mistakes_are_told_before_anything_is_stored() {
    let (day, stack, data) = (Arc::new(AtomicUsize::new(1)), EmulatedStack::new().await, tempfile::tempdir().unwrap());
    let (site, folder) = (shop(day).await, data.path());
    stack.put(&definition(&site, BROKEN)).await;
    fs::write(folder.join("crawl.yaml"), yaml(&site, PRICE)).unwrap();
    fs::write(folder.join("other.yaml"), yaml(&site, PRICE).replace("name: docs", "name: other")).unwrap();
    for (arguments, says, why) in [
        (&["reparse", "docs", "--all"][..], "has not begun", "it never ran"),
        (&["reparse", "none", "--all"], "there is no crawl `none`", "the stack has no such crawl"),
        (&["reparse", "other.yaml", "--all"], "there is no crawl `other`", "the definition names another"),
        (&["reparse", "crawl.yaml"], "is not stored in the stack", "only the past is made by the command itself"),
    ] {
        let ran = dragline(folder, &[arguments, &["--stack", stack.name()]].concat());
        assert_eq!(ran.code, Some(2), "{why}: {}", ran.stderr);
        assert!(ran.stderr.contains(says), "{why}: {}", ran.stderr);
    }
}
