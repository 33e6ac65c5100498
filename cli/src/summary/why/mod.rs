//! Texts on why nothing was crawled, and what to do about it.

use std::path::Path;

use dragline_domain::no_answer::NoAnswer;
use dragline_local::Allowance;
use dragline_report::{Cause, CauseCount};

use crate::args::{allowance_flag, shell_word};
use crate::terminal::{plural, safe};

/// The maximum number of named causes, those with the most URLs first.
const NAMED_MAX: usize = 4;

/// The reasons why nothing was crawled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WhyNothing<'a>(pub(super) &'a [CauseCount]);

impl WhyNothing<'_> {
    /// Returns a line for each cause, with its number of URLs.
    pub(super) fn lines(self, numbered: impl Fn(u64, &str) -> String) -> Vec<String> {
        let named = self.0.iter().take(NAMED_MAX).map(|counted| numbered(counted.urls, &line(counted)));
        let others: u64 = self.0.iter().skip(NAMED_MAX).map(|counted| counted.urls).sum();
        named.chain((others > 0).then(|| numbered(others, "for other reasons"))).collect()
    }

    /// Returns all causes as the message of an error.
    pub(crate) fn message(self) -> String {
        let lines = self.lines(|urls, line| format!("{}: {line}", plural(urls, "URL")));
        match &lines[..] {
            [] => "nothing was crawled".to_owned(),
            [only] => format!("nothing was crawled: {only}"),
            lines => format!("nothing was crawled\n  {}", lines.join("\n  ")),
        }
    }

    /// Returns hints on how to fix it, for the most common cause first.
    pub(crate) fn hints(self) -> Vec<String> {
        self.0.iter().take(NAMED_MAX).filter_map(hint).collect()
    }
}

/// Describes a cause with one of its URLs and that URL's detail.
fn line(counted: &CauseCount) -> String {
    let leads_to = counted.leads_to.as_deref().map_or_else(String::new, |to| format!(" leads to {}", safe(to)));
    // The error of a request already begins with the cause.
    let detail = counted.detail.as_deref().map(|detail| {
        let rest = detail.strip_prefix(counted.cause.words()).and_then(|rest| rest.strip_prefix(": "));
        format!(" ({})", safe(rest.unwrap_or(detail)))
    });
    format!("{}: {}{leads_to}{}", counted.cause.words(), safe(&counted.example), detail.unwrap_or_default())
}

/// Returns a hint for a cause, if there is one.
fn hint(counted: &CauseCount) -> Option<String> {
    Some(match counted.cause {
        Cause::NoAnswer(NoAnswer::HostNotFound) => {
            "check the spelling of the host, and this machine's network connection".to_owned()
        }
        Cause::NoAnswer(NoAnswer::ConnectionRefused) => {
            "nothing is listening there: check host, port and scheme, and that the server is running".to_owned()
        }
        Cause::NoAnswer(NoAnswer::CertificateNotTrusted) => format!(
            "trust the certificate, or its authority (that of a proxy, perhaps), with `--ca-file PEM`, or turn off certificate checks with `{}`",
            allowance_flag(Allowance::UncheckedCertificates)
        ),
        Cause::NoAnswer(NoAnswer::NoTls) => "try `http://` instead of `https://`".to_owned(),
        Cause::NoAnswer(NoAnswer::TimedOut) => {
            "try again later, or raise `fetch.connect_timeout` and the other timeouts in crawl.yaml".to_owned()
        }
        Cause::NoAnswer(NoAnswer::PrivateAddress) => format!(
            "if this is your own server, allow its address with `{}`",
            allowance_flag(Allowance::PrivateAddresses)
        ),
        Cause::ForbiddenByRobots => format!(
            "the site does not want it crawled; to see the rule: `dragline explain {}`",
            shell_word(Path::new(&counted.example))
        ),
        Cause::RedirectsElsewhere => {
            let to = counted.leads_to.as_deref()?;
            format!("crawl the target of the redirect: `dragline crawl {}`", shell_word(Path::new(to)))
        }
        Cause::RedirectsInCircle => {
            "the server may redirect whoever keeps no cookies, or a script: check with `curl -L` whether it ends"
                .to_owned()
        }
        Cause::NotFound => "the server has no such page; check whether the URL opens in a browser".to_owned(),
        Cause::AsksForLogIn => "it is for those who have an account: no password is ever sent".to_owned(),
        Cause::RefusedByServer => {
            "the server denies access to everybody, or to this crawler; the crawl does not retry".to_owned()
        }
        Cause::RuledOut => "check `scope`, `do_not_crawl` and `traps` in crawl.yaml".to_owned(),
        Cause::NotToBeIndexed | Cause::Ended(_) | Cause::LeftOver(_) => return None,
    })
}

#[cfg(test)]
mod tests;
