//! The commands for a deployed stack, as far as they get without one.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{Ran, command, ran};

/// Returns a command that finds neither a region nor credentials on any machine.
fn nowhere(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = command(directory, arguments);
    let variables = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for name in variables.filter(|name| name.starts_with("AWS_")) {
        command.env_remove(name);
    }
    let nothing = directory.join("nothing");
    command.env("AWS_CONFIG_FILE", &nothing).env("AWS_SHARED_CREDENTIALS_FILE", &nothing);
    command.env("AWS_EC2_METADATA_DISABLED", "true").env_remove("DRAGLINE_STACK");
    command
}

fn assert_reported(ran: &Ran, said: &str, why: &str) {
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{why}: {}", ran.stderr);
    assert!(ran.stderr.starts_with("error: "), "{why}: {}", ran.stderr);
    assert!(ran.stderr.contains(said), "{why}: {}", ran.stderr);
}

#[test]
fn mistakes_are_reported_before_anything_is_sent() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("wrong.yaml"), "seeds: [https://example.org/]\nbudget:\n  page: 100\n").unwrap();
    fs::write(directory.path().join("often.yaml"), "seeds: [https://example.org/]\nschedule: {cron: '* * * * *'}\n")
        .unwrap();
    fs::write(directory.path().join("number.yaml"), "name: 1.10\nseeds: [https://example.org/]\n").unwrap();
    for (arguments, said, why) in [
        (&["start"][..], "<CRAWL|URL>", "which crawl?"),
        (&["start", "Docs"], "`Docs` is not a valid crawl name", "a name is lower case"),
        (&["start", "ftp://example.org/"], "only http and https are crawled", "another protocol"),
        (&["start", "https://user:secret@example.org/"], "remove what comes before the `@`", "credentials"),
        (&["start", "docs", "-f", "wrong.yaml"], "cannot be used with", "both"),
        (&["start", "-f", "wrong.yaml"], "wrong.yaml:3:3: unknown key `page`", "with its location"),
        (&["start", "docs", "--stack", "a b"], "is not a valid stack name", "CloudFormation would refuse it"),
        (&["put"], "<crawl.yaml>", "which definition?"),
        (&["put", "missing.yaml"], "missing.yaml cannot be read", "no such file"),
        (&["put", "wrong.yaml"], "hint: did you mean `pages`?", "and the hint"),
        (&["put", "often.yaml"], "the minimum is 5 minutes", "the schedule is checked too"),
        (&["put", "number.yaml"], "hint: put quotation marks around", "JSON would write it as 1.1"),
        (&["stop"], "<CRAWL>", "which crawl?"),
        (&["pause", "no name"], "is not a valid crawl name", "two words"),
        (&["status", "docs", "--data", "a"], "cannot be used with", "a stack and a directory"),
        (&["status", "docs", "--crawl", "docs"], "cannot be used with", "two names"),
        (
            &["status", "--crawl", "docs", "--stack", "a", "--data", "b"],
            "cannot be used with",
            "a stack and a directory",
        ),
        (&["reparse", "--stack", "staging", "--all"], "no crawl of the stack `staging` is named", "of the past, too"),
        (
            &["reparse", "wrong.yaml", "--stack", "a", "--all"],
            "wrong.yaml:",
            "it is read before anything is looked for",
        ),
        (&["reparse", "wrong.yaml", "--stack", "a"], "`dragline put crawl.yaml --stack a`", "a stack stores it first"),
        (&["reparse", "docs", "--data", "a"], "`docs` is not the file of a definition", "a directory has it"),
        (&["reparse", "--stack", "staging"], "no crawl of the stack `staging` is named", "a stack holds many"),
        (&["status", "--stack", "staging"], "no crawl of the stack `staging` is named", "a stack holds many"),
        (&["export", "--what", "log", "--stack", "staging"], "no crawl of the stack", "the same"),
        (&["history", "https://a.example/", "--stack", "staging"], "as in `--crawl docs --stack staging`", "the same"),
        (
            &["history", "https://a.example/", "--crawl", "docs", "--stack", "a", "--data", "b"],
            "cannot be used with",
            "a stack and a directory",
        ),
    ] {
        let ran = ran(&mut nowhere(directory.path(), arguments));
        assert_reported(&ran, said, why);
        assert!(!ran.stderr.contains("secret"), "{arguments:?}: credentials are never printed");
    }
}

#[test]
fn missing_aws_settings_are_reported_with_a_hint() {
    let directory = tempfile::tempdir().unwrap();
    for arguments in [&["start", "docs"][..], &["status", "docs"], &["export", "--what", "log", "docs"]] {
        let no_region = ran(&mut nowhere(directory.path(), arguments));
        assert_reported(&no_region, "no AWS region is configured\nhint: set AWS_REGION", "no region");
        let no_credentials = ran(nowhere(directory.path(), arguments).env("AWS_REGION", "eu-central-1"));
        assert_reported(&no_credentials, "error: there are no AWS credentials: ", "no credentials");
        assert!(no_credentials.stderr.contains("hint: set AWS_PROFILE"), "{}", no_credentials.stderr);
        let no_name = ran(nowhere(directory.path(), arguments).env("DRAGLINE_STACK", "a b"));
        assert_reported(&no_name, "DRAGLINE_STACK: `a b` is not a valid stack name", "the variable is wrong");
    }
}

#[test]
fn without_a_crawls_name_the_directory_is_read_whatever_the_environment_says() {
    let directory = tempfile::tempdir().unwrap();
    let ran = ran(nowhere(directory.path(), &["status"]).env("DRAGLINE_STACK", "staging"));
    assert_reported(&ran, "dragline-data holds no crawl", "no stack is read");
}
