//! What the buttons do. A form of another site is refused before it comes here.

use axum::extract::{Extension, Form, State};
use axum::response::Redirect;
use dragline_domain::command::Command;
use dragline_domain::frontier::StatusChange;
use serde::{Deserialize, Serialize};

use super::shown::{address, target};
use crate::access::Role;
use crate::backend::ScheduleState;
use crate::crawls::{Crawls, require};
use crate::extract::Path;
use crate::problem::Problem;

/// What a button does.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Action {
    /// Begins an iteration.
    Run,
    /// Pauses the running one.
    Pause,
    /// Lets it go on.
    Resume,
    /// Ends it.
    Stop,
    /// Pauses the schedule.
    Hold,
    /// Follows the schedule again.
    Follow,
    /// Removes the crawl.
    Remove,
}

/// Where a button is.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Place {
    Home,
    #[default]
    Crawl,
}

#[derive(Debug, Deserialize)]
pub(super) struct ActionForm {
    #[serde(default)]
    from: Place,
}

/// What has been done, said once by the view that follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Done {
    Run,
    Pause,
    Resume,
    Stop,
    Hold,
    Follow,
    Remove,
    Add,
    Define,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct DoneQuery {
    pub(super) done: Option<Done>,
}

impl Done {
    const fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Stop => "stop",
            Self::Hold => "hold",
            Self::Follow => "follow",
            Self::Remove => "remove",
            Self::Add => "add",
            Self::Define => "define",
        }
    }

    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Run => "An iteration has begun.",
            Self::Pause => "The iteration is paused. Nothing is requested until it is resumed.",
            Self::Resume => "The iteration goes on.",
            Self::Stop => "The iteration stops once the requests under way are finished.",
            Self::Hold => "The schedule is paused. The crawl can still be run.",
            Self::Follow => "The schedule is followed.",
            Self::Remove => "The crawl is removed: nothing of it begins again. What it stored is still here.",
            Self::Add => "The crawl is added.",
            Self::Define => "The definition is saved. The next iteration uses it.",
        }
    }

    /// Returns the address of a view that says so.
    pub(super) fn at(self, view: &str) -> String {
        address(view, &[("done", Some(self.name()))])
    }
}

pub(super) async fn act(
    State(backend): Crawls,
    Extension(role): Extension<Role>,
    Path((name, action)): Path<(String, Action)>,
    Form(ActionForm { from }): Form<ActionForm>,
) -> Result<Redirect, Problem> {
    let crawl = require(&*backend, name.parse()).await?.name;
    let change = |change| Command::Change { crawl: crawl.clone(), change };
    let (command, done) = match action {
        Action::Run => (Some(Command::Start { crawl: crawl.clone(), trigger: None }), Done::Run),
        Action::Pause => (Some(change(StatusChange::Pause)), Done::Pause),
        Action::Resume => (Some(change(StatusChange::Resume)), Done::Resume),
        Action::Stop => (Some(change(StatusChange::Stop)), Done::Stop),
        Action::Remove => {
            role.may_remove()?;
            (Some(Command::Remove(crawl.clone())), Done::Remove)
        }
        Action::Hold => (None, Done::Hold),
        Action::Follow => (None, Done::Follow),
    };
    match command {
        Some(command) => {
            backend.command(&command, &backend.fresh_trigger()).await?;
        }
        None if done == Done::Hold => backend.set_schedule(&crawl, ScheduleState::Paused).await?,
        None => backend.set_schedule(&crawl, ScheduleState::On).await?,
    }
    let view = match from {
        Place::Home => "/".to_owned(),
        Place::Crawl => target(&crawl, "", &[]),
    };
    Ok(Redirect::to(&done.at(&view)))
}
