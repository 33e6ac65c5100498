//! Bodies that are too large for memory are crawled, printed, archived and forgotten.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use bytes::Bytes;
use dragline_formats::warc::{ReadLimits, RecordType, Sha1Digest, WarcReader, is_tombstone};
use dragline_testkit::hostile::{HostileSite, Step, html, links, reply};
use zip::ZipArchive;

use super::{command, dragline};

const MIB: u64 = 1 << 20;
const FILM_MIB: u64 = 300;
const NOISE_MIB: u64 = 24;

/// The command needs some 40 MiB for a site of small pages.
const RESIDENT_KIB_MAX: u64 = 128 << 10;

/// Returns incompressible bytes, the same each time.
fn noise() -> impl Iterator<Item = Bytes> {
    let mut state = 1_u64;
    let mut byte = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..NOISE_MIB).map(move |_| (0..MIB).map(|_| byte()).collect::<Vec<u8>>().into())
}

/// A page with a film of zeros and an archive, one after the other.
async fn site() -> HostileSite {
    let head = |content_type: &str, mib: u64| {
        Step::send(format!("HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\n\r\n", mib * MIB))
    };
    HostileSite::start(move |asked| match asked.target.as_str() {
        "/" => html(links(["/film", "/files.zip", "/page"])),
        "/page" => html("<title>Small</title>a page beside them"),
        "/film" => {
            let zeros = Bytes::from(vec![0; 1 << 20]);
            vec![
                head("video/mp4", FILM_MIB),
                Step::stream(move || {
                    let zeros = zeros.clone();
                    (0..FILM_MIB).map(move |_| zeros.clone())
                }),
            ]
        }
        "/files.zip" => vec![head("application/zip", NOISE_MIB), Step::stream(noise)],
        _ => reply(404, &[], ""),
    })
    .await
}

