//! Tables of URLs of each kind and their normalised form.

use super::*;

fn parse(text: &str) -> Result<String, UrlError> {
    let url = CrawlUrl::parse(text, &UrlRules::default())?;
    url.check_invariants().unwrap_or_else(|broken| panic!("{text}: {broken}"));
    Ok(url.to_string())
}

#[test]
fn urls_are_normalised() {
    #[rustfmt::skip]
    let rows = [
        // The WHATWG parser's part.
        ("https://example.org", "https://example.org/", "an empty path is the root"),
        ("HTTPS://EXAMPLE.ORG/", "https://example.org/", "scheme and host in lower case"),
        ("https://example.org/A/b", "https://example.org/A/b", "the path's case means something"),
        ("https://example.org:443/", "https://example.org/", "https's own port"),
        ("http://example.org:80/", "http://example.org/", "http's own port"),
        ("http://example.org:443/", "http://example.org:443/", "not http's own port"),
        ("http://example.org:/", "http://example.org/", "a colon without a port"),
        ("http://example.org:0080/", "http://example.org/", "leading zeros of a port"),
        ("http://example.org:0/", "http://example.org:0/", "port 0 is a port to the standard"),
        ("https://example.org/a/./b/../c", "https://example.org/a/c", "dot segments"),
        ("https://example.org/../../a", "https://example.org/a", "none above the root"),
        ("https://example.org/a/..", "https://example.org/", "a dot segment at the end"),
        ("https://example.org/a/%2e%2E/b", "https://example.org/b", "dot segments that are encoded"),
        ("https://example.org/a/.%2e/b", "https://example.org/b", "and half encoded"),
        ("https://example.org/a/...", "https://example.org/a/...", "three dots are a name"),
        ("https://example.org//a//b/", "https://example.org//a//b/", "empty segments stay: some servers tell them apart"),
        ("https:\\\\example.org\\a\\b", "https://example.org/a/b", "backslashes are slashes"),
        ("https:/example.org/", "https://example.org/", "one slash is enough to the standard"),
        ("https:example.org/", "https://example.org/", "and so is none"),
        ("http:///example.org/", "http://example.org/", "and so are three"),
        ("  https://example.org/ \n", "https://example.org/", "white space around it"),
        ("https://exa\tmple.org/a\nb\r", "https://example.org/ab", "tabs and line breaks within are dropped"),
        ("ht\ntps://example.org/", "https://example.org/", "in the scheme too"),
        ("https://example.org/a b", "https://example.org/a%20b", "a space is encoded"),
        ("https://example.org/ä?ö", "https://example.org/%C3%A4?%C3%B6", "other letters are encoded, as UTF-8"),
        ("https://example.org/\"<>`{}", "https://example.org/%22%3C%3E%60%7B%7D", "so is what a path cannot hold"),
        ("https://example.org/?'\"<>", "https://example.org/?%27%22%3C%3E", "and what a query cannot hold"),
        ("https://example.org/a[1]|b^c", "https://example.org/a[1]|b^c", "these the standard leaves"),
        ("https://example.org/\u{0}a", "https://example.org/%00a", "control characters are encoded"),
        ("https://example.org/\u{202e}", "https://example.org/%E2%80%AE", "so are those that turn text round"),
        // Hosts.
        ("https://example.org./a", "https://example.org/a", "the host's trailing dot"),
        ("https://example.org.:8080/", "https://example.org:8080/", "before a port too"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/", "international names in Punycode"),
        ("https://BÜCHER.example/", "https://xn--bcher-kva.example/", "in lower case first"),
        ("https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/", "Punycode stays"),
        ("https://faß.example/", "https://xn--fa-hia.example/", "no transitional mapping to `ss`"),
        ("https://ｅｘａｍｐｌｅ。org/", "https://example.org/", "full-width letters and dot"),
        ("https://%65xample.org/", "https://example.org/", "octets in a host are decoded"),
        ("https://a_b.example.org/", "https://a_b.example.org/", "an underscore resolves"),
        ("https://localhost:3000/", "https://localhost:3000/", "a single name"),
        ("http://127.0.0.1/", "http://127.0.0.1/", "an IPv4 address"),
        ("http://127.0.0.1./", "http://127.0.0.1/", "with a trailing dot"),
        ("http://2130706433/", "http://127.0.0.1/", "IPv4 as one number"),
        ("http://0x7f.1/", "http://127.0.0.1/", "IPv4 in hexadecimal and two parts"),
        ("http://017700000001/", "http://127.0.0.1/", "IPv4 in octal"),
        ("http://0/", "http://0.0.0.0/", "IPv4 zero"),
        ("http://①②⑦.0.0.1/", "http://127.0.0.1/", "IPv4 in circled digits"),
        ("http://[::1]:8080/", "http://[::1]:8080/", "an IPv6 address"),
        ("http://[0:0::0:1]/", "http://[::1]/", "has one shortest form"),
        ("http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "IPv4 within IPv6"),
        ("http://[2001:DB8::A]/", "http://[2001:db8::a]/", "in lower case"),
        // Fragment and query.
        ("https://example.org/#top", "https://example.org/", "the fragment is dropped"),
        ("https://example.org/#!/page", "https://example.org/", "so is one that looks like a path"),
        ("https://example.org/?", "https://example.org/", "an empty query is none"),
        ("https://example.org/?#a", "https://example.org/", "even before a fragment"),
        ("https://example.org/??", "https://example.org/??", "a query of a question mark"),
        ("https://example.org?a=1", "https://example.org/?a=1", "a query behind an empty path"),
        ("https://example.org/?b=2&a=1&b=1", "https://example.org/?b=2&a=1&b=1", "the order means something"),
        ("https://example.org/?a&b=&&=c", "https://example.org/?a&b=&&=c", "odd parameters stay as they are"),
        ("https://example.org/?a=1+2%202", "https://example.org/?a=1+2%202", "`+` and `%20` stay as they are"),
        // Percent-encoding.
        ("https://example.org/%7euser", "https://example.org/~user", "needlessly encoded"),
        ("https://example.org/?%7e=%61", "https://example.org/?~=a", "in the query too"),
        ("https://example.org/%e4%f6", "https://example.org/%E4%F6", "digits in upper case, not UTF-8 either"),
        ("https://example.org/?q=%e4", "https://example.org/?q=%E4", "in the query too"),
        ("https://example.org/a%2fb", "https://example.org/a%2Fb", "an encoded slash separates nothing"),
        ("https://example.org/?a=1%262", "https://example.org/?a=1%262", "nor does an encoded ampersand"),
        ("https://example.org/%", "https://example.org/%", "a `%` alone"),
        ("https://example.org/%zz?%zz", "https://example.org/%zz?%zz", "a `%` without digits"),
        ("https://example.org/100%?%41", "https://example.org/100%?A", "a `%` at the path's end is none of the query's"),
        ("https://example.org/%2541", "https://example.org/%2541", "decoded once only"),
        ("https://example.org/%%34%31", "https://example.org/%%341", "never into a new octet"),
        // Stripped parameters.
        ("https://example.org/a;jsessionid=1F2?x=1", "https://example.org/a?x=1", "a session id in the path"),
        ("https://example.org/a;JSESSIONID=1!2/b;v=1", "https://example.org/a/b;v=1", "in any segment; others stay"),
        ("https://example.org/a;jsession%69d=1", "https://example.org/a", "however it is written"),
        ("https://example.org/a/..;jsessionid=1/b", "https://example.org/a/..;jsessionid=1/b", "never making a dot segment"),
        ("https://example.org/;jsessionid=1", "https://example.org/", "down to an empty segment"),
        ("https://example.org/a%3Bjsessionid=1", "https://example.org/a%3Bjsessionid=1", "an encoded `;` starts nothing"),
        ("https://example.org/?PHPSESSID=1&id=2", "https://example.org/?id=2", "a session id in the query"),
        ("https://example.org/?ASPSESSIONIDABCDEFGH=1", "https://example.org/", "with a name of its own, the last one"),
        ("https://example.org/?zenid=1&zenidea=2", "https://example.org/?zenidea=2", "whole names only"),
        ("https://example.org/?id=1&utm_source=a&utm_medium=b#c", "https://example.org/?id=1", "tracking"),
        ("https://example.org/?utm%5Fsource=a&%67clid=b", "https://example.org/", "however it is written"),
        ("https://example.org/?fbclid=1&a=2&mc_eid=3", "https://example.org/?a=2", "more tracking"),
    ];
    for (text, expected, why) in rows {
        assert_eq!(parse(text).as_deref(), Ok(expected), "{text}: {why}");
    }
}

#[test]
fn refused_urls_have_a_reason() {
    let long_host = format!("https://{}.org/", "a.".repeat(125));
    let long_path = format!("https://example.org/{}", "a".repeat(CrawlUrl::LEN_MAX));
    let huge = format!("https://example.org/#{}", "a".repeat(1 << 20));
    let huge_data = format!("data:text/plain,{}", "a".repeat(1 << 20));
    let no_hint = "a URL starts with `https://` or `http://`";
    let scheme = "only http and https are crawled";
    let credentials =
        "the URL holds a user name or password, which are never sent or stored: remove what comes before the `@`";
    let host = "the URL's host is not a valid domain name: it is over 253 characters or has nothing between two dots";
    #[rustfmt::skip]
    let rows = [
        ("", no_hint, "nothing to guess from"),
        ("/a", no_hint, "nor here"),
        ("index.html ", "a URL starts with `https://` or `http://`: did you mean `https://index.html/`?", "only a guess"),
        ("example.org", "a URL starts with `https://` or `http://`: did you mean `https://example.org/`?", "the usual slip"),
        ("//Example.org/a", "a URL starts with `https://` or `http://`: did you mean `https://example.org/a`?", "as on a page"),
        ("example.org:8080/a", "a URL starts with `https://` or `http://`: did you mean `https://example.org:8080/a`?", "the host reads as a scheme"),
        ("localhost:3000", "a URL starts with `https://` or `http://`: did you mean `https://localhost:3000/`?", "so does this one"),
        ("bücher.example\u{1b}[2J", no_hint, "no suggestion of what would not parse"),
        ("word", no_hint, "not like a host"),
        ("bob:secret@example.org", scheme, "reads as a scheme; the secret is not repeated"),
        ("bob@example.org", no_hint, "no suggestion with a user name"),
        ("ftp://example.org/", scheme, "another protocol"),
        ("file:///etc/passwd", scheme, "a file"),
        ("mailto:a@example.org", scheme, "no page"),
        ("javascript:alert(1)", scheme, "no page"),
        ("JavaScript:alert(1)", scheme, "in any case"),
        ("java\nscript:alert(1)", scheme, "with a line break in it"),
        ("tel:123", scheme, "digits make no port of it"),
        ("view-source:https://example.org/", scheme, "a URL within"),
        ("blob:https://example.org/1", scheme, "a URL within"),
        ("about:blank", scheme, "no page"),
        (&huge_data, scheme, "however long"),
        ("https://", "the URL has no host", "nothing behind the scheme"),
        ("https:///", "the URL has no host", "slashes only"),
        ("https://?a", "the URL has no host", "a query only"),
        ("https://./", "the URL has no host", "the root of all names"),
        ("https://:443/", "the URL has no host", "a port only"),
        ("https://a..example.org/", host, "an empty part"),
        ("https://.example.org/", host, "at the start"),
        ("http://0x7f.1../", host, "two dots at the end must not hide an address"),
        (&long_host, host, "254 characters"),
        ("https://bob@example.org/", credentials, "a user name"),
        ("https://bob:secret@example.org/", credentials, "a password"),
        ("https://:secret@example.org/", credentials, "a password alone"),
        ("https://example.org:99999/", "not a URL: invalid port number", "no such port"),
        ("https://example.org:http/", "not a URL: invalid port number", "no number"),
        ("http://1.2.3.256/", "not a URL: invalid IPv4 address", "a number at the end must be an address"),
        ("http://a.1/", "not a URL: invalid IPv4 address", "whatever stands before"),
        ("http://[::1/", "not a URL: invalid IPv6 address", "brackets open"),
        ("http://[fe80::1%25eth0]/", "not a URL: invalid IPv6 address", "zones are of one machine only"),
        ("https://exa mple.org/", "not a URL: invalid international domain name", "a space in the host"),
        ("https://a%2fb.org/", "not a URL: invalid international domain name", "a slash smuggled into the host"),
        ("https://xn--a/", "not a URL: invalid international domain name", "no Punycode"),
        (&long_path, "the URL is longer than 2048 bytes", "as it would be stored"),
        (&huge, "the URL is longer than 2048 bytes", "not worth parsing, though a fragment is most of it"),
    ];
    for (text, expected, why) in rows {
        let shown: String = text.chars().take(60).collect();
        assert_eq!(parse(text).map_err(|error| error.to_string()), Err(expected.to_owned()), "{shown}: {why}");
    }
}

#[test]
fn the_length_is_that_of_the_normalised_url() {
    let start = "https://example.org/";
    let longest = format!("{start}{}", "a".repeat(CrawlUrl::LEN_MAX - start.len()));
    assert_eq!(parse(&longest), Ok(longest.clone()));
    assert_eq!(parse(&format!("{longest}#fragment")), Ok(longest.clone()), "what is taken out does not count");
    assert_eq!(parse(&format!("{longest}a")), Err(UrlError::TooLong));
    let encoded = format!("{start}{}", "ä".repeat(400));
    assert_eq!(parse(&encoded), Err(UrlError::TooLong), "encoding counts, six bytes each");
}

#[test]
fn references_join_to_their_page() {
    let page = CrawlUrl::parse("https://example.org/a/b?c=1", &UrlRules::default()).unwrap();
    #[rustfmt::skip]
    let rows = [
        ("d", "https://example.org/a/d", "beside the page"),
        ("../d?x=1&zenid=2#e", "https://example.org/d?x=1", "above it, normalised"),
        ("/d", "https://example.org/d", "from the root"),
        ("//example.net/d", "https://example.net/d", "another host, the same scheme"),
        ("/\t/example.net/d", "https://example.net/d", "the same in disguise"),
        ("///example.net/d", "https://example.net/d", "three slashes are two"),
        ("\\/\\/example.net", "https://example.net/", "and so are four, whichever way they lean"),
        ("\\\\example.net", "https://example.net/", "with backslashes"),
        ("?d=1", "https://example.org/a/b?d=1", "the page with another query"),
        ("", "https://example.org/a/b?c=1", "the page"),
        ("#d", "https://example.org/a/b?c=1", "a place on the page"),
        ("http:d", "http://d/", "another scheme: no reference to the page"),
        ("https:d", "https://example.org/a/d", "its own scheme: a reference to it, in the old way"),
        ("a:b", "only http and https are crawled", "a colon makes a scheme"),
        ("./a:b", "https://example.org/a/a:b", "not behind a slash"),
        ("mailto:a@example.org", "only http and https are crawled", "no page"),
        ("//bob:secret@example.net/", "the URL holds a user name or password, which are never sent or stored: remove what comes before the `@`", "credentials"),
        ("//", "the URL has no host", "no host"),
    ];
    for (reference, expected, why) in rows {
        let joined = page.join(reference, &UrlRules::default());
        assert_eq!(
            joined.map_or_else(|error| error.to_string(), |url| url.to_string()),
            expected,
            "{reference}: {why}"
        );
    }
}

#[test]
fn a_url_has_parts() {
    let url = CrawlUrl::parse("http://[::1]:8080/a/b?c=1+2&d%C3%A4&c=3", &UrlRules::default()).unwrap();
    assert_eq!((url.scheme(), url.host(), url.port()), (Scheme::Http, "[::1]", 8080));
    assert_eq!((url.path(), url.query()), ("/a/b", Some("c=1+2&d%C3%A4&c=3")));
    assert_eq!(url.path_and_query(), "/a/b?c=1+2&d%C3%A4&c=3");
    let pairs: Vec<_> = url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
    assert_eq!(pairs, [("c", "1 2"), ("dä", ""), ("c", "3")].map(|(n, v)| (n.to_owned(), v.to_owned())));

    let plain = CrawlUrl::parse("https://[::1]/", &UrlRules::default()).unwrap();
    assert_eq!((plain.host(), plain.port(), plain.query()), ("[::1]", 443, None), "no port is read out of the address");
    assert_eq!(plain.query_pairs().count(), 0);
    assert_eq!(size_of::<CrawlUrl>(), 24, "it is copied a thousand times a second");
}

#[test]
fn a_stored_url_keeps_its_parameters() {
    let stored = r#""https://example.org/?sid=1""#;
    let url: CrawlUrl = serde_json::from_str(stored).unwrap();
    assert_eq!(serde_json::to_string(&url).unwrap(), stored, "rules may have changed since it was stored");
    for bad in [r#""ftp://example.org/""#, r#""/a""#, r#""https://bob@example.org/""#] {
        assert!(serde_json::from_str::<CrawlUrl>(bad).is_err(), "{bad} was never stored");
    }
}

#[test]
fn origins_are_read_and_have_parts() {
    let origin: Origin = serde_json::from_str(r#""HTTP://Example.org.:8080""#).unwrap();
    assert_eq!(serde_json::to_string(&origin).unwrap(), r#""http://example.org:8080""#);
    assert_eq!((origin.scheme(), origin.host(), origin.port()), (Scheme::Http, "example.org", 8080));
    for text in ["https://example.org/a", "https://example.org/?sid=1"] {
        assert_eq!(text.parse::<Origin>(), Err(OriginError::PathOrQuery), "{text}");
    }
    let message = "example.org".parse::<Origin>().unwrap_err().to_string();
    assert_eq!(message, "a URL starts with `https://` or `http://`: did you mean `https://example.org/`?");
}

#[test]
fn a_url_is_restored_from_its_stored_key() {
    let origin: Origin = "https://example.org".parse().unwrap();
    assert_eq!(origin.url_at("/a?sid=1").unwrap().as_str(), "https://example.org/a?sid=1", "parameters stay");
    #[rustfmt::skip]
    let rows = [
        ("", "no path"),
        ("a", "no slash: it would lengthen the host"),
        (".evil.example/", "so would this"),
        (":8080/", "or give it a port"),
        ("@evil.example/", "or make it a user name"),
        ("/a#b", "a fragment"),
        ("/a?", "an empty query"),
        ("/a/../b", "a dot segment"),
        ("/a/.", "a dot segment at the end"),
        ("/a b", "a space"),
        ("/ä", "not ASCII"),
        ("/a\\b", "a backslash"),
        ("/a\r\nHost: evil.example", "a line break"),
        ("/%7e", "encoded needlessly"),
        ("/%e4", "digits in lower case"),
        ("/?%e4", "in the query"),
        ("/?'", "a quote in the query"),
    ];
    for (key, why) in rows {
        assert_eq!(origin.url_at(key), Err(UrlError::Key), "{key}: {why}");
    }
    let long = format!("/{}", "a".repeat(CrawlUrl::LEN_MAX));
    assert_eq!(origin.url_at(&long), Err(UrlError::TooLong));
}

#[test]
fn a_site_is_a_registrable_domain() {
    #[rustfmt::skip]
    let rows = [
        ("https://example.org", Some("example.org"), "itself"),
        ("https://a.b.example.org:8080", Some("example.org"), "hosts below it"),
        ("https://www.example.co.uk", Some("example.co.uk"), "a suffix of two parts"),
        ("https://co.uk", None, "a suffix itself"),
        ("https://org", None, "a suffix itself"),
        ("https://someone.github.io", Some("someone.github.io"), "users of one host are separate"),
        ("https://www.xn--85x722f.xn--55qx5d.cn", Some("xn--85x722f.xn--55qx5d.cn"), "suffixes in Punycode"),
        ("http://localhost", None, "a single name"),
        ("http://127.0.0.1", None, "an address has no domain"),
        ("http://[::1]", None, "nor has this one"),
    ];
    for (text, expected, why) in rows {
        assert_eq!(text.parse::<Origin>().unwrap().registrable_domain(), expected, "{text}: {why}");
    }
    #[rustfmt::skip]
    let pairs = [
        ("https://example.org", "http://www.example.org:8080", true, "scheme and port do not matter"),
        ("https://example.org", "https://example.net", false, "other domains"),
        ("https://a.github.io", "https://b.github.io", false, "other users"),
        ("http://127.0.0.1:1", "http://127.0.0.1:2", true, "the same address"),
        ("http://127.0.0.1", "http://1.0.0.1", false, "addresses share no domain"),
        ("http://localhost", "http://localhost:3000", true, "the same single name"),
        ("https://co.uk", "https://org.uk", false, "two suffixes"),
    ];
    for (one, other, expected, why) in pairs {
        let (one, other): (Origin, Origin) = (one.parse().unwrap(), other.parse().unwrap());
        assert_eq!(one.is_same_site(&other), expected, "{one}, {other}: {why}");
        assert_eq!(other.is_same_site(&one), expected, "{other}, {one}: {why}");
    }
}

#[test]
fn www_and_https_are_aliases_of_an_origin() {
    #[rustfmt::skip]
    let rows = [
        ("http://example.org", "https://example.org", true, "https"),
        ("https://example.org", "http://example.org", false, "a step back"),
        ("https://example.org", "https://www.example.org", true, "www"),
        ("https://www.example.org", "https://example.org", true, "without www"),
        ("http://example.org", "https://www.example.org", true, "both at once"),
        ("http://www.a.example.org", "https://a.example.org", true, "below the registered domain"),
        ("https://example.org", "https://en.example.org", false, "another host of the site"),
        ("https://example.org", "https://www.example.net", false, "another site"),
        ("https://www.org", "https://org", false, "no part of the name is taken away"),
        ("http://example.org:8080", "http://www.example.org:8080", true, "the same port"),
        ("http://example.org:8080", "http://example.org:8081", false, "another port, which may be another service"),
        ("http://localhost:8080", "https://localhost:8443", true, "https has a port of its own"),
        ("http://127.0.0.1:80", "https://127.0.0.1", true, "an address, too"),
    ];
    for (own, other, expected, why) in rows {
        let (own, other): (Origin, Origin) = (own.parse().unwrap(), other.parse().unwrap());
        assert_eq!(own.has_alias(&other), expected, "{own}, {other}: {why}");
    }
}
