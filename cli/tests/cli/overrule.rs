//! Sites of one's own, whose rules for others are overruled.

use dragline_testkit::hostile::{Asked, HostileSite, html, reply};

use super::dragline;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_pages_ask_for_is_overruled_by_the_command_and_by_no_definition() {
    let site = HostileSite::start(|asked: &Asked| match asked.target.as_str() {
        "/" => html("<meta name=robots content=none><title>Draft</title><p>Unfinished words.</p><a href=/in>in</a>"),
        "/in" => html("<title>Inside</title>"),
        _ => reply(404, &[], ""),
    })
    .await;
    let directory = tempfile::tempdir().expect("there is room for a directory");
    tokio::task::block_in_place(|| {
        let crawl = |arguments: &[&str]| {
            dragline(directory.path(), &[&["crawl", "--allow-private", "--delay", "0s"], arguments].concat())
        };
        let says = ["nofollow links were followed (--follow-nofollow)", "pages that ask for noindex were kept"];
        let obeyed = crawl(&[&site.url("/"), "--data", "obeyed"]);
        assert!(!site.targets().contains(&"/in".to_owned()), "{:?}", site.targets());
        assert!(says.iter().all(|line| !obeyed.stderr.contains(line)), "{}", obeyed.stderr);
        let own = crawl(&[&site.url("/"), "--follow-nofollow", "--noindex", "keep", "--data", "own"]);
        assert!(site.targets().contains(&"/in".to_owned()), "{:?}", site.targets());
        let again = crawl(&["--data", "own"]);
        for output in [&own, &again] {
            assert!(says.iter().all(|line| output.stderr.contains(line)), "it is remembered: {}", output.stderr);
        }
        let pages = dragline(directory.path(), &["export", "--what", "pages", "--data", "own"]);
        assert!(pages.stdout.contains("Unfinished words."), "{}", pages.stdout);
        let printed = dragline(directory.path(), &["definition", "--data", "own"]);
        assert!(!printed.stdout.contains("nofollow") && !printed.stdout.contains("noindex"), "{}", printed.stdout);
        let archive = std::process::Command::new("sh")
            .args(["-c", "find own -name '*.warc.gz' -exec gzip -dc {} +"])
            .current_dir(directory.path())
            .output()
            .expect("there is a shell");
        let archive = String::from_utf8_lossy(&archive.stdout);
        assert!(archive.contains("robots: obey; nofollow links are followed; pages with noindex are kept"));
        for key in ["nofollow: follow", "noindex: keep"] {
            let path = directory.path().join("crawl.yaml");
            std::fs::write(&path, format!("seeds: ['{}']\n{key}\n", site.url("/"))).expect("there is room");
            let refused = crawl(&["crawl.yaml", "--data", "refused"]);
            assert!(refused.stderr.contains("unknown key"), "{key}: {}", refused.stderr);
        }
    });
}
