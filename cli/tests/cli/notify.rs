//! Notices to those whom a definition and the command line name.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use dragline_testkit::hostile::{Asked, HostileSite, Step, html, reply};
use serde_json::Value;

use super::{Ran, command, dragline, write_secret};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// A mail server that takes everything. Returns its port, and each letter with its envelope.
fn mail_server() -> (u16, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let (letters, received) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            take_mail(stream.expect("a connection"), &letters);
        }
    });
    (port, received)
}

fn take_mail(mut stream: TcpStream, letters: &Sender<String>) {
    let mut lines = BufReader::new(stream.try_clone().expect("a copy")).lines();
    let mut say = |line: &str| stream.write_all(format!("{line}\r\n").as_bytes()).expect("it reads");
    say("220 mail.example");
    let mut letter = String::new();
    while let Some(Ok(line)) = lines.next() {
        match line.split([' ', ':']).next().unwrap_or_default().to_uppercase().as_str() {
            "DATA" => {
                say("354 go on");
                for line in lines.by_ref().map_while(Result::ok).take_while(|line| line != ".") {
                    letter += &format!("{line}\n");
                }
                let _ = letters.send(std::mem::take(&mut letter));
                say("250 taken");
            }
            "QUIT" => return say("221 bye"),
            _ => {
                letter += &format!("{line}\n");
                say("250 mail.example");
            }
        }
    }
}

/// A shop whose chair costs less each time that it is visited.
fn shop(asked: &Asked) -> Vec<Step> {
    let prices = ["129.90", "119.00", "99.00"];
    match asked.target.as_str() {
        "/" => html("<title>Shop</title><a href=/chair>chair</a>"),
        "/chair" => {
            let price = prices[asked.earlier.min(prices.len() - 1)];
            html(format!(
                "<title>Chair</title><h1>Chair</h1><p>It costs {price}.<script type=application/ld+json>\
                 {{\"@context\": \"https://schema.org\", \"@type\": \"Product\", \"name\": \"Chair\", \
                 \"offers\": {{\"@type\": \"Offer\", \"price\": \"{price}\", \"priceCurrency\": \"EUR\"}}}}</script>"
            ))
        }
        _ => reply(404, &[], ""),
    }
}

fn definition(site: &HostileSite, hook: &HostileSite) -> String {
    format!(
        "name: shop
seeds: ['{}']
content: full
politeness: {{ delay: 0s }}
notify:
  - webhook: '{}'
    secret: env:HOOK_SECRET
    events: [started, changed]
  - email: ada@example.org
    items: price < 100
    item_type: Product
",
        site.url("/"),
        hook.url("/hook")
    )
}

fn crawl(directory: &Path, arguments: &[&str]) -> Ran {
    let arguments = [&["crawl", "-f", "crawl.yaml", "--allow-private"], arguments].concat();
    let mut command = command(directory, &arguments);
    let output = command.env("HOOK_SECRET", SECRET).output().expect("the command was built");
    Ran {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("text"),
        stderr: String::from_utf8(output.stderr).expect("text"),
    }
}

