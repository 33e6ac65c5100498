use dragline_domain::ids::Iteration;

use super::*;
use crate::samples::visit;

fn of_visits(visits: impl IntoIterator<Item = LogRow>) -> Vec<CauseCount> {
    let mut causes = Causes::default();
    visits.into_iter().for_each(|visit| causes.add_visit(visit));
    causes.into_counts()
}

fn left(reason: LeftoverReason, robots_error: Option<&str>) -> LeftoverRow {
    LeftoverRow {
        iteration: Iteration::FIRST,
        origin: "https://example.org".parse().unwrap(),
        reason,
        urls: 1,
        robots_error: robots_error.map(str::to_owned),
    }
}

#[test]
fn each_outcome_has_its_cause() {
    use Outcome::{
        BlockedAtRequestOfRemote, BlockedByRobotsTxt, BlockedPrivateAddress, BlockedUrlByLocalPolicy, ConnectionFailed,
        FileGone, FileNotFound, NotCanonical, RequestTimeout, ServerInternalError,
    };
    let plain = |outcome| visit("https://example.org/", outcome);
    let detailed = |outcome, detail: &str| LogRow { detail: Some(detail.to_owned()), ..plain(outcome) };
    let answered = |outcome, status| LogRow { status: Some(status), ..plain(outcome) };
    for (visit, expected, why) in [
        (plain(BlockedPrivateAddress), "private_address", "by its outcome"),
        (plain(FileNotFound), "not_found", "404"),
        (plain(FileGone), "not_found", "410"),
        (plain(BlockedByRobotsTxt), "forbidden_by_robots_txt", "by its outcome"),
        (plain(BlockedUrlByLocalPolicy), "ruled_out", "by its outcome"),
        (plain(RequestTimeout), "timed_out", "also if the server says so, with 408"),
        (answered(BlockedAtRequestOfRemote, 401), "asks_for_log_in", "401"),
        (answered(BlockedAtRequestOfRemote, 403), "refused_by_server", "403"),
        (answered(BlockedAtRequestOfRemote, 200), "not_to_be_indexed", "a page with noindex"),
        (detailed(ConnectionFailed, "host not found: no such name"), "host_not_found", "by its detail"),
        (detailed(ConnectionFailed, "connection refused: nobody"), "connection_refused", "by its detail"),
        (detailed(ConnectionFailed, "the peer hung up"), "connection_failed", "nothing more is known"),
        (plain(ServerInternalError), "server_internal_error", "500"),
        (plain(NotCanonical), "not_canonical", "and its canonical URL was not fetched"),
    ] {
        let counted = of_visits([visit]);
        assert_eq!(counted.iter().map(|counted| counted.cause.name()).collect::<Vec<_>>(), [expected], "{why}");
    }
    for outcome in [Outcome::FileIngested, Outcome::StoredNotRead, Outcome::FileDidNotChange] {
        assert_eq!(of_visits([plain(outcome)]), [], "{outcome} is content");
    }
}

#[test]
fn an_unreadable_robots_txt_is_counted_by_its_error() {
    use LeftoverReason::{BudgetExhausted, RobotsUnreadable};
    for (left, expected) in [
        (left(RobotsUnreadable, Some("certificate not trusted: UnknownIssuer")), "certificate_not_trusted"),
        (left(RobotsUnreadable, Some("timed out: no connection in time")), "timed_out"),
        (left(RobotsUnreadable, Some("status 503")), "robots_unreadable"),
        (left(RobotsUnreadable, None), "robots_unreadable"),
        (left(BudgetExhausted, Some("timed out: long ago")), "budget_exhausted"),
    ] {
        let mut causes = Causes::default();
        causes.add_left(left);
        assert_eq!(causes.into_counts()[0].cause.name(), expected);
    }
}

#[test]
fn a_redirect_is_a_cause_if_its_target_was_not_visited() {
    let redirect =
        |url: &str, to: &str| LogRow { redirects_to: Some(to.to_owned()), ..visit(url, Outcome::TemporaryRedirect) };
    let away = redirect("https://a.example/", "https://b.example/");
    let followed = redirect("https://c.example/", "https://c.example/gone");
    let counted = of_visits([away, followed, visit("https://c.example/gone", Outcome::FileNotFound)]);
    let told: Vec<_> = counted.iter().map(|counted| (counted.cause.name(), &*counted.example)).collect();
    assert_eq!(told, [("redirects_elsewhere", "https://a.example/"), ("not_found", "https://c.example/gone")]);
}

#[test]
fn redirects_in_a_circle_are_a_cause() {
    let redirect =
        |url: &str, to: &str| LogRow { redirects_to: Some(to.to_owned()), ..visit(url, Outcome::TemporaryRedirect) };
    let [a, b, c, away] = ["https://a.example/", "https://a.example/b", "https://a.example/c", "https://www.example/"];
    for (redirects, expected, why) in [
        (vec![redirect(a, a)], vec![("redirects_in_circle", a)], "to itself"),
        (vec![redirect(a, b), redirect(b, a)], vec![("redirects_in_circle", b)], "by way of another"),
        (vec![redirect(a, b), redirect(b, c), redirect(c, b)], vec![("redirects_in_circle", c)], "into a circle"),
        (vec![redirect(a, b), redirect(b, away)], vec![("redirects_elsewhere", b)], "out of the crawl, in two steps"),
    ] {
        let counted = of_visits(redirects);
        let told: Vec<_> = counted.iter().map(|counted| (counted.cause.name(), &*counted.example)).collect();
        assert_eq!(told, expected, "{why}");
    }
}

#[test]
fn the_most_common_cause_comes_first() {
    let ended = [(Outcome::FileNotFound, 2), (Outcome::BlockedByRobotsTxt, 3), (Outcome::ServerInternalError, 1)];
    let visits = ended.into_iter().flat_map(|(outcome, urls)| {
        (0..urls).map(move |n| visit(&format!("https://{}.example/{n}", outcome.code()), outcome))
    });
    let told: Vec<_> = of_visits(visits).into_iter().map(|counted| (counted.cause.name(), counted.urls)).collect();
    assert_eq!(told, [("forbidden_by_robots_txt", 3), ("not_found", 2), ("server_internal_error", 1)]);
}
