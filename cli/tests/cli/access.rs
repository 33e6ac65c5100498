//! Sites that ask who calls, and proxies.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use dragline_testkit::hostile::{Asked, HostileSite, Step, html, reply};
use flate2::read::MultiGzDecoder;

use super::{command, dragline, ran};

/// `ada:correct horse` by Basic authentication.
const BASIC: &str = "Basic YWRhOmNvcnJlY3QgaG9yc2U=";
const SECRETS: [&str; 5] = ["correct horse", "YWRhOmNvcnJlY3QgaG9yc2U", "k3y-of-the-house", "crumb-7", "t0ken"];

/// A site for members, whose pages lead to another one.
fn members(elsewhere: String) -> impl Fn(&Asked) -> Vec<Step> + Send + Sync + 'static {
    move |asked: &Asked| {
        let has = |name, value| asked.field(name) == Some(value);
        if !has("authorization", BASIC) || !has("x-key", "k3y-of-the-house") || !has("cookie", "sid=crumb-7") {
            return reply(401, &["www-authenticate: Basic realm=\"members\""], "who is there?");
        }
        match asked.target.as_str() {
            "/" => {
                html(format!("<title>Members</title><a href=/in>in</a> <a href=/out>out</a> <img src={elsewhere}pic>"))
            }
            "/in" => html("<title>Inside</title><p>For members.</p>"),
            "/out" => reply(302, &[&format!("location: {elsewhere}caught")], ""),
            _ => reply(404, &[], ""),
        }
    }
}

fn definition(site: &HostileSite, elsewhere: &HostileSite, plain: &str) -> String {
    let host = site.url("").trim_start_matches("http://").trim_end_matches('/').to_owned();
    format!(
        "name: members\nseeds: ['{}', '{}']\nrequisites: fetch\npoliteness: {{ delay: 0s }}\naccess:\n  - hosts: ['{host}']\n    \
         basic: env:LOGIN\n    headers: {{ X-Key: 'file:key.txt' }}\n    cookies: env:COOKIES\n{plain}",
        site.url("/"),
        elsewhere.url("/seed"),
    )
}

/// Everything that a directory contains, what is compressed as it was before.
pub(crate) fn bytes_below(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).expect("it can be read") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            files.extend(bytes_below(&path));
            continue;
        }
        let bytes = std::fs::read(&path).expect("it can be read");
        if path.extension().is_some_and(|extension| extension == "gz") {
            let mut plain = Vec::new();
            MultiGzDecoder::new(&*bytes).read_to_end(&mut plain).expect("it is compressed");
            files.push((path.clone(), plain));
        }
        files.push((path, bytes));
    }
    files
}

pub(crate) fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

