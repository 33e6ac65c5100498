//! What the command says about itself.

use super::dragline_alone;

#[test]
fn each_command_explains_itself() {
    for (name, arguments) in [
        ("dragline", &["--help"][..]),
        ("crawl", &["crawl", "--help"]),
        ("status", &["status", "--help"]),
        ("export", &["export", "--help"]),
        ("explain", &["explain", "--help"]),
    ] {
        let ran = dragline_alone(arguments);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{name}: help is an answer");
        assert!(!ran.stdout.contains('\u{1b}'), "{name}: no colour where nobody sees it");
        insta::assert_snapshot!(name, ran.stdout);
    }
}

#[test]
fn the_version_is_that_of_the_package() {
    let ran = dragline_alone(&["--version"]);
    assert_eq!(ran.stdout, concat!("dragline ", env!("CARGO_PKG_VERSION"), "\n"));
    assert_eq!(ran.code, Some(0));
}
