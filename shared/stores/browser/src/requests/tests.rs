use dragline_ports::renderer::{AskedKind, AskedMethod};
use tokio::io::{AsyncBufReadExt, BufReader, DuplexStream, duplex};

use super::*;

/// Requests of a page, and what is said to its browser.
struct Held {
    requests: Requests,
    said: BufReader<DuplexStream>,
}

impl Held {
    fn new(requests_max: u32) -> Self {
        let (input, said) = duplex(1 << 20);
        let (link, _) = Link::open(input, tokio::io::empty());
        let first = response(200, b"<!doctype html>");
        let frames_before = HashSet::from(["OLD".to_owned()]);
        Self {
            requests: Requests::new(link, "MAIN", first, (requests_max, Screenshot::None), frames_before),
            said: BufReader::new(said),
        }
    }

    fn request(&mut self, id: &str, frame: &str, resource: &str, url: &str) -> Option<Asked> {
        let request = json!({"url": url, "method": "GET", "headers": {"Accept": "*/*", "User-Agent": "x"}});
        self.requests.handle(&json!({
            "requestId": id, "frameId": frame, "resourceType": resource, "request": request,
        }))
    }

    /// Returns the next command: what is done to which request.
    async fn next(&mut self) -> String {
        let mut bytes = Vec::new();
        self.said.read_until(0, &mut bytes).await.unwrap();
        bytes.pop();
        let command: Value = serde_json::from_slice(&bytes).unwrap();
        let params = &command["params"];
        let how =
            params["responseCode"].as_u64().map_or(text(&params["errorReason"]).to_owned(), |code| code.to_string());
        format!("{} {how}", text(&params["requestId"]))
    }
}

fn response(status: u16, body: &'static [u8]) -> PageResponse {
    PageResponse { status, headers: Headers::default(), body: Bytes::from_static(body) }
}

#[tokio::test]
async fn the_page_itself_is_answered_once_and_then_stays() {
    let mut held = Held::new(5);
    assert_eq!(held.request("1", "MAIN", "Document", "https://a.test/"), None);
    assert_eq!(held.next().await, "1 200");
    for (id, url) in [("2", "https://a.test/b"), ("3", "https://a.test/b"), ("4", "mailto:x@a.test")] {
        assert_eq!(held.request(id, "MAIN", "Document", url), None);
        assert_eq!(held.next().await, format!("{id} Aborted"));
    }
    let made = held.requests.finish();
    let navigations: Vec<_> = made.navigations.iter().map(CrawlUrl::as_str).collect();
    assert_eq!(navigations, ["https://a.test/b"], "once, and only what can be crawled");
}

#[tokio::test]
async fn requests_are_numbered_and_limited() {
    let mut held = Held::new(2);
    let asked = held.request("1", "MAIN", "XHR", "https://a.test/%7Ex?utm_source=y").unwrap();
    assert_eq!((asked.number, asked.kind, asked.method), (1, AskedKind::Data, AskedMethod::Get));
    assert_eq!(asked.url.as_str(), "https://a.test/~x?utm_source=y", "no parameter is lost");
    assert_eq!(asked.target.as_deref(), Some("/%7Ex?utm_source=y"), "and no spelling");
    assert_eq!(asked.headers.get("user-agent"), None);
    assert_eq!(held.request("2", "MAIN", "Image", "https://a.test/i"), None);
    assert_eq!(held.next().await, "2 200");
    assert_eq!(held.request("3", "FRAME", "Document", "https://a.test/f").map(|asked| asked.number), Some(2));
    assert_eq!(held.request("4", "MAIN", "XHR", "https://a.test/y"), None);
    assert_eq!(held.next().await, "4 BlockedByClient", "the third of two");
    assert_eq!(held.request("5", "OLD", "XHR", "https://a.test/y"), None);
    assert_eq!(held.next().await, "5 BlockedByClient", "of the page before");
    held.requests.close();
    assert_eq!((held.next().await, held.next().await), ("1 BlockedByClient".into(), "3 BlockedByClient".into()));
    let counts = held.requests.finish().counts;
    assert_eq!(counts, RequestCounts { answered: 0, refused: 2, over_limit: 1, left_out: 1 });
}

#[tokio::test]
async fn answers_are_passed_on_in_the_order_asked() {
    let mut held = Held::new(9);
    for id in ["1", "2", "3"] {
        held.request(id, "MAIN", "XHR", "https://a.test/x").unwrap();
    }
    held.requests.take_answer(2, Answer::Response(response(200, b"")));
    assert!(held.requests.has_ready(), "it waits for the first");
    held.requests.take_answer(1, Answer::Refused);
    assert_eq!((held.next().await, held.next().await), ("1 BlockedByClient".into(), "2 200".into()));
    assert!(!held.requests.has_ready() && held.requests.has_open());
    held.request("4", "MAIN", "XHR", "https://a.test/x").unwrap();
    held.requests.take_answer(4, Answer::Response(response(404, b"")));
    held.requests.pass_on_ready();
    assert_eq!(held.next().await, "4 404", "not for ever");
    held.requests.take_answer(4, Answer::Refused);
    assert!(held.requests.has_open(), "a second answer changes nothing");
}
