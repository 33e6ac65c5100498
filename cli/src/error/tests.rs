use std::path::PathBuf;

use dragline_domain::definition::{Definition, Draft};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_local::OpenError;

use super::*;
use crate::crawl_handle::{cannot_query, choose, no_iteration_error};
use crate::definition_source::{Source, parse_url};
use crate::location::{CrawlLocation, Directory};
use crate::url_visits::{not_known_error, not_visited_error};

#[test]
fn every_mistake_of_a_user_is_reported_with_a_hint() {
    let data = || PathBuf::from("news");
    let crawl = |name: &str| name.parse::<CrawlId>().unwrap();
    let alone = || Directory { path: data(), crawl: None, cache: None };
    let among_others = || Directory { path: data(), crawl: Some(crawl("docs")), cache: None };
    let unsound = |change: fn(&mut Draft)| {
        let mut draft = Draft::for_seeds(vec![parse_url("https://example.org/").unwrap()]);
        change(&mut draft);
        Failure::from(Definition::new(draft).unwrap_err())
    };
    let mixed = ["https://example.org/".to_owned(), "crawl.yaml".to_owned()];
    let page = parse_url("https://example.org/a").unwrap();
    let failures = [
        parse_url("example.org").unwrap_err(),
        parse_url("ftp://example.org/").unwrap_err(),
        Source::choose(&mixed, |_| false).unwrap_err(),
        unsound(|draft| draft.politeness.concurrency = 0),
        unsound(|draft| draft.scope.exclude = vec!["example".parse().unwrap()]),
        alone().not_begun_error(),
        among_others().not_begun_error(),
        no_iteration_error(&crawl("docs"), Iteration::new(9).unwrap(), Iteration::new(2).unwrap()),
        choose(&data(), &[crawl("docs"), crawl("news.example.org")], None).unwrap_err(),
        choose(&data(), &(10..22).map(|n| crawl(&format!("crawl-{n}"))).collect::<Vec<_>>(), None).unwrap_err(),
        choose(&data(), &[crawl("docs")], Some(&crawl("doc"))).unwrap_err(),
        not_known_error(&CrawlLocation::Data(among_others()), &crawl("docs"), &page),
        not_visited_error(&crawl("docs"), &page),
        OpenError::InUse(data()).into(),
        OpenError::NoCrawl(data()).into(),
        PortError::new(PortErrorKind::Full, "commit segment", "example.org", "database or disk is full").into(),
        PortError::new(PortErrorKind::Unavailable, "progress", "example.org", "database is locked").into(),
        cannot_query(&data())(PortError::new(
            PortErrorKind::Corrupt,
            "read log",
            "news",
            "database disk image is malformed",
        )),
        while_writing(io::Error::from(io::ErrorKind::StorageFull)),
    ];
    insta::assert_snapshot!(failures.map(|failure| failure.shown()).join("\n\n"));
}

#[test]
fn a_full_disk_and_a_directory_in_use_have_exit_codes_of_their_own() {
    let port = |kind| PortError::new(kind, "commit segment", "example.org", "it says");
    let data = || PathBuf::from("news");
    let cannot_write = |kind| while_writing(io::Error::from(kind));
    for (failure, expected, why) in [
        (Failure::from(OpenError::InUse(data())), Exit::InUse, "another process has it"),
        (OpenError::NoCrawl(data()).into(), Exit::Error, "a mistake"),
        (port(PortErrorKind::Full).into(), Exit::DiskFull, "a commit found no room"),
        (cannot_query(&data())(port(PortErrorKind::Full)), Exit::DiskFull, "so did a question"),
        (port(PortErrorKind::Corrupt).into(), Exit::Error, "unrecoverable"),
        (cannot_write(io::ErrorKind::StorageFull), Exit::DiskFull, "so did the answer"),
        (cannot_write(io::ErrorKind::PermissionDenied), Exit::Error, "unrecoverable"),
    ] {
        assert_eq!(failure.exit, expected, "{why}: {failure:?}");
    }
}

#[test]
fn a_closed_pipe_is_told_from_other_errors_of_the_output() {
    for (failure, expected, why) in [
        (while_writing(io::Error::from(io::ErrorKind::BrokenPipe)), true, "the reader has seen enough"),
        (while_writing(io::Error::from(io::ErrorKind::StorageFull)), false, "the answer is lost"),
        (while_doing("reading")(io::Error::from(io::ErrorKind::BrokenPipe)), false, "another pipe"),
    ] {
        assert_eq!(failure.is_closed_output, expected, "{why}: {failure:?}");
    }
}
