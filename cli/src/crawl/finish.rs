//! Reports how a run ended.

use std::io;

use dragline_domain::ids::CrawlId;
use dragline_ports::frontier::Progress;
use serde::Serialize;

use super::run::RunOutcome;
use crate::args::{Answer, OutputArgs};
use crate::error::{Failure, while_writing};
use crate::exit::Exit;
use crate::location::Directory;
use crate::summary::{self, Summary};
use crate::terminal::{Console, Form, Verbosity, plural, unless_closed, write_json};

/// The event `end`.
#[derive(Serialize)]
struct EndEvent<'a> {
    ended: &'static str,
    exit_code: u8,
    go_on: Option<&'a str>,
    requests_stored: Option<u64>,
    summary: Option<&'a Summary>,
}

/// Reports the state or result of the crawl's iteration, as stored.
pub(super) async fn finish(
    (output, go_on): (&OutputArgs, String),
    (crawl, directory): (&CrawlId, &Directory),
    ended: RunOutcome,
    console: &Console,
) -> Result<Exit, Failure> {
    let summary = summary::read_latest(&directory.path, crawl).await?;
    let exit = match ended {
        RunOutcome::Over if summary.figures.was_kept_out() => Exit::NoAccess,
        RunOutcome::Over if summary.figures.have_pages_changed() => Exit::Changed,
        RunOutcome::Over if summary.figures.is_all_well() && summary.has_result() => Exit::Done,
        RunOutcome::Over if summary.why_nothing().is_some() => Exit::NothingFetched,
        RunOutcome::Over => Exit::NotAllWell,
        RunOutcome::LowSpace => Exit::LowSpace,
        RunOutcome::Interrupted | RunOutcome::AtOnce => Exit::Interrupted,
    };
    let go_on = Some(go_on).filter(|_| ended != RunOutcome::Over);
    if output.answer() == Answer::Json {
        unless_closed(summary.print_json()).map_err(while_writing)?;
    }
    if console.form() == Form::Json {
        let ended = match ended {
            RunOutcome::Over => "over",
            RunOutcome::LowSpace => "low_space",
            RunOutcome::Interrupted | RunOutcome::AtOnce => "interrupted",
        };
        let (exit_code, go_on, summary) = (exit.code(), go_on.as_deref(), Some(&summary));
        console.event("end", &EndEvent { ended, exit_code, go_on, requests_stored: None, summary });
        return Ok(exit);
    }
    if output.answer() == Answer::Text {
        console.say(&summary::text(&summary, None, console.colour()));
    }
    let is_shown = output.answer() == Answer::Text && console.verbosity() != Verbosity::Quiet;
    if let (false, Some(why)) = (is_shown, summary.why_nothing()) {
        console.error(&why.message(), &why.hints());
    }
    if let (false, Exit::Changed) = (is_shown, exit) {
        summary::changed_page_lines(&summary).iter().for_each(|line| console.warn(line));
    }
    if ended == RunOutcome::Over && summary.has_remade_nothing() {
        let hint = "`dragline export --what pages` lists the stored pages".to_owned();
        console.error("no document was made again: no stored page is selected", &[hint]);
    }
    if let Some(go_on) = go_on {
        let resume = to_resume(&go_on);
        console.hint(&if ended == RunOutcome::LowSpace { format!("free some disk space; {resume}") } else { resume });
    }
    Ok(exit)
}

/// Reports the stored state of a run that was stopped at once.
pub(super) fn at_once(output: &OutputArgs, go_on: &str, stored: &Progress, console: &Console) -> Exit {
    let exit = Exit::Interrupted;
    let (exit_code, requests_stored) = (exit.code(), Some(stored.crawler.requests));
    let end = EndEvent { ended: "at_once", exit_code, go_on: Some(go_on), requests_stored, summary: None };
    if output.answer() == Answer::Json {
        // There is no time for a summary, and a printing error cannot be reported anywhere.
        let _ = write_json(io::stdout().lock(), &end);
    }
    if console.form() == Form::Json {
        console.event("end", &end);
    } else {
        console.say(&stopped_at_once(stored));
        console.hint(&to_resume(go_on));
    }
    exit
}

fn to_resume(command: &str) -> String {
    format!("to resume: `{command}`")
}

fn stopped_at_once(stored: &Progress) -> String {
    let unread = match stored.segments.saturating_sub(stored.parsed) {
        0 => String::new(),
        segments => format!("; {} will be parsed when the crawl resumes", plural(segments, "segment")),
    };
    format!("stopped at once; the results of {} are stored{unread}", plural(stored.crawler.requests, "request"))
}

#[cfg(test)]
mod tests {
    use dragline_domain::frontier::CrawlerCounters;

    use super::*;

    #[test]
    fn an_immediate_stop_reports_what_is_stored() {
        let stored = |requests, segments, parsed| Progress {
            crawler: CrawlerCounters { requests, ..CrawlerCounters::default() },
            segments,
            parsed,
            ..Progress::default()
        };
        for (stored, expected) in [
            (stored(0, 0, 0), "stopped at once; the results of 0 requests are stored"),
            (stored(1_234, 30, 30), "stopped at once; the results of 1,234 requests are stored"),
            (
                stored(51, 2, 1),
                "stopped at once; the results of 51 requests are stored; 1 segment will be parsed when the crawl resumes",
            ),
        ] {
            assert_eq!(stopped_at_once(&stored), expected);
        }
    }
}
