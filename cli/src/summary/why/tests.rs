use dragline_domain::outcome::Outcome;

use super::*;

fn counted(cause: Cause, urls: u64, example: &str) -> CauseCount {
    CauseCount { cause, urls, example: example.to_owned(), leads_to: None, detail: None }
}

#[test]
fn the_hint_of_a_redirect_can_be_pasted_into_a_shell() {
    let to = "https://b.example/?a&b".to_owned();
    let away = CauseCount { leads_to: Some(to), ..counted(Cause::RedirectsElsewhere, 1, "https://a.example/") };
    let hints = WhyNothing(&[away]).hints();
    assert_eq!(hints, ["crawl the target of the redirect: `dragline crawl 'https://b.example/?a&b'`"]);
}

#[test]
fn only_a_few_causes_are_named() {
    let one = [counted(Cause::NotFound, 1, "https://a.example/\u{1b}[2J")];
    assert_eq!(
        WhyNothing(&one).message(),
        "nothing was crawled: 1 URL: not found: https://a.example/\\u{1b}[2J",
        "on one harmless line"
    );
    let many = [
        counted(Cause::ForbiddenByRobots, 3, "https://170.example/0"),
        counted(Cause::NotFound, 2, "https://44.example/0"),
        counted(Cause::NoAnswer(NoAnswer::TimedOut), 1, "https://101.example/0"),
        counted(Cause::NoAnswer(NoAnswer::PrivateAddress), 1, "https://175.example/0"),
        counted(Cause::Ended(Outcome::ServerInternalError), 1, "https://50.example/0"),
        counted(Cause::Ended(Outcome::RateLimited), 1, "https://60.example/0"),
    ];
    assert_eq!(
        WhyNothing(&many).message(),
        "nothing was crawled
  3 URLs: forbidden by robots.txt: https://170.example/0
  2 URLs: not found: https://44.example/0
  1 URL: timed out: https://101.example/0
  1 URL: private address: https://175.example/0
  2 URLs: for other reasons"
    );
    assert_eq!(WhyNothing(&[]).message(), "nothing was crawled", "no seed had its turn");
}
