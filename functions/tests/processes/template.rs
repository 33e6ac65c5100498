//! Compares the stack's template with the functions' needs. The AWS adapters compare its tables.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use dragline_lambda::Settings;
use dragline_testkit::functions::Template;
use serde_json::json;

const FUNCTION: &str = "AWS::Serverless::Function";

const QUEUE: &str = "AWS::SQS::Queue";

const RENDERER: &str = "Renderer";

const ALARM: &str = "AWS::CloudWatch::Alarm";

/// The variable with the log level, which only the setup of logging reads.
const LOG_LEVEL: &str = "RUST_LOG";

/// Returns the package of a function: the renderer is the crawler with a browser.
fn package(function: &str) -> String {
    if function == RENDERER { "crawler".to_owned() } else { function.to_lowercase() }
}

fn functions() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

#[test]
fn every_function_of_the_checkout_is_in_the_template_and_no_other() {
    let template = Template::read();
    let named: BTreeSet<String> = template.named(FUNCTION).map(package).collect();
    let packages =
        fs::read_dir(functions()).unwrap().map(Result::unwrap).filter(|entry| entry.path().join("main.rs").is_file());
    let packages: BTreeSet<String> = packages.map(|entry| entry.file_name().into_string().unwrap()).collect();
    assert_eq!(named, packages, "in infra/template.yaml, and in functions/");
    assert!(!named.is_empty(), "there are functions");
}

#[test]
fn every_function_has_the_settings_that_all_of_them_read() {
    let template = Template::read();
    for function in template.named(FUNCTION) {
        let variables = template.function(function).variables;
        let settings = Settings::read(|name| variables.get(name).cloned());
        assert!(settings.is_ok(), "{function}: {settings:?}");
    }
}

#[test]
fn public_functions_have_a_concurrency_limit() {
    let template = Template::read();
    let mut count = 0;
    for function in template.named(FUNCTION) {
        let url = template.property(function, FUNCTION, "FunctionUrlConfig");
        if !url["AuthType"].to_string().contains("NONE") {
            continue;
        }
        let reserved = template.property(function, FUNCTION, "ReservedConcurrentExecutions");
        let expected = json!(["SearchersAreLimited", "SearcherConcurrency", ["AnyoneSearches", 10, "AWS::NoValue"]]);
        assert_eq!(*reserved, expected, "{function}: as asked for, or else ten if anyone may call it");
        count += 1;
    }
    assert_eq!(count, 1, "only the searcher has a URL for anyone");
}

#[test]
fn every_variable_of_a_function_is_read_by_it() {
    let template = Template::read();
    for function in template.named(FUNCTION) {
        let variables = template.function(function).variables;
        let read = RefCell::new(vec![LOG_LEVEL.to_owned()]);
        Settings::read(|name| {
            read.borrow_mut().push(name.to_owned());
            variables.get(name).cloned()
        })
        .unwrap();
        let module = functions().join(package(function)).join("mod.rs");
        let mut module = fs::read_to_string(module).unwrap();
        let called = [
            ("stack_defaults(", "defaults.rs"),
            ("renders_url(", "defaults.rs"),
            ("fetchers(", "network.rs"),
            ("browsers(", "crawler/browser.rs"),
        ];
        for (called, file) in called {
            if module.contains(called) {
                module += &fs::read_to_string(functions().join(file)).unwrap();
            }
        }
        for name in variables.keys() {
            let is_read = read.borrow().contains(name) || module.contains(&format!("\"{name}\""));
            assert!(is_read, "{function} does not read {name}");
        }
    }
}

#[test]
fn the_renderer_may_do_what_the_crawler_may_and_no_more() {
    let template = Template::read();
    let policies = |function| template.property(function, FUNCTION, "Policies").to_string();
    let also_to_renderers = r#",["Renders","RenderTurns.Arn","AWS::NoValue"]"#;
    assert_eq!(
        policies(RENDERER).replace("RenderTurns.Arn", "Turns.Arn"),
        policies("Crawler").replace(also_to_renderers, "")
    );
}

