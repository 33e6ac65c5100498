//! What `dragline forget` leaves of the archive, as other projects' readers see it.

use std::collections::BTreeSet;
use std::process::Command;

use dragline_end_to_end::archive::{check, index, warc_files};
use dragline_end_to_end::dragline::{Crawl, binary};
use dragline_testkit::site::{GeneratedSite, Site};

use crate::witness::assert_done;

const SITE: GeneratedSite = GeneratedSite { pages: 60, links_per_page: 5, bytes_per_page: 20_000, seed: 9 };

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_readers_find_all_but_what_was_forgotten_where_it_was() {
    let scratch = tempfile::tempdir().unwrap();
    let site = Site::builder().generated(SITE).start().await.unwrap();
    let crawl = Crawl::new(&scratch.path().join("data"), &[&site.url()], &["--delay", "0s"]);
    assert_done(&crawl.run().await);
    tokio::task::block_in_place(|| {
        let (data, files) = (crawl.data(), warc_files(crawl.data()));
        let before = index(data, &files);
        let mut forget = Command::new(binary());
        forget.args(["forget", "--where", "path: {contains: '7'}", "--data"]).arg(data);
        let ended = forget.output().expect("it was built");
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));

        check(&files, scratch.path());
        let path = |url: &str| url.splitn(4, '/').nth(3).unwrap_or_default().to_owned();
        let (gone, kept): (BTreeSet<_>, BTreeSet<_>) = before.into_iter().partition(|(_, url)| path(url).contains('7'));
        assert!(gone.len() >= 5, "{} captures", gone.len());
        assert_eq!(index(data, &files), kept, "in the same files, at the same offsets");
    });
}
