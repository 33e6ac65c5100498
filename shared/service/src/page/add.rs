//! Adding a crawl: a form, what it would do in words, and only then the crawl.

use axum::extract::{Extension, Form, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use dragline_domain::command::Command;
use dragline_domain::definition::{Definition, Within};
use jiff::Timestamp;
use maud::{Markup, html};
use serde::Deserialize;

use super::actions::Done;
use super::add_fields::{Field, Fields, Mistakes};
use super::layout::{View, may_change};
use super::scope_words;
use super::shown::{target, time_and_distance};
use crate::access::Role;
use crate::backend::{Backend, ScheduleState};
use crate::crawls::Crawls;
use crate::problem::Problem;

/// How many times of a schedule are shown.
const TIMES: usize = 3;

/// Schedules in words, for those who do not know cron expressions.
const EXAMPLES: [(&str, &str); 5] = [
    ("0 3 * * *", "every day at 3:00"),
    ("0 3 * * MON", "every Monday at 3:00"),
    ("0 */6 * * *", "every 6 hours"),
    ("30 2 1 * *", "on the first of each month at 2:30"),
    ("0 7 * * MON-FRI", "on working days at 7:00"),
];

/// What is to be done with the form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Step {
    /// Show the form, as it is.
    Edit,
    /// Show what would be crawled.
    #[default]
    Preview,
    /// Add the crawl.
    Add,
    /// Add it, and begin an iteration.
    Run,
}

#[derive(Debug, Deserialize)]
pub(super) struct AddForm {
    #[serde(default)]
    step: Step,
    #[serde(flatten)]
    fields: Fields,
}

pub(super) async fn form(Extension(role): Extension<Role>) -> Result<View, Problem> {
    if !may_change(role) {
        return Err(Problem::new(StatusCode::FORBIDDEN, "forbidden", "a reader may not add crawls"));
    }
    Ok(View::new(role, "Add a crawl", form_markup(&Fields::default(), &Mistakes::default())))
}

pub(super) async fn add(
    State(backend): Crawls,
    Extension(role): Extension<Role>,
    Form(AddForm { step, fields }): Form<AddForm>,
) -> Result<Response, Problem> {
    let wrong = |mistakes: &Mistakes| {
        let view = View::new(role, "Add a crawl: something is missing", form_markup(&fields, mistakes));
        (StatusCode::UNPROCESSABLE_ENTITY, view).into_response()
    };
    if step == Step::Edit {
        return Ok(View::new(role, "Add a crawl", form_markup(&fields, &Mistakes::default())).into_response());
    }
    let definition = match fields.definition() {
        Ok(definition) => definition,
        Err(mistakes) => return Ok(wrong(&mistakes)),
    };
    if is_taken(&*backend, &definition).await? {
        let message = format!("there is a crawl `{}`: choose another name, or edit its definition", definition.name);
        return Ok(wrong(&Mistakes::one(Field::Name, message)));
    }
    if step == Step::Preview {
        let title = format!("Add {}?", definition.name);
        return Ok(View::new(role, title, preview(&fields, &definition, backend.now())).into_response());
    }
    let name = definition.name.clone();
    let command = Command::PutCrawl(Box::new(definition));
    backend.command(&command, &backend.fresh_trigger()).await?;
    let done = if step == Step::Run {
        let command = Command::Start { crawl: name.clone(), trigger: None };
        backend.command(&command, &backend.fresh_trigger()).await?;
        Done::Run
    } else {
        Done::Add
    };
    Ok(Redirect::to(&done.at(&target(&name, "", &[]))).into_response())
}

/// Whether there is a crawl of this name. One that was removed can be added again.
async fn is_taken(backend: &dyn Backend, definition: &Definition) -> Result<bool, Problem> {
    let standing = backend.standing(&definition.name).await?;
    Ok(standing.is_some_and(|standing| standing.state != ScheduleState::Off))
}

fn preview(fields: &Fields, definition: &Definition, now: Timestamp) -> Markup {
    html! {
        p.lead { "Nothing has been requested yet. This is what would be crawled:" }
        (scope_words::list(definition))
        h2 { "When" }
        @match &definition.schedule {
            None => p { "When it is run: it has no schedule." },
            Some(schedule) => {
                p { "By " code { (schedule.cron()) } " in " (schedule.time_zone()) ". The next times:" }
                ul { @for at in times(definition, now) { li { (time_and_distance(at, now)) } } }
            },
        }
        h2 { "The definition" }
        p.quiet { "Everything that is not named has its default. It can be edited later." }
        pre.text tabindex="0" role="region" aria-label="Definition" { (dragline_definition::write(definition)) }
        form method="post" action="/add" {
            (fields.hidden())
            div.actions {
                button.is-main type="submit" name="step" value="run" { "Add and run now" }
                button type="submit" name="step" value="add" { "Add" }
                button type="submit" name="step" value="edit" { "Change something" }
            }
        }
    }
}

