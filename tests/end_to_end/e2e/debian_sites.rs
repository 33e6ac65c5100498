//! The real sites are as the other tests assume.

use dragline_end_to_end::debian::DebianSite;
use dragline_end_to_end::walk::{Beside, Expected, walk};
use dragline_testkit::site::Directory;

#[test]
fn the_sites_are_large_and_need_no_rule_of_their_own() {
    for (site, pages_min) in [(DebianSite::Python, 500), (DebianSite::Postgresql, 1_100), (DebianSite::Git, 200)] {
        let visited = walk(&Directory::new(site.directory()), "http://127.0.0.1:1/", Beside::Nothing);
        let pages = visited.values().filter(|&&expected| expected == Expected::Page).count();
        assert!(pages >= pages_min, "{site:?} has only {pages} pages");
        for url in visited.keys() {
            // The walk does not handle traps, session ids or tracking parameters, so the sites must
            // have none.
            assert!(
                !url.contains([';', '?']) && url.len() < 200,
                "{site:?}: {url} might be changed or refused by the crawler"
            );
        }
    }
}
