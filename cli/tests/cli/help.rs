//! `--help`, `help` and `--version`.

use super::dragline_alone;

/// Returns the name of a snapshot that depends on whether the commands for a deployed stack are
/// built in.
fn by_build(name: &str) -> String {
    if cfg!(feature = "stack") { format!("{name}_with_stack") } else { name.to_owned() }
}

#[test]
fn each_command_explains_itself() {
    for (name, arguments) in [
        ("dragline", &["--help"][..]),
        ("crawl", &["crawl", "--help"]),
        ("reparse", &["reparse", "--help"]),
        ("status", &["status", "--help"]),
        ("diff", &["diff", "--help"]),
        ("export", &["export", "--help"]),
        ("history", &["history", "--help"]),
        ("get", &["get", "--help"]),
        ("explain", &["explain", "--help"]),
        ("prune", &["prune", "--help"]),
        ("forget", &["forget", "--help"]),
    ] {
        let ran = dragline_alone(arguments);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{name}: help is an answer");
        assert!(!ran.stdout.contains('\u{1b}'), "{name}: no colour where nobody sees it");
        let knows_stacks = matches!(
            name,
            "dragline" | "reparse" | "status" | "diff" | "export" | "history" | "get" | "explain" | "prune" | "forget"
        );
        insta::assert_snapshot!(if knows_stacks { by_build(name) } else { name.to_owned() }, ran.stdout);
    }
}

#[cfg(feature = "stack")]
#[test]
fn each_command_for_a_stack_explains_itself() {
    for name in ["start", "put", "pause", "resume", "stop", "remove"] {
        let ran = dragline_alone(&[name, "--help"]);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{name}: help is an answer");
        insta::assert_snapshot!(name, ran.stdout);
    }
}

#[test]
fn help_is_a_command_too() {
    for (command, flag) in [
        (&["help"][..], &["--help"][..]),
        (&["help", "crawl"], &["crawl", "--help"]),
        (&["help", "explain"], &["explain", "--help"]),
    ] {
        let (by_command, by_flag) = (dragline_alone(command), dragline_alone(flag));
        assert_eq!((by_command.code, by_command.stderr.as_str()), (Some(0), ""), "{command:?}");
        assert_eq!(by_command.stdout, by_flag.stdout, "{command:?} says what {flag:?} says");
    }
    assert_eq!(dragline_alone(&["help", "crwal"]).code, Some(2), "help on nothing");
}

#[test]
fn the_version_is_that_of_the_package() {
    let ran = dragline_alone(&["--version"]);
    assert_eq!(ran.stdout, concat!("dragline ", env!("CARGO_PKG_VERSION"), "\n"));
    assert_eq!(ran.code, Some(0));
}