fn times(definition: &Definition, now: Timestamp) -> impl Iterator<Item = Timestamp> {
    let next = |after: Timestamp| definition.schedule.as_ref().and_then(|schedule| schedule.next_after(after));
    std::iter::successors(next(now), move |at| next(*at)).take(TIMES)
}

fn form_markup(fields: &Fields, mistakes: &Mistakes) -> Markup {
    html! {
        @if mistakes.is_empty() {
            p.lead { "The next step shows what would be crawled. Nothing is requested before you say so." }
        } @else {
            p.message.is-bad role="alert" { "Some fields need another look." }
        }
        (mistakes.others())
        form.form method="post" action="/add" {
            div.field {
                label for="seeds" { "Where it begins" }
                textarea #seeds name="seeds" rows="3" required spellcheck="false" autocapitalize="off"
                    aria-invalid=[mistakes.mark(Field::Seeds)] aria-describedby="seeds-help" { "\n" (fields.seeds) }
                p.quiet #seeds-help { (mistakes.at(Field::Seeds)) "Addresses or hosts, one a line: " code { "https://example.org/docs/" } " or " code { "example.org" } }
            }
            div.field {
                label for="name" { "Name" }
                input #name name="name" value=(fields.name) autocomplete="off" spellcheck="false"
                    aria-invalid=[mistakes.mark(Field::Name)] aria-describedby="name-help";
                p.quiet #name-help { (mistakes.at(Field::Name)) "Small letters, digits and " code { ". _ -" } "; the first host without one" }
            }
            fieldset {
                legend { "How far it goes" }
                @for (within, words) in [
                    (Within::Site, "The same site as where it begins: with or without www, by http or https"),
                    (Within::Origin, "The same scheme, host and port"),
                    (Within::Host, "The same host, with any port"),
                    (Within::Domain, "The whole domain, with every host below it"),
                ] {
                    div.choice {
                        input type="radio" name="within" id=(format!("within-{within}")) value=(within) checked[fields.within == within];
                        label for=(format!("within-{within}")) { (words) }
                    }
                }
                div.field {
                    label for="path" { "Only paths that begin with" }
                    input #path name="path" value=(fields.path) placeholder="/docs/" spellcheck="false" autocapitalize="off"
                        aria-invalid=[mistakes.mark(Field::Path)] aria-describedby="path-help";
                    p.quiet #path-help { (mistakes.at(Field::Path)) "All of them without one" }
                }
            }
            fieldset {
                legend { "How much, and how fast" }
                div.field.is-short {
                    label for="pages" { "Pages at most" }
                    input #pages name="pages" value=(fields.pages) inputmode="numeric"
                        aria-invalid=[mistakes.mark(Field::Pages)] aria-describedby="pages-help";
                    p.quiet #pages-help { (mistakes.at(Field::Pages)) "No limit without a number" }
                }
                div.field.is-short {
                    label for="delay" { "Pause between requests to a site" }
                    input #delay name="delay" value=(fields.delay) aria-invalid=[mistakes.mark(Field::Delay)] aria-describedby="delay-help";
                    p.quiet #delay-help { (mistakes.at(Field::Delay)) "Such as " code { "1s" } " or " code { "500ms" } }
                }
            }
            fieldset {
                legend { "When" }
                div.field.is-short {
                    label for="cron" { "Schedule" }
                    input #cron name="cron" value=(fields.cron) list="examples" autocomplete="off" spellcheck="false"
                        aria-invalid=[mistakes.mark(Field::Cron)] aria-describedby="cron-help cron-examples";
                    datalist #examples { @for (cron, words) in EXAMPLES { option value=(cron) { (words) } } }
                    p.quiet #cron-help { (mistakes.at(Field::Cron)) "Minute, hour, day of the month, month, day of the week. Without one it begins when it is run." }
                    dl.examples #cron-examples { @for (cron, words) in EXAMPLES { div { dt { code { (cron) } } dd { (words) } } } }
                }
                div.field.is-short {
                    label for="zone" { "Time zone" }
                    input #zone name="zone" value=(fields.zone) aria-invalid=[mistakes.mark(Field::Zone)] aria-describedby="zone-help";
                    p.quiet #zone-help { (mistakes.at(Field::Zone)) "Such as " code { "Europe/Berlin" } }
                }
            }
            div.actions { button.is-main type="submit" name="step" value="preview" { "Preview" } a.button href="/" { "Cancel" } }
        }
    }
}
