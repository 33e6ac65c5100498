//! Sites with a form to log in.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use dragline_testkit::hostile::{Asked, HostileSite, Step, html, reply};

use super::access::{bytes_below, contains};
use super::{Ran, command, ran};

/// What is never to be seen anywhere: the password as it is and as it is sent, and what the site
/// hands out.
const SECRETS: [&str; 5] = ["correct horse", "correct+horse", "correct%20horse", "sid-of-", "csrf-of-"];

/// A members' area whose sessions last some pages.
#[derive(Clone, Copy)]
struct Members {
    /// How many pages a session lasts.
    pages_per_session: usize,
    /// Where the form says that it is sent.
    action: &'static str,
}

impl Default for Members {
    fn default() -> Self {
        Self { pages_per_session: usize::MAX, action: "/session" }
    }
}

#[derive(Default)]
struct State {
    sessions: usize,
    /// The pages that the last session has left.
    left: usize,
}

impl Members {
    async fn start(self, elsewhere: String) -> HostileSite {
        let state = Arc::new(Mutex::new(State::default()));
        HostileSite::start(move |asked| self.answer(&mut state.lock().expect("nobody failed"), asked, &elsewhere)).await
    }

    fn answer(self, state: &mut State, asked: &Asked, elsewhere: &str) -> Vec<Step> {
        let cookies = asked.field("cookie").unwrap_or_default();
        let path = asked.target.split('?').next().unwrap_or_default();
        let is_post = asked.head.starts_with("POST ");
        match path {
            "/robots.txt" => return reply(404, &[], ""),
            "/login" => return self.form(""),
            "/session" if is_post => {
                let knows = asked.body.contains("user=ada&") || asked.body.ends_with("user=ada");
                let is_own = asked.body.contains("token=csrf-of-form") && cookies.contains("csrf=csrf-of-form");
                if !knows || !asked.body.contains("pass=correct+horse") || !is_own {
                    return self.form("That is not right.");
                }
                state.sessions += 1;
                state.left = self.pages_per_session;
                let cookie = format!("set-cookie: sid=sid-of-{}; Path=/; HttpOnly", state.sessions);
                return reply(303, &["location: /home", &cookie, "set-cookie: csrf=; Max-Age=0"], "");
            }
            "/logout" => {
                state.left = 0;
                return html("<title>Bye</title>");
            }
            _ => {}
        }
        let is_member = cookies.contains(&format!("sid=sid-of-{}", state.sessions)) && state.left > 0;
        if !is_member || path == "/admin" {
            let location = format!("location: /login?next={path}");
            return reply(302, &[&location], "");
        }
        if path != "/home" {
            state.left -= 1;
        }
        let menu = "<a href=/logout>Log out</a> <a href='/home?action=logout'>out</a>";
        match path {
            "/" | "/home" => {
                let links: String = (0..8).map(|n| format!("<a href=/page/{n}>page {n}</a> ")).collect();
                let renewed = format!("set-cookie: seen=sid-of-{}; Path=/", state.sessions);
                let page = format!("<title>Home</title>{menu}{links}<a href=/out>out</a><img src={elsewhere}pic>");
                reply(200, &["content-type: text/html", &renewed], &page)
            }
            "/out" => reply(302, &[&format!("location: {elsewhere}caught")], ""),
            path => html(format!("<title>{path}</title>{menu}<p>For members: {path} has words of its own.")),
        }
    }

    fn form(self, why: &str) -> Vec<Step> {
        let page = format!(
            "<title>Log in</title><form method=post action='{}'>{why}<input type=hidden name=token value=csrf-of-form>\
             <input name=user><input name=pass type=password><button>Log in</button></form>",
            self.action
        );
        reply(200, &["content-type: text/html", "set-cookie: csrf=csrf-of-form; Path=/"], &page)
    }
}

fn definition(site: &HostileSite, more: &str) -> String {
    let host = site.url("").trim_start_matches("http://").to_owned();
    format!(
        "name: members\nseeds: ['{0}']\nrequisites: fetch\npoliteness: {{ delay: 0s }}\naccess:\n  - hosts: ['{host}']\n    \
         allow_plain: true\n    login:\n      url: {1}\n      page: {2}\n      fields: {{ user: env:USER_NAME, pass: env:PASSWORD }}\n      \
         logged_in: Log out\n{more}",
        site.url("/"),
        site.url("/session"),
        site.url("/login"),
    )
}

fn crawl(directory: &Path, arguments: &[&str], password: &str) -> Ran {
    let mut command = command(directory, &[&["crawl", "--allow-private"], arguments].concat());
    ran(command.env("USER_NAME", "ada").env("PASSWORD", password))
}

fn posts(site: &HostileSite) -> Vec<String> {
    site.log().into_iter().filter(|asked| asked.head.starts_with("POST ")).map(|asked| asked.target).collect()
}

