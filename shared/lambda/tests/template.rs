//! Compares the stack's template with what the functions need. Its tables are compared where they are defined, in the AWS adapters.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use dragline_lambda::Settings;
use dragline_lambda::testing::Template;

const FUNCTION: &str = "AWS::Serverless::Function";

const QUEUE: &str = "AWS::SQS::Queue";

/// The log level, which the setup of logging reads by itself.
const LOG_LEVEL: &str = "DRAGLINE_LOG";

fn functions() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../functions")
}

#[test]
fn every_function_of_the_checkout_is_in_the_template_and_no_other() {
    let template = Template::read();
    let named: BTreeSet<String> = template.named(FUNCTION).map(str::to_lowercase).collect();
    let packages = fs::read_dir(functions())
        .unwrap()
        .map(Result::unwrap)
        .filter(|entry| entry.path().join("Cargo.toml").is_file());
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
        let main = functions().join(function.to_lowercase()).join("src/main.rs");
        let main = fs::read_to_string(main).unwrap();
        for name in variables.keys() {
            let is_read = read.borrow().contains(name) || main.contains(&format!("\"{name}\""));
            assert!(is_read, "{function} does not read {name}");
        }
    }
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
fn every_queue_is_read_by_one_function_or_is_the_dead_letters_of_one_queue() {
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
