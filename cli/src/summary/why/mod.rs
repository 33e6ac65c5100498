//! Why nothing was crawled, in words, and what to do about it.

use std::path::Path;

use dragline_domain::no_answer::NoAnswer;
use dragline_local::Allowance;
use dragline_report::{Cause, CauseCount};

use crate::args::{allowance_flag, shell_word};
use crate::terminal::{plural, safe};

/// Causes that are named; those of the most URLs.
const NAMED_MAX: usize = 4;

/// Why nothing was got.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WhyNothing<'a>(pub(super) &'a [CauseCount]);

impl WhyNothing<'_> {
    /// Each cause on a line, with its number of URLs where there are several.
    pub(super) fn lines(self, numbered: impl Fn(u64, &str) -> String) -> Vec<String> {
        let named = self.0.iter().take(NAMED_MAX).map(|counted| numbered(counted.urls, &line(counted)));
        let others: u64 = self.0.iter().skip(NAMED_MAX).map(|counted| counted.urls).sum();
        named.chain((others > 0).then(|| numbered(others, "for other reasons"))).collect()
    }

    /// All of it as an error's message.
    pub(crate) fn message(self) -> String {
        let lines = self.lines(|urls, line| format!("{}: {line}", plural(urls, "URL")));
        match &lines[..] {
            [] => "nothing was crawled".to_owned(),
            [only] => format!("nothing was crawled: {only}"),
            lines => format!("nothing was crawled\n  {}", lines.join("\n  ")),
        }
    }

    /// What to do about it, the commonest cause first.
    pub(crate) fn hints(self) -> Vec<String> {
        self.0.iter().take(NAMED_MAX).filter_map(hint).collect()
    }
}

/// The cause and one of its URLs, with what else is known of that one.
fn line(counted: &CauseCount) -> String {
    let leads_to = counted.leads_to.as_deref().map_or_else(String::new, |to| format!(" leads to {}", safe(to)));
    // The error of a request begins with the cause.
    let detail = counted.detail.as_deref().map(|detail| {
        let rest = detail.strip_prefix(counted.cause.words()).and_then(|rest| rest.strip_prefix(": "));
        format!(" ({})", safe(rest.unwrap_or(detail)))
    });
    format!("{}: {}{leads_to}{}", counted.cause.words(), safe(&counted.example), detail.unwrap_or_default())
}

/// What to do about it.
fn hint(counted: &CauseCount) -> Option<String> {
    Some(match counted.cause {
        Cause::NoAnswer(NoAnswer::HostNotFound) => {
            "is the host spelled rightly, and this machine connected to a network?".to_owned()
        }
        Cause::NoAnswer(NoAnswer::ConnectionRefused) => {
            "nobody listens there: are host, port and scheme the right ones, and is the server running?".to_owned()
        }
        Cause::NoAnswer(NoAnswer::CertificateNotTrusted) => format!(
            "trust the certificate, or that of its authority, with `--ca-file PEM`; or check none with `{}`",
            allowance_flag(Allowance::UncheckedCertificates)
        ),
        Cause::NoAnswer(NoAnswer::NoTls) => "is it `http://` rather than `https://`?".to_owned(),
        Cause::NoAnswer(NoAnswer::TimedOut) => {
            "try again later, or allow more time: `fetch.connect_timeout` and its like in crawl.yaml".to_owned()
        }
        Cause::NoAnswer(NoAnswer::PrivateAddress) => format!(
            "if it is a server of your own, allow its address with `{}`",
            allowance_flag(Allowance::PrivateAddresses)
        ),
        Cause::ForbiddenByRobots => format!(
            "the site does not want it crawled: `dragline explain {}` tells the rule",
            shell_word(Path::new(&counted.example))
        ),
        Cause::RedirectsElsewhere => {
            let to = counted.leads_to.as_deref()?;
            format!("crawl where it leads: `dragline crawl {}`", shell_word(Path::new(to)))
        }
        Cause::NotFound => "the server has no such page: does the URL open in a browser?".to_owned(),
        Cause::RefusedByServer => "the server lets nobody in, or not this crawler; it is not asked again".to_owned(),
        Cause::RuledOut => "look at `scope`, `do_not_crawl` and `traps` in crawl.yaml".to_owned(),
        Cause::NotToBeIndexed | Cause::Ended(_) | Cause::LeftOver(_) | Cause::Unknown => return None,
    })
}

#[cfg(test)]
mod tests;
