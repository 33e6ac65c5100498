//! Sending requests, and recording answers.

use dragline_domain::frontier::Cookie;
use dragline_formats::http_fields::Headers;
use dragline_ports::fetcher::{AnswerPart, FetchRequest, Fetcher};

use crate::support::{RawServer, fetch, fetcher, kept_body, request, response};

/// The fields of a request's header as received, without the request line.
fn fields(header: &str) -> Headers {
    let lines = header.trim_end().split("\r\n").skip(1);
    lines.map(|line| line.split_once(": ").unwrap()).collect()
}

#[tokio::test]
async fn the_request_is_recorded_as_it_was_sent() {
    let server = RawServer::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    let mut request = request(&server.url("/a/b?c=d#e"));
    request.if_none_match = Some("W/\"v1\"".into());
    request.if_modified_since = Some("Sat, 21 Nov 2026 08:00:00 GMT".into());
    let fetched = fetcher().fetch(request).await;
    let [header] = server.requests().try_into().expect("one request");
    assert!(header.starts_with("GET /a/b?c=d HTTP/1.1\r\n"), "{header}");
    let recorded = fields(&header);
    assert_eq!(fetched.request_headers, recorded);
    let sent = recorded.iter().map(|(name, value)| format!("{name}: {}", String::from_utf8(value.to_vec()).unwrap()));
    let expected = [
        "accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8".to_owned(),
        "accept-encoding: gzip, deflate, br, zstd".to_owned(),
        "user-agent: dragline-test/1.0".to_owned(),
        "if-none-match: W/\"v1\"".to_owned(),
        "if-modified-since: Sat, 21 Nov 2026 08:00:00 GMT".to_owned(),
        format!("host: site.test:{}", server.port()),
    ];
    assert_eq!(sent.collect::<Vec<_>>(), expected, "these and no others");
    assert_eq!(fetched.remote, Some(server.address()));
    assert!(fetched.first_byte.unwrap() <= fetched.elapsed);
}

#[tokio::test]
async fn cookies_and_redirects_are_left_alone() {
    let answer = "HTTP/1.1 302 Found\r\nLocation: /next\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n";
    let server = RawServer::answering(answer).await;
    let fetcher = fetcher();
    for _ in 0..2 {
        let fetched = fetch(&fetcher, &server.url("/")).await;
        assert_eq!(response(fetched).status, 302);
    }
    assert_eq!(server.requests().len(), 2, "the redirect was not followed");
    for header in server.requests() {
        assert!(!header.contains("cookie") && !header.contains("referer"), "{header}");
    }
}

#[tokio::test]
async fn a_target_and_cookies_are_sent_byte_for_byte_where_the_request_has_them() {
    let server = RawServer::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    let targets = ["/caf%c3%a9", "/%7Ea%2Db", "/a?", "/a;jsessionid=AB12", "/?PHPSESSID=ab12", "//a//b"];
    for target in targets {
        let mut request = request(&server.url("/a"));
        request.target = Some(target.to_owned());
        request.cookie = Cookie::from_pairs([("sid", "secret")]);
        let fetched = fetcher().fetch(request).await;
        let header = server.requests().pop().unwrap();
        assert!(header.starts_with(&format!("GET {target} HTTP/1.1\r\n")), "{target}: {header}");
        assert!(header.contains("\r\ncookie: sid=secret\r\n"), "{target}: {header}");
        assert_eq!(fetched.request_headers.get("cookie"), Some(&b"[redacted]"[..]), "{target}");
    }
}

#[tokio::test]
async fn a_head_waits_for_no_body() {
    for (fields, why) in [
        ("Content-Length: 100\r\nContent-Encoding: gzip", "a length that a GET would have"),
        ("Transfer-Encoding: chunked", "chunks that a GET would have"),
        ("Connection: close", "nothing that tells"),
    ] {
        let server = RawServer::answering(format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\n")).await;
        let head = FetchRequest { wanted: AnswerPart::Header, ..request(&server.url("/a")) };
        let response = response(fetcher().fetch(head).await);
        assert_eq!((response.status, response.truncated, response.body.len_bytes()), (200, None, 0), "{why}");
        assert!(server.requests()[0].starts_with("HEAD /a HTTP/1.1\r\n"), "{why}");
    }
}

#[tokio::test]
async fn responses() {
    struct Case {
        answer: &'static str,
        status: u16,
        reason: &'static str,
        headers: &'static [(&'static str, &'static str)],
        body: &'static str,
        why: &'static str,
    }
    let cases = [
        Case {
            answer: "HTTP/1.1 200 Fine\r\nB: 1\r\na: 2\r\nContent-Length: 2\r\n\r\nok",
            status: 200,
            reason: "Fine",
            headers: &[("b", "1"), ("a", "2"), ("content-length", "2")],
            body: "ok",
            why: "the server's own reason, and the order of its fields",
        },
        Case {
            answer: "HTTP/1.1 304 Not Modified\r\nETag: \"v1\"\r\n\r\n",
            status: 304,
            reason: "Not Modified",
            headers: &[("etag", "\"v1\"")],
            body: "",
            why: "no body, and none is waited for",
        },
        Case {
            answer: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
            status: 404,
            reason: "Not Found",
            headers: &[("content-length", "0")],
            body: "",
            why: "an interim response is not the response",
        },
        Case {
            answer: "HTTP/1.0 200 OK\r\n\r\nuntil the end",
            status: 200,
            reason: "OK",
            headers: &[],
            body: "until the end",
            why: "without a length the connection's end is the body's, RFC 9112 section 6.3",
        },
        Case {
            answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nX: y\r\n\r\n",
            status: 200,
            reason: "OK",
            headers: &[("transfer-encoding", "chunked")],
            body: "abcde",
            why: "the transfer coding is removed",
        },
        Case {
            answer: "HTTP/1.1 200 OK\r\nNo colon\r\nSpace : 1\r\nFolded: a\r\n b\r\nContent-Length: 2\r\n\r\nok",
            status: 200,
            reason: "OK",
            headers: &[("space", "1"), ("folded", "a b"), ("content-length", "2")],
            body: "ok",
            why: "a page is worth more than its faulty fields",
        },
        Case {
            answer: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok, and more",
            status: 200,
            reason: "OK",
            headers: &[("content-length", "2")],
            body: "ok",
            why: "what follows the body is not part of it",
        },
    ];
    for case in cases {
        let server = RawServer::answering(case.answer).await;
        let response = response(fetch(&fetcher(), &server.url("/")).await);
        let headers: Vec<_> =
            response.headers.iter().map(|(name, value)| (name, std::str::from_utf8(value).unwrap())).collect();
        assert_eq!((response.status, response.reason.as_str()), (case.status, case.reason), "{}", case.why);
        assert_eq!(headers, case.headers, "{}", case.why);
        assert_eq!(kept_body(&response), case.body, "{}", case.why);
        assert_eq!(response.truncated, None, "{}", case.why);
    }
}

#[tokio::test]
async fn a_connection_is_reused() {
    let server = RawServer::answering_twice().await;
    let fetcher = fetcher();
    for _ in 0..4 {
        assert_eq!(kept_body(&response(fetch(&fetcher, &server.url("/")).await)), "ok");
    }
    assert_eq!((server.requests().len(), server.connections()), (4, 2), "two requests per connection");
}
