//! Properties of every URL.

use proptest::prelude::*;

use super::*;

/// Generates texts from the pieces in which URLs differ, so that a good part of them are URLs.
fn urlish() -> impl Strategy<Value = String> {
    let scheme = prop::sample::select(vec!["http://", "https://", "HTTPS:", "http:\\\\", "//", ""]);
    let host = prop_oneof![
        "[a-zA-Z0-9_.-]{1,12}",
        "[a-z]{1,5}\\.(org|co\\.uk|example)\\.?",
        "[0-9a-fx.]{1,12}",
        "\\[[0-9a-f:.]{2,12}\\]",
        "\\PC{1,6}",
    ];
    let port = prop_oneof![Just(String::new()), "(:[0-9]{0,5})?"];
    let piece = prop::sample::select(vec![
        "/",
        "//",
        ".",
        "..",
        "/../",
        "%2e",
        "%2E%2e",
        "%",
        "%%",
        "%4",
        "%34",
        "%41",
        "%7e",
        "%e3%81",
        "%2f",
        "a",
        "Z",
        "3",
        "?",
        "&",
        "=",
        ";",
        "#",
        "+",
        " ",
        "\t",
        "\\",
        "'",
        "\"",
        "<",
        "{",
        "|",
        "^",
        "[",
        "ä",
        "日",
        "\u{0}",
        "@",
        ":",
        "sid",
        "jsessionid=1",
        "utm_a",
        "utm%5fb=1",
        ";jsessionid=2",
        "&gclid=1",
    ]);
    let rest = prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat());
    (scheme, host, port, "[/?#]?", rest)
        .prop_map(|(scheme, host, port, mark, rest)| format!("{scheme}{host}{port}{mark}{rest}"))
}

fn any_rules() -> impl Strategy<Value = UrlRules> {
    prop_oneof![
        Just(UrlRules::default()),
        Just(UrlRules::keep_all()),
        Just(UrlRules::new(["*"]).unwrap()),
        Just(UrlRules::new(["a", "3*"]).unwrap()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// A URL is normalised, and normalising it again, reading it back, or rebuilding it from its
    /// key changes nothing.
    #[test]
    fn normalising_is_idempotent(text in urlish(), rules in any_rules()) {
        if let Ok(url) = CrawlUrl::parse(&text, &rules) {
            prop_assert_eq!(url.check_invariants(), Ok(()));
            prop_assert_eq!(CrawlUrl::parse(url.as_str(), &rules), Ok(url.clone()));
            prop_assert_eq!(CrawlUrl::try_from(url.to_string()), Ok(url));
        }
    }

    /// A page may contain any text.
    #[test]
    fn no_text_makes_the_parser_panic(text in "\\PC{0,40}", reference in "\\PC{0,40}") {
        let base = CrawlUrl::parse("https://example.org/a/", &UrlRules::default()).unwrap();
        for url in [CrawlUrl::parse(&text, &UrlRules::default()), base.join(&reference, &UrlRules::default())] {
            match url {
                Ok(url) => prop_assert_eq!(url.check_invariants(), Ok(())),
                Err(error) => prop_assert!(error.to_string().len() < 250),
            }
        }
    }

    /// A fast refusal agrees with the parser.
    #[test]
    fn joining_agrees_with_the_parser(reference in urlish()) {
        let rules = UrlRules::default();
        let base = CrawlUrl::parse("https://example.org/a/", &rules).unwrap();
        let parser = url::Url::parse(base.as_str()).unwrap().join(&web_reference(&reference)).ok();
        let slow = parser.and_then(|url| CrawlUrl::from_url(&url, &rules).ok());
        prop_assert_eq!(base.join(&reference, &rules).ok(), slow);
    }

    /// Joining without the parser agrees with the parser, with and without parameters to strip.
    #[test]
    fn joining_plain_references_agrees_with_the_parser(
        base in urlish(),
        reference in prop_oneof![
            urlish(),
            "(/|\\./|\\.\\./){0,4}[a-z.:/]{0,8}([?&][a-c;=?]{0,5}(sid=1|utm_a)?)?",
            "https://example.org[a-z./:?]{0,8}",
        ],
        rules in any_rules(),
    ) {
        let bases = ["https://example.org/a;jsessionid=1//b/c?d", "https://example.org", &base];
        for base in bases.into_iter().filter_map(|base| url::Url::parse(base).ok()) {
            if let Some(plain) = PlainBase::from_url(&base).and_then(|base| base.join(&reference)) {
                let parsed = base.join(&web_reference(&reference)).unwrap();
                prop_assert_eq!(plain.as_str(), parsed.as_str());
                prop_assert_eq!(plain.stripped(&rules), CrawlUrl::spelled(&parsed, &rules));
            }
        }
    }

    /// A key is accepted without parsing exactly if parsing would not change it.
    #[test]
    fn checking_keys_agrees_with_the_parser(key in urlish().prop_map(|text| format!("/{text}"))) {
        let origin: Origin = "https://example.org".parse().unwrap();
        let parsed = CrawlUrl::parse(&format!("{origin}{key}"), &UrlRules::keep_all());
        let unchanged = parsed.is_ok_and(|url| url.origin() == origin && url.path_and_query() == key);
        prop_assert_eq!(origin.url_at(&key).is_ok(), unchanged);
    }

    /// The rules keep exactly the other parameters, in their order.
    #[test]
    fn other_parameters_keep_their_order(parameters in prop::collection::vec("[a-c]=[0-9]", 1..8)) {
        let rules = UrlRules::new(["b"]).unwrap();
        let url = CrawlUrl::parse(&format!("https://example.org/?{}", parameters.join("&")), &rules).unwrap();
        let kept: Vec<_> = parameters.iter().filter(|p| !p.starts_with('b')).map(String::as_str).collect();
        prop_assert_eq!(url.query().unwrap_or_default(), kept.join("&"));
    }
}
