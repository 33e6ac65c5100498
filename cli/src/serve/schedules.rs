//! `dragline schedule`.

use std::io::{self, Write as _};

use serde_json::{Value, json};

use super::client::Client;
use crate::args::{AddArgs, ScheduleAction, ScheduleArgs, data_flag};
use crate::definition_source::{Source, read_text};
use crate::error::{Failure, while_writing};
use crate::exit::Exit;
use crate::terminal::{Align, Colour, Console, Width, safe, table, write_json};

/// Carries out a `dragline schedule` command.
///
/// # Errors
/// The crawls cannot be reached, or they refuse it.
pub(crate) async fn schedule(args: &ScheduleArgs, console: &Console) -> Result<Exit, Failure> {
    let client = Client::open(args.data(), console)?;
    let answer = match &args.action {
        ScheduleAction::Add(add) => client.call("POST", "/crawls", Some(&body(add)?)).await?,
        ScheduleAction::List => client.call("GET", "/crawls", None).await?,
        ScheduleAction::Pause { crawl } => set(&client, crawl.as_str(), "PAUSED").await?,
        ScheduleAction::Resume { crawl } => set(&client, crawl.as_str(), "ON").await?,
        ScheduleAction::Run { crawl } => {
            client.call("POST", &format!("/crawls/{crawl}/iterations"), Some(&json!({}))).await?
        }
        ScheduleAction::Remove { crawl } => {
            client.call("DELETE", &format!("/crawls/{crawl}"), None).await?;
            json!({"name": crawl, "state": "OFF"})
        }
    };
    if args.json {
        write_json(io::stdout().lock(), &answer).map_err(while_writing)?;
        return Ok(Exit::Done);
    }
    match &args.action {
        ScheduleAction::List => print(&answer)?,
        ScheduleAction::Run { crawl } => {
            console.say(&format!(
                "{crawl}: iteration {} {}",
                answer["iteration"],
                answer["status"].as_str().unwrap_or_default()
            ));
        }
        _ => console.say(&describe(&answer)),
    }
    if !client.is_server() && !matches!(args.action, ScheduleAction::Remove { .. }) {
        console.hint(&format!(
            "no server runs here, which begins what is due: `dragline serve{}`",
            data_flag(args.data())
        ));
    }
    Ok(Exit::Done)
}

async fn set(client: &Client, crawl: &str, state: &str) -> Result<Value, Failure> {
    client.call("PUT", &format!("/crawls/{crawl}/schedule"), Some(&json!({"state": state}))).await
}

/// Returns the body of the call that adds a crawl.
fn body(add: &AddArgs) -> Result<Value, Failure> {
    let mut body = json!({});
    match Source::from_args(None, &add.targets)? {
        // Clap requires a target, or the URL of a definition.
        Source::Stored => {}
        Source::File(path) => body["definition"] = read_text(path)?.into(),
        Source::Urls(urls) => body["domain_names"] = json!(urls),
    }
    for (key, value) in [
        ("name", add.name.as_ref().map(ToString::to_string)),
        ("cron_expression", add.cron.clone()),
        ("time_zone", add.time_zone.clone()),
        ("definition_url", add.definition_url.clone()),
        ("user", add.user.clone()),
    ] {
        if let Some(value) = value {
            body[key] = value.into();
        }
    }
    Ok(body)
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

/// Describes the state of a crawl as a sentence.
fn describe(crawl: &Value) -> String {
    let name = safe(text(crawl, "name"));
    match (text(crawl, "state"), text(crawl, "next")) {
        ("OFF", _) => format!("{name} is removed; what it stored stays"),
        ("PAUSED", _) => format!("{name} is paused: its schedule is not followed"),
        (_, "") => format!("{name} has no schedule: it begins when it is run"),
        (_, next) => {
            format!("{name} begins at {next}, by `{}` in {}", text(crawl, "cron_expression"), text(crawl, "time_zone"))
        }
    }
}

fn print(answer: &Value) -> Result<(), Failure> {
    let crawls = answer["crawls"].as_array().map(Vec::as_slice).unwrap_or_default();
    let row = |crawl: &Value| {
        let latest = &crawl["iteration"];
        let latest = if latest.is_null() {
            String::new()
        } else {
            format!("{} {}", latest["iteration"], text(latest, "status"))
        };
        let schedule = format!("{} {}", text(crawl, "cron_expression"), text(crawl, "time_zone"));
        [
            text(crawl, "name").to_owned(),
            text(crawl, "state").to_lowercase(),
            schedule.trim().to_owned(),
            text(crawl, "next").to_owned(),
            latest,
        ]
    };
    let rows: Vec<[String; 5]> = crawls.iter().map(row).collect();
    let heads = [
        ("crawl", Align::Left),
        ("state", Align::Whole),
        ("schedule", Align::Whole),
        ("next", Align::Whole),
        ("latest", Align::Whole),
    ];
    let mut out = io::stdout().lock();
    let form = (Width::for_stream(&out), Colour::for_stream(&out));
    writeln!(out, "{}", table(heads, &rows, form)).map_err(while_writing)
}
