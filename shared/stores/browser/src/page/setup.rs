//! What is set up for each document and worker before anything of it runs.

use dragline_ports::renderer::RenderFailure;
use serde_json::{Value, json};

use crate::link::{Link, NoReply, text};
use crate::process::no_browser;

const BEFORE_SCRIPTS: &str = include_str!("before_scripts.js");

/// The size of the window: what is in its first screens is in view, and is loaded.
const WINDOW: (u32, u32) = (1280, 4096);

/// The limit on a refusal of the browser, in characters.
const REASON_CHARS_MAX: usize = 200;

/// What documents and workers are told of the visit.
#[derive(Clone, Debug)]
pub(super) struct Visit {
    /// Its time, in seconds since 1970.
    pub(super) began_s: i64,
    /// The user agent.
    pub(super) user_agent: String,
}

/// What attached to us, and waits until we let it go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attached {
    /// The page itself.
    Page,
    /// A frame of another site.
    Frame,
    /// A worker of a document, which has neither window nor frames.
    Worker,
}

/// Has everything that begins attach to us: nothing of it runs before it is set up.
pub(crate) fn attach() -> Value {
    let kinds = ["page", "iframe", "worker", "shared_worker", "service_worker"].map(|kind| json!({"type": kind}));
    json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true, "filter": kinds})
}

fn commands(attached: Attached, visit: &Visit) -> Vec<(&'static str, Value)> {
    let user_agent = json!({"userAgent": visit.user_agent, "acceptLanguage": "en-US"});
    let mut commands = vec![("Target.setAutoAttach", attach()), ("Network.setUserAgentOverride", user_agent)];
    if attached == Attached::Worker {
        return commands;
    }
    let source = BEFORE_SCRIPTS.replace("SEED", &visit.began_s.to_string());
    commands.extend([
        ("Page.enable", json!({})),
        ("Page.addScriptToEvaluateOnNewDocument", json!({"source": source, "runImmediately": true})),
        ("Network.setBypassServiceWorker", json!({"bypass": true})),
    ]);
    if attached == Attached::Page {
        let (width, height) = WINDOW;
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        commands.extend([
            ("Emulation.setTimezoneOverride", json!({"timezoneId": "UTC"})),
            ("Emulation.setLocaleOverride", json!({"locale": "en-US"})),
            ("Emulation.setDeviceMetricsOverride", size),
            ("Emulation.setVirtualTimePolicy", json!({"policy": "pause", "initialVirtualTime": visit.began_s})),
        ]);
    }
    commands
}

/// Sets up what attached, and lets it go on. All of it must have been done by then: parts of the
/// browser handle the commands side by side, and scripts would overtake them. Returns the last
/// reply, which for the page is that of its clock.
///
/// # Errors
/// [`RenderFailure::NoBrowser`] if the browser refuses anything for the page, as it is another
/// version than those that we know.
pub(super) async fn set_up(
    link: &Link,
    session: &str,
    attached: Attached,
    visit: Visit,
) -> Result<Value, RenderFailure> {
    let commands = commands(attached, &visit);
    let replies: Vec<_> =
        commands.into_iter().map(|(method, params)| (method, link.send(session, method, params))).collect();
    let mut last = Value::Null;
    for (method, reply) in replies {
        last = check(method, reply.get().await, attached)?;
    }
    let method = "Runtime.runIfWaitingForDebugger";
    check(method, link.call(session, method, json!({})).await, attached)?;
    Ok(last)
}

fn check(method: &str, reply: Result<Value, NoReply>, attached: Attached) -> Result<Value, RenderFailure> {
    match reply {
        Ok(result) => Ok(result),
        // Frames and workers may be gone by now, with the part of the page that they belong to.
        Err(NoReply::Refused(reason)) if attached == Attached::Page => {
            let reason = dragline_domain::shown::one_line(&reason, REASON_CHARS_MAX);
            Err(no_browser(format!("it refuses `{method}`: {reason}")))
        }
        Err(NoReply::Refused(_)) => Ok(Value::Null),
        Err(NoReply::Gone) => Err(RenderFailure::Crashed),
    }
}

/// Shows the page, whose answer is passed on when the browser requests it.
///
/// # Errors
/// [`RenderFailure::NotShown`] if the browser makes no document of the answer.
pub(super) async fn navigate(link: &Link, session: &str, url: &str) -> Result<(), RenderFailure> {
    let shown = link.call(session, "Page.navigate", json!({"url": url})).await;
    match shown {
        Ok(shown) if text(&shown["errorText"]).is_empty() => Ok(()),
        Ok(_) | Err(NoReply::Refused(_)) => Err(RenderFailure::NotShown),
        Err(NoReply::Gone) => Err(RenderFailure::Crashed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_are_told_of_no_window() {
        let visit = Visit { began_s: 1_700_000_000, user_agent: "Dragline/1".to_owned() };
        let methods = |attached| commands(attached, &visit).into_iter().map(|(method, _)| method).collect::<Vec<_>>();
        assert_eq!(methods(Attached::Worker), ["Target.setAutoAttach", "Network.setUserAgentOverride"]);
        assert!(methods(Attached::Frame).contains(&"Page.addScriptToEvaluateOnNewDocument"));
        let page = commands(Attached::Page, &visit);
        let (_, clock) = page.last().unwrap();
        assert_eq!(clock["initialVirtualTime"], 1_700_000_000);
        let script = page.iter().find(|(method, _)| *method == "Page.addScriptToEvaluateOnNewDocument").unwrap();
        assert!(text(&script.1["source"]).contains("let seed = 1700000000;"));
    }
}
