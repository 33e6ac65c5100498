//! The definition of a crawl, and changing it.

use axum::extract::{Extension, Form, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use dragline_definition::{DefinitionErrors, parse};
use dragline_domain::command::Command;
use dragline_domain::ids::CrawlId;
use maud::{Markup, html};
use serde::Deserialize;

use super::actions::Done;
use super::layout::{Section, View, may_change};
use super::scope_words;
use super::shown::target;
use crate::access::Role;
use crate::backend::ScheduleState;
use crate::crawls::{Crawls, require};
use crate::extract::Path;
use crate::problem::Problem;

#[derive(Debug, Deserialize)]
pub(super) struct DefinitionForm {
    text: String,
}

/// A mistake in a text, with its place.
struct Mistake {
    line: usize,
    column: usize,
    message: String,
    hint: Option<String>,
}

impl Mistake {
    fn list(errors: &DefinitionErrors) -> Vec<Self> {
        let mistake = |error: &dragline_definition::DefinitionError| Self {
            line: error.line,
            column: error.column,
            message: error.message.clone(),
            hint: error.hint.clone(),
        };
        errors.iter().map(mistake).collect()
    }
}

pub(super) async fn show(
    State(backend): Crawls,
    Extension(role): Extension<Role>,
    Path(name): Path<String>,
) -> Result<View, Problem> {
    let name = require(&*backend, name.parse()).await?.name;
    let text = backend.definition(&name).await?.unwrap_or_default();
    Ok(view(role, &name, &text, &[]))
}

pub(super) async fn change(
    State(backend): Crawls,
    Extension(role): Extension<Role>,
    Path(name): Path<String>,
    Form(DefinitionForm { text }): Form<DefinitionForm>,
) -> Result<Response, Problem> {
    let standing = require(&*backend, name.parse()).await?;
    let name = standing.name;
    // Browsers send a line break as two characters.
    let text = text.replace("\r\n", "\n");
    let mistakes = match parse(&text, "definition") {
        Err(errors) => Mistake::list(&errors),
        Ok(definition) if definition.name != name => {
            let message = format!("the name is `{}`, and another name would be another crawl", definition.name);
            let place = text.lines().position(|line| line.trim_start().starts_with("name:")).unwrap_or_default();
            vec![Mistake { line: place + 1, column: 1, message, hint: Some(format!("leave `name: {name}`")) }]
        }
        Ok(definition) => {
            let command = Command::PutCrawl(Box::new(definition));
            backend.command(&command, &backend.fresh_trigger()).await?;
            // A definition that is put is followed, and a schedule stays paused all the same.
            if standing.state != ScheduleState::On {
                backend.set_schedule(&name, standing.state).await?;
            }
            return Ok(Redirect::to(&Done::Define.at(&target(&name, "", &[]))).into_response());
        }
    };
    Ok((StatusCode::UNPROCESSABLE_ENTITY, view(role, &name, &text, &mistakes)).into_response())
}

fn view(role: Role, name: &CrawlId, text: &str, mistakes: &[Mistake]) -> View {
    let lines = text.lines().count().clamp(8, 40) + 1;
    let has_mistakes = !mistakes.is_empty();
    let main = html! {
        @if has_mistakes { (mistake_list(text, mistakes)) }
        @else if let Ok(definition) = parse(text, "definition") {
            section aria-labelledby="words" {
                h2 #words { "In words" }
                (scope_words::list(&definition))
            }
        }
        section aria-labelledby="yaml" {
            h2 #yaml { "As YAML" }
            @if may_change(role) {
                form method="post" action=(target(name, "definition", &[])) {
                    label.unseen for="text" { "Definition" }
                    textarea #text name="text" rows=(lines) spellcheck="false" autocapitalize="off" autocomplete="off"
                        aria-invalid=[has_mistakes.then_some("true")] aria-describedby=[has_mistakes.then_some("mistakes")]
                        { "\n" (text) }
                    p.quiet { "A change is used from the next iteration on. Nothing is saved if it has a mistake." }
                    div.actions { button.is-main type="submit" { "Save" } a.button href=(target(name, "", &[])) { "Cancel" } }
                }
            } @else {
                pre.text tabindex="0" role="region" aria-label="Definition" { (text) }
            }
        }
    };
    View::new(role, Section::Definition.name(), main).within(name, Section::Definition)
}

/// Returns the lines with mistakes and those around them, each mistake below its line.
fn mistake_list(text: &str, mistakes: &[Mistake]) -> Markup {
    let is_near = |line: usize| mistakes.iter().any(|mistake| mistake.line.abs_diff(line) <= 1);
    html! {
        div.mistakes #mistakes role="alert" {
            p { strong { "It is not saved, as it has " @if mistakes.len() == 1 { "a mistake" } @else { (mistakes.len()) " mistakes" } ":" } }
            ol.lines {
                @for (line, words) in (1..).zip(text.lines()).filter(|(line, _)| is_near(*line)) {
                    li value=(line) {
                        code { (words) }
                        @for mistake in mistakes.iter().filter(|mistake| mistake.line == line) {
                            p.mistake {
                                "Line " (mistake.line) ", column " (mistake.column) ": " (mistake.message)
                                @if let Some(hint) = &mistake.hint { ". " span.quiet { (hint) } }
                            }
                        }
                    }
                }
            }
            // Of an empty text, or at its very end.
            @for mistake in mistakes.iter().filter(|mistake| mistake.line > text.lines().count()) {
                p.mistake { "Line " (mistake.line) ": " (mistake.message) @if let Some(hint) = &mistake.hint { ". " (hint) } }
            }
        }
    }
}