fn write_key(directory: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    let path = directory.join("key.txt");
    std::fs::write(&path, "k3y-of-the-house\n").expect("there is room");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("it is ours");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn members_areas_are_crawled_and_nobody_else_learns_of_the_values() {
    let elsewhere = HostileSite::start(|_: &Asked| html("<title>Elsewhere</title>")).await;
    let site = HostileSite::start(members(elsewhere.url("/"))).await;
    let directory = tempfile::tempdir().expect("there is room for a directory");
    tokio::task::block_in_place(|| {
        let data = directory.path().join("dragline-data");
        write_key(directory.path(), 0o600);
        std::fs::write(directory.path().join("crawl.yaml"), definition(&site, &elsewhere, "    allow_plain: true\n"))
            .expect("there is room");
        let crawl = |arguments: &[&str]| {
            let mut command = command(directory.path(), &[&["crawl", "--allow-private"], arguments].concat());
            ran(command.env("LOGIN", "ada:correct horse").env("COOKIES", "sid=crumb-7"))
        };
        let first = crawl(&["crawl.yaml"]);
        assert_eq!(first.code, Some(0), "{}", first.stderr);
        assert!(site.targets().contains(&"/in".to_owned()), "{:?}", site.targets());
        assert!(elsewhere.targets().contains(&"/pic".to_owned()), "{:?}", elsewhere.targets());
        for asked in elsewhere.log() {
            for name in ["authorization", "x-key", "cookie"] {
                assert_eq!(asked.field(name), None, "{}", asked.head);
            }
        }
        let second = crawl(&["--data", "dragline-data"]);
        assert_eq!(second.code, Some(0), "again, from what is stored: {}", second.stderr);
        let files = bytes_below(&data);
        for (path, bytes) in &files {
            for secret in SECRETS {
                assert!(!contains(bytes, secret), "{secret} is in {}", path.display());
            }
        }
        for output in [&first, &second] {
            assert!(SECRETS.iter().all(|secret| !output.stderr.contains(secret) && !output.stdout.contains(secret)));
        }
        let redacted = |(_, bytes): &&(PathBuf, Vec<u8>)| contains(bytes, "authorization: [redacted]");
        assert!(files.iter().any(|file| redacted(&file)), "the archive says that something was sent");
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_values_nothing_is_requested() {
    let elsewhere = HostileSite::start(|_: &Asked| html("")).await;
    let site = HostileSite::start(members(elsewhere.url("/"))).await;
    tokio::task::block_in_place(|| {
        for (login, mode, plain, code, said, why) in [
            (None, 0o600, "    allow_plain: true\n", 9, "access: `env:LOGIN` is not set", "a missing variable"),
            (Some("ada"), 0o600, "    allow_plain: true\n", 9, "has not the form `name:password`", "no password"),
            (
                Some("ada:x"),
                0o644,
                "    allow_plain: true\n",
                9,
                "`file:key.txt` can be read by others: `chmod 600",
                "open",
            ),
            (Some("ada:x"), 0o600, "", 4, "not sent over plain HTTP", "everybody on the way could read them"),
        ] {
            let directory = tempfile::tempdir().expect("there is room for a directory");
            write_key(directory.path(), mode);
            let text = definition(&site, &elsewhere, plain).replace(&format!(", '{}'", elsewhere.url("/seed")), "");
            std::fs::write(directory.path().join("crawl.yaml"), text).expect("there is room");
            let mut command = command(directory.path(), &["crawl", "--allow-private", "crawl.yaml"]);
            command.env_remove("LOGIN").env("COOKIES", "sid=crumb-7");
            if let Some(login) = login {
                command.env("LOGIN", login);
            }
            let refused = ran(&mut command);
            assert_eq!(refused.code, Some(code), "{why}: {}", refused.stderr);
            assert!(refused.stderr.contains(said), "{why}: {}", refused.stderr);
            assert_eq!(site.targets(), Vec::<String>::new(), "{why}");
        }
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_written_on_the_command_line_is_asked_for_again() {
    let site = HostileSite::start(members("http://nobody.invalid/".to_owned())).await;
    let directory = tempfile::tempdir().expect("there is room for a directory");
    tokio::task::block_in_place(|| {
        let flags = ["--user", "ada:correct horse", "--header", "X-Key: k3y-of-the-house", "--cookie", "sid=crumb-7"];
        let crawl = |arguments: &[&str]| {
            dragline(
                directory.path(),
                &[&["crawl", "--allow-private", "--allow-plain", "--delay", "0s"], arguments].concat(),
            )
        };
        let page = dragline(
            directory.path(),
            &[&["get", &site.url("/in"), "--allow-private", "--allow-plain", "--as", "text"][..], &flags].concat(),
        );
        assert!(page.stdout.contains("For members."), "{}", page.stderr);
        let first = crawl(&[&[&*site.url("/")], &flags[..]].concat());
        assert_eq!(first.code, Some(0), "{}", first.stderr);
        for (path, bytes) in bytes_below(&directory.path().join("dragline-data")) {
            assert!(SECRETS.iter().all(|secret| !contains(&bytes, secret)), "{}", path.display());
        }
        let asked = site.targets().len();
        let without = dragline(directory.path(), &["crawl", "--allow-private"]);
        assert_eq!(without.code, Some(9), "{}", without.stderr);
        assert!(without.stderr.contains("give `--header x-key` again"), "{}", without.stderr);
        assert_eq!(site.targets().len(), asked, "nothing was requested");
        let again = crawl(&flags);
        assert_eq!(again.code, Some(0), "{}", again.stderr);
        assert!(site.targets().len() > asked);
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_site_of_ones_own_is_crawled_whatever_its_robots_txt_says() {
    let other = HostileSite::start(|asked: &Asked| match asked.target.as_str() {
        "/robots.txt" => reply(200, &[], "User-agent: *\nDisallow: /\n"),
        _ => html("<title>Other</title>"),
    })
    .await;
    let link = other.url("/page");
    let site = HostileSite::start(move |asked: &Asked| match (asked.field("authorization"), asked.target.as_str()) {
        (Some(BASIC), "/robots.txt") => reply(200, &[], "User-agent: *\nDisallow: /\n"),
        (Some(BASIC), "/") => html(format!("<title>Staging</title><a href=/in>in</a> <a href={link}>other</a>")),
        (Some(BASIC), _) => html("<title>Inside</title>"),
        _ => reply(401, &[], ""),
    })
    .await;
    let directory = tempfile::tempdir().expect("there is room for a directory");
    tokio::task::block_in_place(|| {
        let host = site.url("").trim_start_matches("http://").trim_end_matches('/').to_owned();
        let arguments =
            ["crawl", "--allow-private", "--allow-plain", "--delay", "0s", "--user", "env:LOGIN", "--within", "domain"];
        let crawl = |more: &[&str]| {
            ran(command(directory.path(), &[&arguments, more].concat()).env("LOGIN", "ada:correct horse"))
        };
        let obeyed = crawl(&[&site.url("/")]);
        assert_eq!(obeyed.code, Some(4), "it is obeyed unless somebody says otherwise: {}", obeyed.stderr);
        let own = crawl(&[&site.url("/"), &other.url("/"), "--ignore-robots", &host, "--data", "own"]);
        assert!(own.stderr.contains(&format!("robots.txt was not obeyed on {host}")), "{}", own.stderr);
        assert!(site.targets().contains(&"/in".to_owned()), "{:?}", site.targets());
        assert_eq!(other.targets(), ["/robots.txt"], "that of others is obeyed");
        let again = crawl(&["--data", "own"]);
        assert!(again.stderr.contains("robots.txt was not obeyed"), "it is remembered: {}", again.stderr);
        let explain = ["explain", &site.url("/in"), "--data", "own", "--allow-private"];
        let explained = dragline(directory.path(), &explain);
        assert_eq!(explained.code, Some(9), "it takes the log-in, too: {}", explained.stderr);
        let explained = ran(command(directory.path(), &explain).env("LOGIN", "ada:correct horse"));
        assert!(explained.stdout.contains("not obeyed, by `--ignore-robots`"), "{}", explained.stdout);
        let files = bytes_below(&directory.path().join("own"));
        let says = format!("robots: obey, except of {host}");
        assert!(files.iter().any(|(_, bytes)| contains(bytes, &says)), "the archive says so");
        let db = rusqlite::Connection::open(directory.path().join("own/dragline.db")).expect("a database");
        let sql = "SELECT count(*) FROM crawl_log WHERE robotstxt_approved = 0 AND outcome <> 170";
        let ignored: i64 = db.query_row(sql, [], |row| row.get(0)).expect("a number");
        assert!(ignored >= 4, "each request says so: {ignored}");
    });
}

/// A proxy that asks who calls, and keeps what it was asked for.
fn start_proxy() -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let seen = Arc::clone(&seen);
            std::thread::spawn(move || forward(stream.expect("a connection"), &seen));
        }
    });
    (address, asked)
}

/// Forwards one request by its absolute URL (RFC 9112, section 3.2.2).
fn forward(mut client: TcpStream, seen: &Mutex<Vec<String>>) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if client.read(&mut byte).unwrap_or(0) == 0 {
            return;
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let line = head.lines().next().unwrap_or_default().to_owned();
    seen.lock().expect("nobody failed").push(line.clone());
    if !head.to_lowercase().contains("proxy-authorization: basic cdp0mgtlbg==") {
        let _ = client
            .write_all(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        return;
    }
    let url = line.split(' ').nth(1).unwrap_or_default().trim_start_matches("http://").to_owned();
    let (host, path) = url.split_once('/').unwrap_or((&url, ""));
    let mut server = TcpStream::connect(host).expect("the site listens");
    write!(server, "GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").expect("it reads");
    let _ = std::io::copy(&mut server, &mut client);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_leave_through_the_proxy_that_is_named() {
    let site = HostileSite::start(|asked: &Asked| match asked.target.as_str() {
        "/robots.txt" => reply(404, &["connection: close"], ""),
        _ => html("<title>Page</title><p>Words"),
    })
    .await;
    tokio::task::block_in_place(|| {
        let (address, asked) = start_proxy();
        let named = format!("http://p:t0ken@{address}");
        let url = site.url("/page");
        let get = |flags: &[&str], variables: &[(&str, &str)]| {
            let directory = tempfile::tempdir().expect("there is room for a directory");
            let mut command =
                command(directory.path(), &[&["get", &url, "--allow-private", "--as", "text"], flags].concat());
            for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"] {
                command.env_remove(name);
            }
            ran(command.envs(variables.iter().copied()))
        };
        for (flags, variables, requests, why) in [
            (&["--proxy", &*named][..], &[][..], 2, "by the flag"),
            (&["--proxy", "env:PROXY"], &[("PROXY", &*named)], 2, "whose value is in a variable"),
            (&[], &[("HTTP_PROXY", &*named)], 2, "by the usual variable"),
            (&[], &[("HTTP_PROXY", &*named), ("NO_PROXY", "127.0.0.1")], 0, "which has exceptions"),
            (&[], &[], 0, "and without any, directly"),
        ] {
            asked.lock().expect("nobody failed").clear();
            let page = get(flags, variables);
            assert!(page.stdout.contains("Words"), "{why}: {}", page.stderr);
            let lines = asked.lock().expect("nobody failed").clone();
            assert_eq!(lines.len(), requests, "{why}: {lines:?}");
            assert!(!page.stderr.contains("t0ken"), "{why}: {}", page.stderr);
        }
        let refused = get(&["--proxy", &format!("http://{address}")], &[]);
        assert!(refused.code != Some(0) && refused.stderr.contains("407"), "{}", refused.stderr);
    });
}