#[test]
fn a_message_is_hidden_for_longer_than_its_function_may_take() {
    let template = Template::read();
    for name in template.named(FUNCTION) {
        let function = template.function(name);
        for queue in &function.queues {
            let hidden = template.queue(queue).hidden;
            assert!(hidden > function.timeout, "{queue} hides for {hidden:?}, {name} may take {:?}", function.timeout);
        }
    }
}

#[test]
fn messages_are_kept_for_as_long_as_sqs_can() {
    // Tickets of an iteration that lasts for weeks wait longer than the default of four days.
    const FORTNIGHT_S: i64 = 14 * 24 * 60 * 60;
    let template = Template::read();
    for queue in template.named(QUEUE) {
        assert_eq!(*template.property(queue, QUEUE, "MessageRetentionPeriod"), json!(FORTNIGHT_S), "{queue}");
    }
}

#[test]
fn every_queue_has_one_function_or_is_a_dead_letter_queue() {
    let template = Template::read();
    let read: Vec<String> = template.named(FUNCTION).flat_map(|name| template.function(name).queues).collect();
    let dead = read.iter().map(|queue| {
        let dead = template.queue(queue).dead_letters;
        dead.unwrap_or_else(|| panic!("{queue} has no dead-letter queue"))
    });
    let mut used: Vec<String> = dead.chain(read.clone()).collect();
    used.sort();
    let mut all: Vec<&str> = template.named(QUEUE).collect();
    all.sort_unstable();
    assert_eq!(used, all, "queues that are used, once each, and queues that there are");
}

/// Returns the seconds of `rate(5 minutes)`.
fn rate_s(rate: &str) -> u64 {
    let minutes = rate.trim_start_matches("rate(").split(' ').next().unwrap_or_default();
    60 * minutes.parse::<u64>().unwrap_or_else(|_| panic!("{rate} is a number of minutes"))
}

/// Returns the alarm of a metric that watches this function or queue.
fn find_alarm<'t>(template: &'t Template, metric: &str, watched: &str) -> &'t str {
    let is_it = |alarm: &&str| {
        let of = |property| template.property(alarm, ALARM, property);
        let name = of("Dimensions")[0]["Value"].as_str().unwrap_or_default();
        of("MetricName") == metric && name.split('.').next() == Some(watched)
    };
    template.named(ALARM).find(is_it).unwrap_or_else(|| panic!("no alarm of {metric} watches {watched}"))
}

#[test]
fn a_function_that_always_fails_raises_its_alarm() {
    let template = Template::read();
    for name in template.named(FUNCTION) {
        let function = template.function(name);
        let again_s = function.queues.iter().map(|queue| template.queue(queue).hidden.as_secs());
        let longest_s = again_s.chain(template.rates(name).iter().map(|rate| rate_s(rate))).max();
        let longest_s = longest_s.unwrap_or_else(|| panic!("nothing runs {name} by itself"));
        let alarm = find_alarm(&template, "Errors", name);
        let number = |property| template.property(alarm, ALARM, property).as_u64().unwrap();
        let period_s = number("Period");
        assert!(
            period_s >= longest_s,
            "{alarm}: a failure each {longest_s} s leaves periods of {period_s} s without one"
        );
        assert!(
            number("DatapointsToAlarm") < number("EvaluationPeriods"),
            "{alarm}: a run that comes late is forgiven"
        );
    }
}

#[test]
fn old_and_dead_messages_raise_an_alarm() {
    let template = Template::read();
    for name in template.named(FUNCTION) {
        for queue in template.function(name).queues {
            let aged = find_alarm(&template, "ApproximateAgeOfOldestMessage", &queue);
            let threshold_s = template.property(aged, ALARM, "Threshold").as_u64().unwrap();
            assert!(
                (600..14 * 86_400).contains(&threshold_s),
                "{aged} fires before messages are lost: {threshold_s} s"
            );
            let dead = template.queue(&queue).dead_letters.unwrap();
            find_alarm(&template, "ApproximateNumberOfMessagesVisible", &dead);
        }
    }
}
