use dragline_domain::definition::{Definition, Draft};

use super::*;
use crate::exit::Exit;

fn shown(error: &CliError) -> String {
    let mut lines = vec![format!("error: {error}")];
    lines.extend(error.hints().iter().map(|hint| format!("hint: {hint}")));
    lines.join("\n")
}

#[test]
fn every_mistake_of_a_user_is_reported_with_a_hint() {
    let data = || PathBuf::from("news");
    let crawl = |name: &str| name.parse::<CrawlId>().unwrap();
    let alone = || Directory { path: data(), crawl: None, cache: None };
    let among_others = || Directory { path: data(), crawl: Some(crawl("docs")), cache: None };
    let unsound = |change: fn(&mut Draft)| {
        let seed = crate::definition_source::parse_url("https://example.org/").unwrap();
        let mut draft = Draft::for_seeds(vec![seed]);
        change(&mut draft);
        CliError::from(Definition::new(draft).unwrap_err())
    };
    let errors = [
        crate::definition_source::parse_url("example.org").unwrap_err(),
        crate::definition_source::parse_url("ftp://example.org/").unwrap_err(),
        CliError::DefinitionAmongUrls("crawl.yaml".to_owned()),
        unsound(|draft| draft.politeness.concurrency = 0),
        unsound(|draft| draft.scope.exclude = vec!["example".parse().unwrap()]),
        CliError::NothingToCrawl { data: data() },
        CliError::NoUrls { lines: vec!["urls.txt:2: `x` cannot be crawled: why".to_owned()], more: 0 },
        CliError::NoUrls { lines: vec!["a:1: why".to_owned(), "a:3: why".to_owned()], more: 1_234 },
        CliError::NotBegun(alone()),
        CliError::NotBegun(among_others()),
        CliError::NoVersion { crawl: crawl("docs"), wanted: 9, newest: 2 },
        CliError::NoIteration {
            crawl: crawl("docs"),
            wanted: Iteration::new(9).unwrap(),
            latest: Iteration::new(2).unwrap(),
        },
        CliError::NotCompared { crawl: crawl("docs"), source: SpanError::NothingBefore },
        CliError::NotCompared {
            crawl: crawl("docs"),
            source: SpanError::NotBefore { from: Iteration::new(3).unwrap(), to: Iteration::FIRST },
        },
        CliError::WhichCrawl { data: data(), crawls: vec![crawl("docs"), crawl("news.example.org")] },
        CliError::WhichCrawl { data: data(), crawls: (10..22).map(|n| crawl(&format!("crawl-{n}"))).collect() },
        CliError::NoCrawl { data: data(), wanted: crawl("doc"), crawls: vec![crawl("docs")] },
        CliError::NotKnown {
            url: crate::definition_source::parse_url("https://example.org/a").unwrap(),
            crawl: crawl("docs"),
            arguments: among_others().flags(),
        },
        CliError::Get(GetError::NotVisited {
            url: crate::definition_source::parse_url("https://example.org/a").unwrap(),
            iteration: Iteration::FIRST,
            history: format!("dragline history https://example.org/a{}", among_others().flags()),
        }),
        CliError::Get(GetError::NotText),
        CliError::Get(GetError::Missing { object: "raw/docs/1/https,example.org/1-0-ff.warc.gz".to_owned() }),
        CliError::NotVisited {
            url: crate::definition_source::parse_url("https://example.org/a").unwrap(),
            crawl: crawl("docs"),
        },
        CliError::Outgrown {
            keys: vec![Key::ScopeExclude, Key::BudgetPages],
            go_on: "dragline crawl --data news".to_owned(),
        },
        CliError::AllowedBefore {
            directory: alone(),
            allowance: Allowance::UncheckedCertificates,
            go_on: "dragline crawl --data news".to_owned(),
        },
        CliError::AllowedBefore {
            directory: among_others(),
            allowance: Allowance::PrivateAddresses,
            go_on: among_others().command_to_resume(),
        },
        CliError::Open(OpenError::InUse(data())),
        CliError::Open(OpenError::NoCrawl(data())),
        CliError::Port(PortError::new(
            PortErrorKind::Full,
            "commit segment",
            "example.org",
            "database or disk is full",
        )),
        CliError::Port(PortError::new(PortErrorKind::Unavailable, "progress", "example.org", "database is locked")),
        CliError::Query {
            data: data(),
            source: PortError::new(PortErrorKind::Corrupt, "read log", "news", "database disk image is malformed"),
        },
        CliError::System { doing: WRITING, source: io::Error::from(io::ErrorKind::StorageFull) },
    ];
    insta::assert_snapshot!(errors.iter().map(shown).collect::<Vec<_>>().join("\n\n"));
}

#[test]
fn a_full_disk_and_a_directory_in_use_have_exit_codes_of_their_own() {
    let port = |kind| PortError::new(kind, "commit segment", "example.org", "it says");
    let data = || PathBuf::from("news");
    let system = |kind| CliError::System { doing: WRITING, source: io::Error::from(kind) };
    for (error, expected, why) in [
        (CliError::Open(OpenError::InUse(data())), Exit::InUse, "another process has it"),
        (CliError::Open(OpenError::NoCrawl(data())), Exit::Error, "a mistake"),
        (CliError::Port(port(PortErrorKind::Full)), Exit::DiskFull, "a commit found no room"),
        (CliError::Query { data: data(), source: port(PortErrorKind::Full) }, Exit::DiskFull, "so did a question"),
        (CliError::Port(port(PortErrorKind::Corrupt)), Exit::Error, "unrecoverable"),
        (system(io::ErrorKind::StorageFull), Exit::DiskFull, "so did the answer"),
        (system(io::ErrorKind::PermissionDenied), Exit::Error, "unrecoverable"),
    ] {
        assert_eq!(error.exit(), expected, "{why}: {error}");
    }
}
