//! The scheduler function, which handles commands and schedules.

mod handler;

use std::sync::Arc;

use dragline_domain::definition::UserAgent;
use dragline_lambda::{AwsWorld, DynamoRetained, Invocation, Reply, RunError, SettingError, run};
use dragline_pipeline::World as _;
use dragline_pipeline::schedule::Defaults;
use dragline_ports::clock::Clock as _;

use handler::Scheduler;

/// The variable with the stack's contact, a URL or an e-mail address. It is part of the user agent
/// of every crawl that does not set its own.
const CONTACT: &str = "DRAGLINE_CONTACT";

/// The variable with the page budget of a crawl made from a URL alone.
const URL_PAGES_MAX: &str = "DRAGLINE_URL_PAGES_MAX";

/// Serves invocations until the runtime ends the process.
///
/// # Errors
/// The settings are not complete, or the runtime API cannot be reached.
pub async fn serve() -> Result<(), RunError> {
    run("scheduler", set_up, invoke).await
}

type Handler = (AwsWorld, Arc<DynamoRetained>, Arc<Scheduler>);

async fn set_up(world: AwsWorld) -> Result<Handler, RunError> {
    let defaults = defaults(|name| std::env::var(name).ok())?;
    let retained = DynamoRetained::new(world.frontier.clone(), world.documents.clone());
    Ok((world, Arc::new(retained), Arc::new(Scheduler::new(defaults))))
}

/// The commands of a batch are handled concurrently, so that each has the full time.
async fn invoke((world, retained, scheduler): Handler, invocation: Invocation) -> Result<Reply, RunError> {
    let walk = invocation.deadline.walk(world.clock().now(), 1);
    Ok(scheduler.handle(&Arc::new(world.with_walk(walk)), &retained, invocation.event).await?)
}

/// Returns the stack's defaults for commands.
fn defaults(variable: impl Fn(&str) -> Option<String>) -> Result<Defaults, SettingError> {
    let contact = variable(CONTACT).ok_or(SettingError::Missing(CONTACT))?;
    let user_agent: UserAgent = format!("Dragline/{} (+{contact})", env!("CARGO_PKG_VERSION"))
        .parse()
        .map_err(|error: <UserAgent as std::str::FromStr>::Err| wrong(CONTACT, &error))?;
    let pages = variable(URL_PAGES_MAX).ok_or(SettingError::Missing(URL_PAGES_MAX))?;
    let url_pages_max = pages.parse().map_err(|error: std::num::ParseIntError| wrong(URL_PAGES_MAX, &error))?;
    Ok(Defaults { user_agent, url_pages_max })
}

fn wrong(name: &'static str, error: &dyn std::error::Error) -> SettingError {
    SettingError::Wrong { name, why: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contact_is_in_the_user_agent() {
        let of = |contact: &str, pages: &str| {
            let (contact, pages) = (contact.to_owned(), pages.to_owned());
            defaults(move |name| Some(if name == CONTACT { contact.clone() } else { pages.clone() }))
        };
        let read = of("https://example.org/bot", "1000").unwrap();
        assert!(read.user_agent.as_str().ends_with(" (+https://example.org/bot)"), "{}", read.user_agent.as_str());
        assert_eq!(read.url_pages_max, 1_000);
        for (contact, pages, why) in [("a\nb", "1000", "a line break"), ("a@example.org", "many", "not a number")] {
            assert!(of(contact, pages).is_err(), "{why}");
        }
        assert_eq!(defaults(|_| None).unwrap_err(), SettingError::Missing(CONTACT));
    }
}
