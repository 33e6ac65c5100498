//! Sites that are named without a scheme, as people type them: `example.org` is
//! `https://example.org/` or, where nothing answers https, `http://example.org/`.

use std::path::Path;

use dragline_domain::definition::Draft;
use dragline_domain::no_answer::NoAnswer;
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_formats::robots::ROBOTS_PATH;
use dragline_local::SystemClock;
use dragline_ports::clock::Clock as _;
use dragline_ports::fetcher::{FetchFailure, FetchFailureKind, FetchLimits, FetchRequest, Fetcher};

use crate::args::NetworkArgs;
use crate::definition_source::is_definition;
use crate::error::Failure;
use crate::network::Network;
use crate::terminal::{Console, safe};

/// Returns these arguments, each as [`complete_url`] does.
///
/// # Errors
/// The client cannot be set up, or a name has no address.
pub(crate) async fn complete_urls(
    targets: &[String],
    args: &NetworkArgs,
    console: &Console,
) -> Result<Vec<String>, Failure> {
    let mut completed = Vec::with_capacity(targets.len());
    for target in targets {
        completed.push(complete_url(target, args, console).await?);
    }
    Ok(completed)
}

/// Completes a site without a scheme by the one that it answers. Another argument stays as it is.
///
/// # Errors
/// The client cannot be set up, or the name has no address.
pub(crate) async fn complete_url(target: &str, args: &NetworkArgs, console: &Console) -> Result<String, Failure> {
    if !is_bare_host(target) || Path::new(target).exists() {
        return Ok(target.to_owned());
    }
    let draft = args.change(Draft::for_seeds(Vec::new()));
    let fetcher = Network::from_args(args)?.fetcher(&draft).await?;
    let url = complete(target, &fetcher, FetchLimits::from_fetch(&draft.fetch).reading_all(), console).await?;
    // Whoever uses the URL begins with the next request to this site.
    SystemClock::new().sleep(draft.politeness.delay).await;
    Ok(url)
}

/// Whether an argument is a host with a dot or a port, and perhaps a path, without a scheme.
fn is_bare_host(target: &str) -> bool {
    if target.contains("://") || target.contains('@') || is_definition(target) {
        return false;
    }
    let authority = target.split(['/', '?', '#']).next().unwrap_or(target);
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !host.ends_with(':') => (host, Some(port)),
        _ => (authority, None),
    };
    let is_named = host == "localhost" || host.contains('.') || port.is_some() || host.starts_with('[');
    let has_port = port.is_none_or(|port| port.parse::<u16>().is_ok() || host.starts_with('['));
    is_named
        && has_port
        && !host.is_empty()
        && CrawlUrl::parse(&format!("https://{target}"), &UrlRules::default()).is_ok()
}

/// Asks for the robots.txt of a site by https, and says which URL to use.
async fn complete(
    target: &str,
    fetcher: &impl Fetcher,
    limits: FetchLimits,
    console: &Console,
) -> Result<String, Failure> {
    let secure = format!("https://{target}");
    let Err(failure) = ask(&secure, fetcher, limits).await else { return Ok(secure) };
    if failure.kind == FetchFailureKind::NameNotResolved {
        let error = Failure::new(format!("`{target}` is neither a file nor a host that can be found"));
        return Err(error.with_hint("check the spelling; a URL begins with `https://` or `http://`"));
    }
    let plain = format!("http://{target}");
    // A certificate that is not trusted is an answer: to go on without TLS would hide it.
    if !may_be_plain(&failure) || ask(&plain, fetcher, limits).await.is_err() {
        return Ok(secure);
    }
    console.say(&safe(&format!("{secure} has no answer ({}), but {plain} has", failure.detail)));
    Ok(plain)
}

/// Whether a site that failed so by https may answer http.
fn may_be_plain(failure: &FetchFailure) -> bool {
    match failure.kind {
        FetchFailureKind::Tls => NoAnswer::from_detail(&failure.detail) == Some(NoAnswer::NoTls),
        FetchFailureKind::Connect | FetchFailureKind::Timeout | FetchFailureKind::Protocol => true,
        FetchFailureKind::NameNotResolved
        | FetchFailureKind::AccessRefused
        | FetchFailureKind::PrivateAddress
        | FetchFailureKind::Reset
        | FetchFailureKind::TooMany
        | FetchFailureKind::NoRoom => false,
    }
}

/// Asks for the robots.txt of a URL's site. Any answer will do.
async fn ask(url: &str, fetcher: &impl Fetcher, limits: FetchLimits) -> Result<(), FetchFailure> {
    let parsed = CrawlUrl::parse(url, &UrlRules::default()).and_then(|url| url.origin().url_at(ROBOTS_PATH));
    let unusable = |detail: String| FetchFailure { kind: FetchFailureKind::Protocol, detail };
    let robots = parsed.map_err(|error| unusable(error.to_string()))?;
    fetcher.fetch(FetchRequest::new(robots, limits)).await.result.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_without_a_scheme_is_told_from_other_arguments() {
        for (target, expected, why) in [
            ("example.org", true, "a name"),
            ("example.org/docs/?a=b#c", true, "with a path"),
            ("bücher.example", true, "an international name"),
            ("127.0.0.1:8080", true, "an address with a port"),
            ("[::1]:8080/x", true, "an IPv6 address"),
            ("[::1]", true, "without a port"),
            ("localhost", true, "the one name without a dot"),
            ("intranet:8080/a", true, "a port makes it a host"),
            ("intranet", false, "perhaps a crawl, or a misspelt file"),
            ("https://example.org/", false, "a URL"),
            ("crawl.yaml", false, "a definition, even if it is not there"),
            ("mailto:a@example.org", false, "no site"),
            ("javascript:alert(1)", false, "no port"),
            ("", false, "nothing"),
            ("/docs/a.html", false, "a path"),
            ("exa mple.org", false, "no host"),
        ] {
            assert_eq!(is_bare_host(target), expected, "{target}: {why}");
        }
    }
}
