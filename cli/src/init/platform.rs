//! The programs that make sites, as far as their pages name them.

use dragline_domain::shown::one_line;

/// The limit on a quoted generator, in characters.
const GENERATOR_CHARS_MAX: usize = 60;

/// How many different signs name a platform without its generator.
const SIGNS_MIN: usize = 2;

/// A program that makes sites.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Platform {
    /// Its name.
    pub(super) name: &'static str,
    /// The first word of its generator, in lower case.
    generator: &'static str,
    /// Parts of the URLs of its style sheets, scripts and other resources.
    signs: &'static [&'static str],
    /// Patterns of URLs that show the same content again, or offer an action.
    pub(super) excludes: &'static [&'static str],
}

/// The known platforms. One that is built on another comes first.
const PLATFORMS: &[Platform] = &[
    Platform {
        name: "WooCommerce",
        generator: "woocommerce",
        signs: &["/plugins/woocommerce/assets/css/", "/plugins/woocommerce/assets/js/"],
        excludes: &["[?&](add-to-cart|orderby|replytocom)=", "/(cart|checkout|my-account)/", "/wp-json/"],
    },
    Platform {
        name: "WordPress",
        generator: "wordpress",
        signs: &["/wp-content/", "/wp-includes/", "/wp-json/"],
        excludes: &["[?&](replytocom|share)=", "/wp-json/", "/wp-login\\.php"],
    },
    Platform {
        name: "MediaWiki",
        generator: "mediawiki",
        signs: &["/load.php?", "/opensearch_desc.php", "/rest.php"],
        excludes: &["[?&](action|oldid|diff|printable|veaction)=", "[/=]Special:"],
    },
    Platform {
        name: "Drupal",
        generator: "drupal",
        signs: &["/sites/default/files/", "/core/misc/", "/modules/contrib/", "/themes/contrib/"],
        excludes: &["/comment/reply/", "/user/(login|password|register)", "/search/"],
    },
    Platform {
        name: "Shopify",
        generator: "shopify",
        signs: &["://cdn.shopify.com/", "/cdn/shopifycloud/", "/cdn/shop/", "/shopify_pay/"],
        excludes: &["[?&](variant|sort_by|pr_prod_strat)=", "/(cart|checkout|account)(/|$)"],
    },
    Platform {
        name: "Joomla",
        generator: "joomla!",
        signs: &["/media/system/js/", "/media/vendor/joomla", "/components/com_"],
        excludes: &["[?&](format|print|tmpl)="],
    },
    Platform {
        name: "TYPO3",
        generator: "typo3",
        signs: &["/typo3conf/", "/typo3temp/"],
        excludes: &["[?&](type|no_cache)="],
    },
    Platform {
        name: "PrestaShop",
        generator: "prestashop",
        signs: &["/modules/ps_", "/themes/core.js"],
        excludes: &["[?&](order|q|resultsPerPage)=", "controller="],
    },
    Platform {
        name: "DokuWiki",
        generator: "dokuwiki",
        signs: &["/lib/exe/css.php", "/lib/exe/js.php"],
        excludes: &["[?&](do|idx|rev)="],
    },
    Platform { name: "Discourse", generator: "discourse", signs: &[], excludes: &["[?&](order|ascending)=", "/u/"] },
    Platform { name: "Ghost", generator: "ghost", signs: &[], excludes: &["/ghost/", "[?&]ref="] },
    Platform {
        name: "Sphinx",
        generator: "sphinx",
        signs: &["/documentation_options.js", "/doctools.js", "/genindex.html", "/sphinx_highlight.js"],
        excludes: &["/_sources/", "/_modules/", "/genindex", "/search\\.html"],
    },
    Platform { name: "Docusaurus", generator: "docusaurus", signs: &[], excludes: &["/search(/|\\?|$)", "/tags/"] },
    Platform { name: "MkDocs", generator: "mkdocs", signs: &[], excludes: &["/search\\.html", "/404\\.html"] },
    Platform { name: "Hugo", generator: "hugo", signs: &[], excludes: &["/(tags|categories)/"] },
    Platform { name: "Jekyll", generator: "jekyll", signs: &[], excludes: &["/(tags|categories)/"] },
];

/// A platform, and how it was recognised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundPlatform {
    pub(super) platform: &'static Platform,
    /// The evidence, on one line.
    pub(super) by: String,
}

/// Returns the platform that the page's generators name, or that several kinds of its resources
/// belong to; `None` if there is too little evidence.
pub(super) fn find(generators: &[&str], resources: &[&str]) -> Option<FoundPlatform> {
    let by_generator = PLATFORMS.iter().find_map(|platform| {
        let named = generators.iter().find(|text| is_named(text, platform.generator))?;
        let by = format!("its generator `{}`", one_line(named, GENERATOR_CHARS_MAX));
        Some(FoundPlatform { platform, by })
    });
    by_generator.or_else(|| {
        PLATFORMS.iter().find_map(|platform| {
            let is_there = |sign: &&&str| resources.iter().any(|url| url.contains(**sign));
            let signs: Vec<_> = platform.signs.iter().filter(is_there).map(|sign| format!("`{sign}`")).collect();
            let by = format!("{} in what it loads", signs.join(" and "));
            (signs.len() >= SIGNS_MIN).then_some(FoundPlatform { platform, by })
        })
    })
}

/// Whether a generator begins with this word, which a version may follow.
fn is_named(generator: &str, word: &str) -> bool {
    let generator = generator.trim_start().to_ascii_lowercase();
    let rest = generator.strip_prefix(word);
    rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphabetic()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_platform_needs_its_generator_or_two_signs() {
        for (generators, resources, expected, why) in [
            (&["WordPress 6.5.2"][..], &[][..], Some("WordPress"), "its generator"),
            (&["MediaWiki 1.43.0-wmf.4"], &[], Some("MediaWiki"), "another"),
            (&["mkdocs-1.5.3, mkdocs-material-9.4.0"], &[], Some("MkDocs"), "a version after a dash"),
            (&["Elementor 3.2", "WordPress 6.5"], &[], Some("WordPress"), "one of several generators"),
            (&["WordPress 6.5", "WooCommerce 8.7"], &[], Some("WooCommerce"), "the more special one"),
            (&["Ghostwriter"], &[], None, "a longer word"),
            (&["like WordPress"], &[], None, "named, but not first"),
            (&[], &["https://a.example/wp-content/a.css"], None, "a single sign"),
            (
                &[],
                &["https://a.example/wp-content/a.css", "https://a.example/wp-content/b.css"],
                None,
                "the same twice",
            ),
            (
                &[],
                &["https://a.example/wp-content/a.css", "https://a.example/wp-includes/b.js"],
                Some("WordPress"),
                "two signs",
            ),
            (
                &[],
                &["https://a.example/_static/doctools.js?v=1", "https://a.example/genindex.html"],
                Some("Sphinx"),
                "it has no generator of its own",
            ),
            (&[], &[], None, "nothing"),
        ] {
            let found = find(generators, resources).map(|found| found.platform.name);
            assert_eq!(found, expected, "{why}");
        }
        let found = find(&["WordPress 6\n\u{1b}[31m# 5"], &[]).unwrap();
        assert_eq!(found.by, r"its generator `WordPress 6 \u{1b}[31m# 5`", "quoted on one line");
    }
}
