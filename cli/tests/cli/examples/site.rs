//! The site that the examples crawl: what `https://example.org` stands for in them.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use dragline_testkit::site::{Content, Page, PathContent, Site};

const HTML: &str = "text/html; charset=utf-8";

const PAGES: &[(&str, &str, &str)] = &[
    ("/", HTML, include_str!("site/index.html")),
    ("/docs/", HTML, include_str!("site/docs.html")),
    ("/docs/install", HTML, include_str!("site/install.html")),
    ("/news/", HTML, include_str!("site/news.html")),
    ("/news/7", HTML, include_str!("site/news-7.html")),
    ("/product/chair", HTML, include_str!("site/chair.html")),
    ("/logo.svg", "image/svg+xml", include_str!("site/logo.svg")),
    ("/robots.txt", "text/plain", "User-agent: *\nDisallow: /private/\nSitemap: /sitemap.xml\n"),
    ("/sitemap.xml", "application/xml", include_str!("site/sitemap.xml")),
];

/// The pages. The news say how often they were read, so they differ each time.
struct Pages {
    visits: AtomicUsize,
}

impl Content for Pages {
    fn find(&self, path: &str) -> io::Result<PathContent> {
        let Some((_, media_type, body)) = PAGES.iter().find(|(of, ..)| *of == path) else {
            return Ok(PathContent::Missing);
        };
        let visits = if body.contains("VISITS") { self.visits.fetch_add(1, Ordering::Relaxed) } else { 0 };
        let (body, tag) = (body.replace("VISITS", &visits.to_string()), visits.to_string());
        Ok(PathContent::Page(Page {
            media_type,
            modified: SystemTime::UNIX_EPOCH,
            tag,
            body: body.into(),
            zipped: None,
        }))
    }
}

/// Starts the site on a free port of this machine.
pub(super) async fn start() -> Site {
    Site::builder().content(Pages { visits: AtomicUsize::new(0) }).start().await.expect("a port is free")
}