/// Runs the command with its output in a file. Returns its peak memory.
fn run(directory: &Path, arguments: &[&str]) -> u64 {
    let output = File::create(directory.join("output")).expect("there is room");
    let errors = File::create(directory.join("errors")).expect("there is room");
    let mut command = command(directory, arguments);
    command.stdin(Stdio::null()).stdout(output).stderr(errors);
    let mut child = command.spawn().expect("the command was built");
    let status = format!("/proc/{}/status", child.id());
    let mut peak_kib = 0;
    let code = loop {
        peak_kib = resident_kib(&status).unwrap_or(peak_kib);
        if let Some(ended) = child.try_wait().expect("it is ours") {
            break ended.code();
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let errors = fs::read_to_string(directory.join("errors")).expect("it was written");
    assert_eq!(code, Some(0), "{arguments:?}: {errors}");
    assert!(peak_kib > 0 && peak_kib < RESIDENT_KIB_MAX, "{arguments:?}: {} MiB at the peak", peak_kib >> 10);
    peak_kib
}

/// Returns the peak memory of a process so far, from the kernel; `None` once it has ended.
fn resident_kib(status: &str) -> Option<u64> {
    let status = fs::read_to_string(status).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

/// Asserts that a reader has exactly what the site sent.
fn assert_sent(mut read: impl Read, sent: impl Iterator<Item = Bytes>, what: &str) {
    let mut window = vec![0; 1 << 20];
    for (n, part) in sent.enumerate() {
        read.read_exact(&mut window).unwrap_or_else(|error| panic!("{what} ends in MiB {n}: {error}"));
        assert!(window == part, "{what}: MiB {n}");
    }
    assert_eq!(io::copy(&mut read, &mut io::sink()).expect("it can be read"), 0, "{what} is longer");
}

fn zeros() -> impl Iterator<Item = Bytes> {
    (0..FILM_MIB).map(|_| Bytes::from(vec![0; 1 << 20]))
}

fn digest_of(sent: impl Iterator<Item = Bytes>) -> Sha1Digest {
    let mut sum = dragline_formats::warc::Sha1Hasher::new();
    sent.for_each(|part| io::Write::write_all(&mut sum, &part).expect("it takes everything"));
    sum.finish()
}

/// Returns the answers in a WARC file: their URLs, block lengths and stated digests.
fn answers(file: impl Read) -> Answers {
    let records = WarcReader::new(file, ReadLimits::holding(0)).map(|record| record.expect("each can be read"));
    let answers = records.filter(|record| record.record_type == RecordType::Response && !is_tombstone(record));
    let row = |record: dragline_formats::warc::StoredRecord| {
        (record.target_uri().unwrap_or_default().to_owned(), record.block_bytes, record.payload_digest())
    };
    answers.map(row).collect()
}

type Answers = Vec<(String, u64, Option<Sha1Digest>)>;

/// Returns all answers in the objects of a data directory.
fn stored(directory: &Path) -> Answers {
    objects(directory).into_iter().flatten().collect()
}

/// Returns the answers in each object of a data directory.
fn objects(directory: &Path) -> Vec<Answers> {
    let mut waiting = vec![directory.to_owned()];
    let mut all = Vec::new();
    while let Some(path) = waiting.pop() {
        for entry in fs::read_dir(path).expect("it is ours") {
            let path = entry.expect("it is ours").path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.to_str().is_some_and(|path| path.ends_with(".warc.gz")) {
                all.push(answers(File::open(path).expect("it is ours")));
            }
        }
    }
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_film_passes_through_every_command_without_being_held() {
    let (site, directory) = (site().await, tempfile::tempdir().expect("there is room"));
    let path = directory.path();
    let (film, files, page, home) = (site.url("/film"), site.url("/files.zip"), site.url("/page"), site.url("/"));
    tokio::task::block_in_place(|| {
        let definition = format!(
            "name: docs\nseeds: ['{home}']\npoliteness: {{delay: 0s, concurrency: 1}}\nfetch: {{timeout: 10m, file_bytes_max: 400MiB}}\n"
        );
        fs::write(path.join("crawl.yaml"), definition).expect("there is room");
        run(path, &["crawl", "crawl.yaml", "--allow-private"]);
        let (film_sha1, files_sha1) = (digest_of(zeros()), digest_of(noise()));
        let all = stored(path);
        let holds = |object: &Answers, url: &str| object.iter().any(|(stored, ..)| stored == url);
        let with_files = objects(path).into_iter().find(|object| holds(object, &files)).expect("it was stored");
        assert!(!holds(&with_files, &page), "nothing waits with a large object, which takes the room of what arrives");
        let of = |url: &str| all.iter().find(|(stored, ..)| stored == url).expect("it was stored");
        assert!(of(&film).1 > FILM_MIB * MIB && of(&film).2 == Some(film_sha1), "{:?}", of(&film));
        assert!(of(&files).1 > NOISE_MIB * MIB && of(&files).2 == Some(files_sha1), "{:?}", of(&files));

        run(path, &["get", &film]);
        assert_sent(File::open(path.join("output")).unwrap(), zeros(), "the film");
        run(path, &["get", &files]);
        assert_sent(File::open(path.join("output")).unwrap(), noise(), "the archive");
        let article = dragline(path, &["get", &film, "--as", "text"]);
        assert!(article.code != Some(0) && article.stdout.is_empty(), "there is no text of it: {}", article.stderr);

        run(path, &["archive", "-o", "site.wacz"]);
        let mut zip = ZipArchive::new(File::open(path.join("site.wacz")).unwrap()).unwrap();
        let name =
            zip.file_names().flatten().find(|name| name.ends_with(".warc.gz")).expect("it has records").into_owned();
        let mut archived = answers(zip.by_name(&name).unwrap());
        let mut expected = all.clone();
        archived.sort();
        expected.sort();
        assert_eq!(archived, expected, "the archive has what is stored");

        // Their records name the page that links to them, but keep their offsets and bodies.
        run(path, &["forget", &home]);
        run(path, &["get", &film]);
        assert_sent(
            File::open(path.join("output")).unwrap(),
            zeros(),
            "the film, of which nobody knows where it was found",
        );
        run(path, &["get", &files]);
        assert_sent(File::open(path.join("output")).unwrap(), noise(), "the archive, too");
        run(path, &["forget", &film, &files]);
        let left: Vec<String> = stored(path).into_iter().map(|(url, ..)| url).collect();
        assert!(!left.contains(&film) && !left.contains(&files) && left.contains(&page), "{left:?}");
        assert_ne!(dragline(path, &["get", &film]).code, Some(0));
        assert!(dragline(path, &["get", &page]).stdout.contains("a page beside them"));
    });
    let spool = fs::read_dir(path.join("dragline-data").join("tmp")).into_iter().flatten().count();
    assert_eq!(spool, 0, "nothing is left where it waited");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_over_its_limit_is_cut_and_says_what_to_raise() {
    let (site, directory) = (site().await, tempfile::tempdir().expect("there is room"));
    let path = directory.path();
    tokio::task::block_in_place(|| {
        let definition = format!(
            "name: docs\nseeds: ['{}']\npoliteness: {{delay: 0s}}\nfetch: {{file_bytes_max: 3MiB}}\n",
            site.url("/files.zip")
        );
        fs::write(path.join("crawl.yaml"), definition).expect("there is room");
        let ran = dragline(path, &["crawl", "crawl.yaml", "--allow-private"]);
        assert!(ran.stderr.contains("raise `fetch.file_bytes_max`"), "{}", ran.stderr);
        run(path, &["get", &site.url("/files.zip")]);
        assert_sent(File::open(path.join("output")).unwrap(), noise().take(3), "what was kept");
        let told = fs::read_to_string(path.join("errors")).unwrap();
        assert!(told.contains("the stored body is not whole: length"), "{told}");
    });
}
