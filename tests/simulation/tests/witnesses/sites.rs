//! Generated sites.

use std::collections::BTreeSet;

use dragline_domain::definition::Draft;
use dragline_domain::url::CrawlUrl;
use dragline_simulation::web::{ContentKind, PageKind, Says, Site};

#[test]
fn the_same_seed_gives_the_same_site() {
    assert_eq!(Site::generate(7), Site::generate(7));
    assert_ne!(Site::generate(7), Site::generate(8), "another seed gives another site");
}

#[test]
fn every_site_has_something_to_find_and_stays_small() {
    let mut rich = 0;
    for seed in 0..300 {
        let site = Site::generate(seed);
        let reach = site.reach(&Draft::for_seeds(site.seeds.clone()));
        assert!(!reach.certain.is_empty(), "seed {seed}: {reach:?}");
        rich += usize::from(reach.certain.len() > 5);
        assert!(reach.possible.len() <= 120, "seed {seed} has {} URLs", reach.possible.len());
        assert!(reach.certain.keys().all(|url| reach.possible.contains_key(url)), "seed {seed}");
    }
    assert!(rich > 100, "{rich} of 300 sites have more than five URLs to find in any case");
}

#[test]
fn hostile_and_large_sites_have_what_they_are_for() {
    assert_eq!(Site::of_many_links(7, false), Site::of_many_links(7, false), "the same seed gives the same site");
    assert_eq!(Site::of_many_seeds(7), Site::of_many_seeds(7), "the same seed gives the same sites");
    let (mut long, mut most_origins, mut most_seeds, mut joined) = (0, 0, 0, 0);
    for seed in 0..300 {
        let site = Site::of_many_links(seed, seed % 2 == 0);
        for page in site.hosts.values().flat_map(|host| host.pages.values()) {
            let PageKind::Html { links, .. } = &page.kind else { continue };
            let origins: BTreeSet<_> = links.iter().map(CrawlUrl::origin).collect();
            most_origins = most_origins.max(origins.len());
            long += usize::from(links.iter().map(|to| to.as_str().len()).sum::<usize>() > 2 << 20);
        }
        let site = Site::of_many_seeds(seed);
        most_seeds = most_seeds.max(site.seeds.len());
        let reach = site.reach(&Draft::for_seeds(site.seeds.clone()));
        let seeds: BTreeSet<_> = site.seeds.iter().map(CrawlUrl::origin).collect();
        let origins: BTreeSet<_> = reach.certain.keys().map(CrawlUrl::origin).collect();
        joined = joined.max(origins.difference(&seeds).count());
    }
    assert!(long > 3, "{long} pages whose links take more than a page's may");
    assert!(most_origins > 30, "{most_origins} origins");
    assert!(most_seeds > 100 && joined > 60, "{most_seeds} seeds, of which {joined} moved");
}

#[test]
fn editions_show_everything_that_a_site_does() {
    assert_eq!(Site::editions(7, 5), Site::editions(7, 5), "the same seed gives the same editions");
    let (mut kinds, mut changed) = (BTreeSet::new(), 0);
    for seed in 0..100 {
        let editions = Site::editions(seed, 5);
        changed += editions.windows(2).filter(|pair| pair[0] != pair[1]).count();
        for site in &editions {
            let seeds = site.seeds.iter().map(|seed| site.says(seed));
            assert!(
                seeds.into_iter().all(|says| matches!(says, Says::Content(_))),
                "seed {seed}: a seed is always there"
            );
            let urls = site
                .hosts
                .iter()
                .flat_map(|(origin, host)| host.pages.keys().map(|path| origin.url_at(path).expect("normalised")));
            kinds.extend(urls.map(|url| match site.says(&url) {
                Says::Content(content) => match content.kind {
                    ContentKind::Page => "page",
                    ContentKind::NoIndex => "noindex",
                    ContentKind::NoIndexFile => "noindex file",
                    ContentKind::File => "file",
                    ContentKind::Moved => "moved",
                    ContentKind::Elsewhere => "elsewhere",
                },
                Says::Gone => "gone",
                Says::Forbidden => "forbidden",
                Says::Nothing => "nothing",
            }));
        }
    }
    assert_eq!(kinds.len(), 9, "{kinds:?}");
    assert!(changed > 350, "{changed} of 400 editions differ from the one before");
}