/// What is known of the pages in the end: their paths and outcomes.
fn outcomes(directory: &Path) -> Vec<(String, i64)> {
    let db = rusqlite::Connection::open(directory.join("dragline-data/dragline.db")).expect("a database");
    let sql = "SELECT url, outcome FROM crawl_log WHERE is_final = 1 ORDER BY url";
    let mut statement = db.prepare(sql).expect("a query");
    let rows = statement.query_map([], |row| {
        let url: String = row.get(0)?;
        let path = url.splitn(4, '/').nth(3).unwrap_or_default().to_owned();
        Ok((format!("/{path}"), row.get(1)?))
    });
    rows.expect("rows").collect::<Result<_, _>>().expect("rows")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_members_area_is_crawled_though_its_sessions_end() {
    let elsewhere = HostileSite::start(|_: &Asked| html("<title>Elsewhere</title>")).await;
    let site = Members { pages_per_session: 3, ..Members::default() }.start(elsewhere.url("/")).await;
    let directory = tempfile::tempdir().expect("there is room for a directory");
    tokio::task::block_in_place(|| {
        let directory = directory.path();
        std::fs::write(directory.join("crawl.yaml"), definition(&site, "")).expect("there is room");
        let first = crawl(directory, &["crawl.yaml"], "correct horse");
        assert_eq!(first.code, Some(0), "{}", first.stderr);
        let ended = outcomes(directory);
        let pages: Vec<&str> =
            ended.iter().filter(|(_, outcome)| *outcome == 20).map(|(path, _)| path.as_str()).collect();
        let expected = ["/", "/page/0", "/page/1", "/page/2", "/page/3", "/page/4", "/page/5", "/page/6", "/page/7"];
        assert!(expected.iter().all(|path| pages.contains(path)), "{ended:?}");
        let asked = posts(&site);
        assert!(asked.len() >= 3 && asked.iter().all(|target| target == "/session"), "it logged in again: {asked:?}");
        assert!(!site.targets().iter().any(|target| target.contains("logout")), "{:?}", site.targets());
        assert!(ended.contains(&("/logout".to_owned(), 173)), "that is recorded: {ended:?}");
        assert!(posts(&elsewhere).is_empty() && elsewhere.log().iter().all(|asked| asked.field("cookie").is_none()));
        let second = crawl(directory, &["--data", "dragline-data"], "correct horse");
        assert_eq!(second.code, Some(0), "again: {}", second.stderr);
        let files = bytes_below(&directory.join("dragline-data"));
        for (path, bytes) in &files {
            for secret in SECRETS {
                assert!(!contains(bytes, secret), "{secret} is in {}", path.display());
            }
        }
        for output in [&first, &second] {
            assert!(SECRETS.iter().all(|secret| !output.stderr.contains(secret) && !output.stdout.contains(secret)));
        }
        let says = |text: &str| files.iter().any(|(_, bytes): &(PathBuf, Vec<u8>)| contains(bytes, text));
        assert!(says("cookie: [redacted]") && says("set-cookie: seen=[redacted]; Path=/"));
        assert!(!says("That is not right.") && !says("<title>Log in</title>"), "no answer for strangers is a page");
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_site_that_refuses_gets_no_more_requests() {
    let usual = Members::default();
    for (members, password, more, said, logged_in, why) in [
        (usual, "wrong", "", "the form to log in", 1, "a wrong password"),
        (
            Members { action: "//evil.example/take", ..usual },
            "correct horse",
            "",
            "make it the `url` of `login`",
            0,
            "another's form",
        ),
        (
            usual,
            "correct horse",
            "      logged_out: words of its own\n",
            "answers in a row were for strangers",
            4,
            "endless",
        ),
    ] {
        let site = members.start("http://nobody.invalid/".to_owned()).await;
        tokio::task::block_in_place(|| {
            let directory = tempfile::tempdir().expect("there is room for a directory");
            let directory = directory.path();
            std::fs::write(directory.join("crawl.yaml"), definition(&site, more)).expect("there is room");
            let refused = crawl(directory, &["crawl.yaml"], password);
            assert_eq!(refused.code, Some(9), "{why}: {}", refused.stderr);
            assert!(refused.stderr.contains(said), "{why}: {}", refused.stderr);
            assert!(!refused.stderr.contains(password), "{why}: {}", refused.stderr);
            assert_eq!(posts(&site).len(), logged_in, "{why}: {:?}", site.targets());
            let is_page = |target: &String| target == "/" || target.starts_with("/page");
            let pages = site.targets().iter().filter(|target| is_page(target)).count();
            assert!(logged_in > 1 || pages == 0, "{why}: {:?}", site.targets());
            assert!(outcomes(directory).iter().any(|(_, outcome)| *outcome == 183), "{why}");
        });
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_is_not_for_every_member_ends_alone() {
    let site = Members::default().start("http://nobody.invalid/".to_owned()).await;
    let directory = tempfile::tempdir().expect("there is room for a directory");
    tokio::task::block_in_place(|| {
        let directory = directory.path();
        let seeds = format!("'{}', '{}'", site.url("/"), site.url("/admin"));
        let text = definition(&site, "").replace(&format!("'{}'", site.url("/")), &seeds);
        std::fs::write(directory.join("crawl.yaml"), text).expect("there is room");
        let crawled = crawl(directory, &["crawl.yaml"], "correct horse");
        assert_eq!(crawled.code, Some(1), "{}", crawled.stderr);
        let ended = outcomes(directory);
        assert!(
            ended.contains(&("/admin".to_owned(), 183)) && ended.contains(&("/page/7".to_owned(), 20)),
            "{ended:?}"
        );
        assert_eq!(posts(&site).len(), 2, "it logged in once more");
        let missing = ran(&mut command(directory, &["crawl", "--allow-private"]));
        assert_eq!(missing.code, Some(9), "{}", missing.stderr);
        assert!(
            missing.stderr.contains("`env:PASSWORD` is not set")
                || missing.stderr.contains("`env:USER_NAME` is not set")
        );
    });
}
