//! Real robots.txt files from Protego's tests, read by Protego and by us. Protego is written in
//! Python and shares no code with us.
//!
//! It gets the files without their byte order marks, which it does not support.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use dragline_end_to_end::checkout::{judges, succeed};
use dragline_end_to_end::differences::Judgement;
use dragline_formats::robots::Robots;
use serde_json::json;

/// Larger files are skipped: they are few, and take most of the time.
const FILE_BYTES_MAX: u64 = 8 << 10;
/// The most paths to ask about for one file.
const PATHS_MAX: usize = 60;
/// One agent that no file names, which gets the rules for `*`, and some that many files name.
const AGENTS: &[&str] = &["Dragline", "GPTBot", "AhrefsBot", "bingbot"];

const DELAY: &str =
    "a Crawl-delay or an unknown key ends its list of user agents, which section 2.2.4 of RFC 9309 forbids";
const INDEX: &str = "it applies Google's rule for index pages";
const QUERY: &str = "it counts a question mark as the three octets of its encoding, where the longest pattern decides";
const SPACE: &str = "it trims Unicode spaces at the end, where section 2.2 has only two octets as blanks";
const TOKEN: &str = "it reads a name beyond its token, and so misses ours before a version or a comma";

/// The file, and why we differ.
const DIFFERENCES: &[(&str, &str)] = &[
    ("bitbucket.org", DELAY),
    ("hubpages.com", DELAY),
    ("www.ajc.com", DELAY),
    ("www.betterhealth.vic.gov.au", DELAY),
    ("www.blu-ray.com", DELAY),
    ("www.bmc.com", DELAY),
    ("www.broadcom.com_443", DELAY),
    ("www.cafemom.com", DELAY),
    ("www.carters.com", DELAY),
    ("www.cdjapan.co.jp", DELAY),
    ("www.charlotteobserver.com", DELAY),
    ("www.congress.gov", DELAY),
    ("www.fanatics.com", DELAY),
    ("www.giant-bicycles.com", DELAY),
    ("www.gov.uk", DELAY),
    ("www.groupon.com", DELAY),
    ("www.ixigo.com", DELAY),
    ("www.jove.com", DELAY),
    ("www.kansascity.com", DELAY),
    ("www.khaleejtimes.com", DELAY),
    ("www.mapmyrun.com", DELAY),
    ("www.miamiherald.com", DELAY),
    ("www.mlbshop.com", DELAY),
    ("www.monstersandcritics.com", DELAY),
    ("www.nationstates.net", DELAY),
    ("www.newsobserver.com", DELAY),
    ("www.pepboys.com", DELAY),
    ("www.sacbee.com", DELAY),
    ("www.seagate.com", DELAY),
    ("www.tableau.com", DELAY),
    ("www.tennis-warehouse.com", DELAY),
    ("www.theregister.co.uk", DELAY),
    ("www.tmz.com", DELAY),
    ("www.vice.com", DELAY),
    ("stockcharts.com", INDEX),
    ("www.telstra.com.au", INDEX),
    ("www.toyoko-inn.com", INDEX),
    ("www.audible.com", SPACE),
    ("www.noip.com", SPACE),
    ("inform.kz", QUERY),
    ("www.deu.edu.tr", QUERY),
    ("www.mylife.com", QUERY),
    ("www.thomsonreuters.com", QUERY),
    ("www.tomshardware.com", QUERY),
    ("www.pro-football-reference.com", TOKEN),
    ("www.thestar.com.my", TOKEN),
];

struct Site {
    name: String,
    path: PathBuf,
    body: String,
    paths: Vec<String>,
}

/// Files in UTF-8, as Protego reads no others.
fn sites() -> Vec<Site> {
    let directory = judges().join("protego-0.7.0/tests/test_data");
    let mut files: Vec<PathBuf> = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.retain(|file| fs::metadata(file).unwrap().len() <= FILE_BYTES_MAX);
    let read = |path: PathBuf| {
        let body = String::from_utf8(fs::read(&path).unwrap()).ok()?;
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        Some(Site { name, paths: paths_about(&body), path, body })
    };
    files.into_iter().filter_map(read).collect()
}

/// Paths that the rules of a file may concern: their patterns with wildcards filled in different
/// ways, and near misses.
fn paths_about(body: &str) -> Vec<String> {
    let mut paths = BTreeSet::from(["/".to_owned(), "/some/page.html?a=b".to_owned()]);
    for line in body.lines() {
        let Some((_, value)) = line.split('#').next().and_then(|line| line.split_once(':')) else { continue };
        let pattern = value.trim();
        if !pattern.starts_with(['/', '*']) || !pattern.bytes().all(|byte| byte.is_ascii_graphic()) {
            continue;
        }
        let pattern = pattern.strip_suffix('$').unwrap_or(pattern);
        let slash = if pattern.starts_with('*') { "/" } else { "" };
        let filled = format!("{slash}{}", pattern.replace('*', "x"));
        let bare = format!("{slash}{}", pattern.replace('*', ""));
        paths.extend([format!("{filled}x"), format!("{bare}/y.php?z=1"), filled, bare]);
    }
    paths.into_iter().take(PATHS_MAX).collect()
}

/// Protego's verdicts: for each file, agent and path, whether it is allowed.
fn protego(sites: &[Site], directory: &Path) -> Vec<Vec<bool>> {
    let questions = directory.join("questions");
    let mut file = File::create(&questions).unwrap();
    for site in sites {
        writeln!(file, "{}", json!({ "file": site.path, "agents": AGENTS, "paths": site.paths })).unwrap();
    }
    let mut python = Command::new("python3");
    python
        .args([concat!(env!("CARGO_MANIFEST_DIR"), "/judges/protego_verdicts.py")])
        .env("PYTHONPATH", judges().join("protego-0.7.0/src"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::from(File::open(&questions).unwrap()));
    let answers = String::from_utf8(succeed(python, "Protego").stdout).unwrap();
    answers.lines().map(|line| line.bytes().map(|byte| byte == b'1').collect()).collect()
}

#[test]
fn files_mean_what_protego_takes_them_for() {
    let sites = sites();
    let directory = tempfile::tempdir().unwrap();
    let verdicts = protego(&sites, directory.path());
    assert_eq!(verdicts.len(), sites.len());
    let mut judgement = Judgement::default();
    let (mut asked, mut forbidden) = (0, 0);
    for (site, verdicts) in sites.iter().zip(verdicts) {
        let mut verdicts = verdicts.into_iter();
        let mut differences = Vec::new();
        for agent in AGENTS {
            let robots = Robots::parse(site.body.as_bytes(), agent);
            for path in &site.paths {
                let theirs = verdicts.next().expect("a verdict for each question");
                let ours = robots.verdict(path);
                asked += 1;
                forbidden += usize::from(!theirs);
                if ours.is_allowed() != theirs {
                    differences.push(format!("{agent} {path}: {ours}"));
                }
            }
        }
        let count = differences.len();
        let difference =
            differences.into_iter().next().map(|first| format!("{count} of its verdicts, such as {first}"));
        judgement.note(&site.name, difference);
    }
    assert!(judgement.cases() > 3_900 && forbidden > asked / 10, "{forbidden} of {asked}, {} files", judgement.cases());
    judgement.hold(DIFFERENCES);
}