/// Writes a program that appends each message to a file, and returns its path.
#[cfg(unix)]
fn collector(directory: &Path) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let path = directory.join("collect");
    std::fs::write(&path, "#!/bin/sh\ncat >> messages.jsonl\necho >> messages.jsonl\n").expect("there is room");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    path.display().to_string()
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_is_told_what_it_wants_to_know() {
    let site = HostileSite::start(shop).await;
    let hook = HostileSite::start(|_| reply(204, &[], "")).await;
    let directory = tempfile::tempdir().expect("there is room for a directory");
    let directory = directory.path();
    std::fs::write(directory.join("crawl.yaml"), definition(&site, &hook)).expect("there is room");
    let (port, letters) = mail_server();
    write_secret(&directory.join("smtp"), &format!("smtp://127.0.0.1:{port}"));
    let collector = collector(directory);
    let arguments =
        ["--smtp", "file:smtp", "--mail-from", "dragline@example.org", "--notify-command", collector.as_str()];
    let collected = || {
        let text = std::fs::read_to_string(directory.join("messages.jsonl")).expect("messages");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect::<Vec<Value>>()
    };
    tokio::task::block_in_place(|| {
        for iteration in 1..=3 {
            let ran = crawl(directory, &arguments);
            assert_eq!(ran.code, Some(0), "{}", ran.stderr);
            let letters: Vec<String> = letters.try_iter().collect();
            if iteration < 3 {
                assert_eq!(letters, Vec::<String>::new(), "it costs more than 100 in iteration {iteration}");
                continue;
            }
            let [letter] = &letters[..] else { panic!("one letter: {letters:?}") };
            for line in [
                "MAIL FROM:<dragline@example.org>",
                "RCPT TO:<ada@example.org>",
                "Subject: shop: iteration 3: 1 item has price < 100 now",
            ] {
                assert!(letter.contains(line), "{line}: {letter}");
            }
            let body = letter.replace("=\n", "").replace("=E2=86=92", "→");
            assert!(body.contains("Product Chair: price 119 → 99"), "{body}");
        }
        // The beginning and the end of each, each signed, and each once.
        let log = hook.log();
        let mut ids: Vec<&str> = log.iter().map(|asked| asked.field("webhook-id").expect("an id")).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!((ids.len(), log.len()), (6, 6), "{log:?}");
        assert!(log.iter().all(|asked| asked.field("webhook-signature").is_some()), "{log:?}");
        let messages = collected();
        let kinds: Vec<&str> = messages.iter().filter_map(|message| message["type"].as_str()).collect();
        assert_eq!(kinds, ["iteration_closed"; 3], "{messages:?}");
        assert_eq!(messages[2]["data"]["text"], "iteration 3 is over: 1 changed", "{}", messages[2]);
        assert_eq!(messages[2]["data"]["crawl"], "shop");
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receiver_that_is_away_gets_it_later() {
    let site = HostileSite::start(shop).await;
    let is_away = AtomicUsize::new(1);
    let hook = HostileSite::start(move |asked| match is_away.fetch_add(1, Ordering::Relaxed) {
        1 => reply(302, &["location: http://169.254.169.254/latest/meta-data/"], ""),
        2 => reply(500, &[], ""),
        _ if asked.target == "/hook" => reply(204, &[], ""),
        _ => reply(404, &[], ""),
    })
    .await;
    let directory = tempfile::tempdir().expect("there is room for a directory");
    let directory = directory.path();
    let text = definition(&site, &hook).replace("[started, changed]", "[finished]");
    std::fs::write(directory.join("crawl.yaml"), text).expect("there is room");
    tokio::task::block_in_place(|| {
        let first = crawl(directory, &[]);
        assert_eq!(first.code, Some(0), "a notice fails no crawl: {}", first.stderr);
        let first_id = hook.log()[0].field("webhook-id").expect("an id").to_owned();
        // The next one tells what is owed, too.
        let mut last = first;
        for _ in 0..20 {
            if hook.log().iter().filter(|asked| asked.field("webhook-id") == Some(&first_id)).count() >= 3 {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(500));
            last = crawl(directory, &[]);
        }
        let tries = hook.log().iter().filter(|asked| asked.field("webhook-id") == Some(&first_id)).count();
        assert!(tries >= 3, "{tries} tries: {:?}\n{}", hook.targets(), last.stderr);
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_private_webhook_is_called_only_where_that_is_allowed() {
    let hook = HostileSite::start(|_| reply(204, &[], "")).await;
    let directory = tempfile::tempdir().expect("there is room for a directory");
    let directory = directory.path();
    let text = format!(
        "name: shop\nseeds: [https://nobody.invalid/]\nfetch: {{ retries: 0 }}\nnotify:\n  - webhook: '{}'\n",
        hook.url("/")
    );
    std::fs::write(directory.join("crawl.yaml"), text).expect("there is room");
    let ran = tokio::task::block_in_place(|| dragline(directory, &["crawl", "-f", "crawl.yaml"]));
    assert_eq!(hook.log().len(), 0, "{}", ran.stderr);
}
