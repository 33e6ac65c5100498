use super::*;

#[test]
fn responses_are_written() {
    type Headers = [(&'static str, &'static [u8])];
    let table: [(&Headers, &str, &str); 9] = [
        (&[("content-length", b"4")], "content-length: 4", "a length that is right"),
        (&[("Content-Length", b" 4 ")], "Content-Length:  4 ", "spaces do not make it wrong"),
        (
            &[("Content-Length", b"9")],
            "X-Archive-Orig-Content-Length: 9|Content-Length: 4",
            "a length that is not that of the body",
        ),
        (
            &[("Content-Length", b"4"), ("content-length", b"5")],
            "Content-Length: 4|X-Archive-Orig-content-length: 5|Content-Length: 4",
            "lengths that contradict each other",
        ),
        (
            &[("Transfer-Encoding", b"chunked")],
            "X-Archive-Orig-Transfer-Encoding: chunked",
            "undone before it got here",
        ),
        (&[("Content-Encoding", b"gzip")], "Content-Encoding: gzip", "the body still has it"),
        (&[("A", b"b\r\nSet-Cookie: c")], "A: b  Set-Cookie: c", "an injected field"),
        (&[("A\r\nB: c", b"d")], "A__B__c: d", "a name with more than a name in it"),
        (&[("", b"a\0b\tc")], "_: a b\tc", "no name; a control character; a tab, which is allowed"),
    ];
    for (headers, expected, why) in table {
        let head = http_response_head(200, "OK", &headers.iter().copied().collect(), 4);
        let expected = format!("HTTP/1.1 200 OK\r\n{}\r\n\r\n", expected.replace('|', "\r\n"));
        assert_eq!(String::from_utf8(head).unwrap(), expected, "{why}");
    }
}

#[test]
fn revisit_heads_keep_the_length_of_the_stored_body() {
    let fields = Headers::from_iter([("Content-Length", "99"), ("transfer-encoding", "chunked")]);
    let head = http_revisit_head(304, "", &fields);
    let expected = "HTTP/1.1 304 \r\nContent-Length: 99\r\nX-Archive-Orig-transfer-encoding: chunked\r\n\r\n";
    assert_eq!(String::from_utf8(head).unwrap(), expected);
}

#[test]
fn requests_are_written() {
    let table = [
        ("GET", "/a?b", "GET /a?b HTTP/1.1\r\nHost: x\r\n\r\n", "as it is"),
        (
            "GET",
            "/ HTTP/1.1\r\nEvil: a",
            "GET /%20HTTP/1.1%0D%0AEvil:%20a HTTP/1.1\r\nHost: x\r\n\r\n",
            "an injected field",
        ),
        ("GET /b", "/", "GET__b / HTTP/1.1\r\nHost: x\r\n\r\n", "a method with more than a method in it"),
    ];
    for (method, target, expected, why) in table {
        let block = http_request_block(method, target, &Headers::from_iter([("Host", "x")]));
        assert_eq!(String::from_utf8(block).unwrap(), expected, "{why}");
    }
}

#[test]
fn responses_are_read() {
    let table: [(&[u8], &str, &str); 13] = [
        (
            b"HTTP/1.1 200 OK\r\nA: b\r\n\r\nc\r\n\r\nd",
            "200 OK [A=b] c\\r\\n\\r\\nd",
            "the first empty line ends the head",
        ),
        (b"HTTP/1.1 200 OK\nA: b\n\nc", "200 OK [A=b] c", "LF alone"),
        (b"HTTP/1.1 200\r\n\r\n", "200  [] ", "no reason"),
        (b"HTTP/2 204 \r\n\r\n", "204  [] ", "another version"),
        (b"HTTP/1.1  404  Not  Found \r\n\r\n", "404 Not  Found [] ", "more spaces than needed"),
        (b"HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\td\r\n\r\n", "200 OK [A=b c d] ", "a value over three lines"),
        (b"HTTP/1.1 200 OK\r\n a\r\nb\r\nC:\r\n\r\n", "200 OK [C=] ", "lines that are not fields"),
        (b"HTTP/1.1 200 OK\r\nA: \xff\r\n\r\n\xff", "200 OK [A=\\xff] \\xff", "bytes beyond ASCII"),
        (b"HTTP/1.1 200 OK\r\nA: b", "200 OK [A=b] ", "the head never ends"),
        (b"HTTP/1.1 2000 OK\r\n\r\n", "NoStatusLine", "no status has four digits"),
        (b"HTTP/1.1 +20 OK\r\n\r\n", "NoStatusLine", "a sign is not a digit"),
        (b"<html>", "NoStatusLine", "HTTP/0.9, or no HTTP"),
        (b"", "NoStatusLine", "nothing"),
    ];
    for (block, expected, why) in table {
        let shown = match parse_http_response(block) {
            Err(error) => format!("{error:?}"),
            Ok(HttpResponse { status, reason, headers, body }) => {
                let headers: Vec<_> =
                    headers.iter().map(|(name, value)| format!("{name}={}", value.escape_ascii())).collect();
                format!("{status} {reason} [{}] {}", headers.join(", "), body.escape_ascii())
            }
        };
        assert_eq!(shown, expected, "{why}");
    }
}

#[test]
fn large_heads_are_refused() {
    let head = |fields: &[u8]| [b"HTTP/1.1 200 OK\r\n".as_slice(), fields, b"\r\nbody"].concat();
    let long = [b"A: ".as_slice(), &vec![b'x'; HEAD_BYTES_MAX], b"\r\n"].concat();
    assert_eq!(parse_http_response(&head(&long)), Err(HttpResponseError::HeadTooLarge));
    assert_eq!(
        parse_http_response(&head(&b"A:b\r\n".repeat(HEAD_FIELDS_MAX + 1))),
        Err(HttpResponseError::HeadTooLarge)
    );
    assert_eq!(parse_http_response(&head(&b"A:b\r\n".repeat(HEAD_FIELDS_MAX))).unwrap().body, b"body");
}
