use proptest::prelude::*;

use super::ShellSign::{Nothing, Notice, Placeholder, Root};
use super::*;

const REACT: &str = r#"<!doctype html><html lang="en"><head><title>React App</title><script defer src="/main.js"></script></head>
    <body><noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div></body></html>"#;
const VUE: &str =
    "<!doctype html><title>Vite + Vue</title><script type=module src=/assets/index.js></script><div id=\"app\"></div>";
const ANGULAR: &str = "<!doctype html><base href=/><app-root></app-root><script src=main.js type=module></script>";
const SVELTE: &str = r#"<body><div style="display: contents" id='svelte'></div><script type="module">
    import { start } from "/_app/entry.js"; start({ target: document.body });</script></body>"#;
const FLUTTER: &str = "<body><flutter-view></flutter-view><script src=flutter_bootstrap.js async></script></body>";
const SPINNER: &str =
    "<div id=app><div class=spinner>Loading\u{2026} please wait</div></div><script src=a.js></script>";
const FRAMED: &str = "<nav><a href=/>A</a> <a href=/b>B</a> <a href=/c>C</a></nav><main><p>Loading\u{2026}</p></main><script src=a.js></script>";
const WRITTEN: &str =
    "<body><script>document.write(decodeURIComponent('%3Ch1%3EHello%3C%2Fh1%3E'.repeat(100)))</script>";
const NOTICE: &str =
    "<p>Welcome</p><noscript><b>We're sorry, it doesn't work without JavaScript enabled.</b></noscript>
    <div id=mount></div><script src=a.js></script>";

fn text() -> String {
    "The quick brown fox jumps over the lazy dog. ".repeat(20)
}

#[test]
fn shells_are_told_from_pages() {
    let page = |before: &str, after: &str| format!("{before}{}{after}", text());
    for (html, expected, why) in [
        (REACT.to_owned(), Some(Root), "React's"),
        (VUE.to_owned(), Some(Root), "Vue's"),
        (ANGULAR.to_owned(), Some(Root), "Angular's"),
        (SVELTE.to_owned(), Some(Root), "Svelte's"),
        (FLUTTER.to_owned(), Some(Root), "Flutter's"),
        (SPINNER.to_owned(), Some(Root), "something is loading"),
        (FRAMED.to_owned(), Some(Placeholder), "the frame of a page, sent whole, around what is loading"),
        (FRAMED.replace("Loading\u{2026}", "Loading docks"), None, "a page about loading"),
        (FRAMED.replace("<p>", &format!("<p>{}</p><p>", text())), None, "a whole page, of which a part is loading"),
        (WRITTEN.to_owned(), Some(Nothing), "nothing but a script"),
        (NOTICE.to_owned(), Some(Notice), "it says so"),
        (VUE.to_ascii_uppercase().replace("APP", "app"), Some(Root), "names of any case"),
        ("<div id=root><div></div></div><p>Short</p><script src=a></script>".to_owned(), Some(Root), "elements in it"),
        ("<!-- <p>word --><div id=root></div><script src=a></script>".to_owned(), Some(Root), "a comment is not seen"),
        (page("<div id=root></div><script>/* ", "*/</script>"), Some(Root), "code is not text"),
        (page("<div id=root></div><template>", "</template><script src=a></script>"), Some(Root), "nor a template"),
        (page("<div id=\"__next\"><main>", "</main></div><script src=a.js></script>"), None, "Next, sent whole"),
        (page("<div id=root></div><script src=a></script><p>", ""), None, "enough besides"),
        (
            page("<noscript>Enable JavaScript to comment.</noscript><p>", "<script src=a></script>"),
            None,
            "about a part",
        ),
        ("<div id=root></div>".to_owned(), None, "no script"),
        ("<div id=root></div><script type=application/ld+json>{}</script>".to_owned(), None, "data, no script"),
        ("<div id=root></div><script>var a = 1</script>".to_owned(), None, "a script that brings nothing"),
        ("<div id=rooted></div><p>Word</p><script src=a></script>".to_owned(), None, "another name"),
        ("<h1>It works!</h1>".to_owned(), None, "short, and whole"),
        ("<h1>Closed</h1><p>Come back on Monday.<script src=stats.js></script>".to_owned(), None, "with statistics"),
        (
            "<div id=app><a href=/a>A</a> <a href=/b>B</a> <a href='/c'>C</a></div><script src=a></script>".to_owned(),
            None,
            "it leads somewhere",
        ),
        ("<meta http-equiv=Refresh content='0;url=/x'><script src=a></script>".to_owned(), None, "a redirect"),
        ("<frameset><frame src=a></frameset><script src=a></script>".to_owned(), None, "made of frames"),
        ("<img src=map.png><script src=a></script>".to_owned(), None, "a picture"),
        ("<p title='<div id=root>'>Word</p><script src=a></script>".to_owned(), None, "in a value"),
        (String::new(), None, "nothing at all"),
    ] {
        assert_eq!(find_shell(html.as_bytes()), expected, "{why}: {html}");
    }
    let long = format!("{REACT}{}", " ".repeat(LOOKED_AT_BYTES_MAX));
    assert_eq!(find_shell(long.as_bytes()), None, "not looked at");
}

#[test]
fn the_texts_of_other_character_sets_are_counted() {
    let latin = [&b"<div id=root></div><script src=a></script><p>"[..], &b"caf\xe9 ".repeat(60)].concat();
    assert_eq!(find_shell(&latin), None);
}

proptest! {
    #[test]
    fn any_bytes_are_looked_at(page in proptest::collection::vec(proptest::sample::select(&b"<>/!-=\"'a dscriptv\xff"[..]), 0..400)) {
        let _ = find_shell(&page);
    }
}
