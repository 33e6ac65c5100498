//! A parser: claims a segment's links, commits what it found, and settles the origins that it
//! touched.

use std::collections::BTreeSet;

use crate::model::Model;
use crate::mutation::Mutation;
use crate::site::{OriginNumber, Page};
use crate::state::{Documents, Message, SegmentKey, State};
use crate::steps::Steps;
use crate::store::Part;
use crate::tidying::Tidying;

/// The state of a parser.
#[derive(Clone)]
pub(crate) enum Parser {
    Idle,
    /// It claims one link after another.
    Claiming {
        claims: Claims,
        left: Vec<Page>,
    },
    /// It commits the links that it owns, part by part.
    Committing {
        claims: Claims,
    },
    /// It settles the origins that it touched.
    Tidying {
        segment: SegmentKey,
        tidying: Tidying,
    },
}

/// What a parser has claimed for a segment.
#[derive(Clone, Hash)]
pub(crate) struct Claims {
    segment: SegmentKey,
    /// The part that is committed next.
    part: u32,
    own: Vec<Page>,
}

impl Parser {
    /// The segment whose message it has.
    pub(crate) fn segment(&self) -> Option<SegmentKey> {
        match self {
            Self::Idle => None,
            Self::Claiming { claims, .. } | Self::Committing { claims } => Some(claims.segment),
            Self::Tidying { segment, .. } => Some(*segment),
        }
    }

    pub(crate) const fn tidying(&self) -> Option<&Tidying> {
        match self {
            Self::Tidying { tidying, .. } => Some(tidying),
            _ => None,
        }
    }

    /// What it has claimed and has still to claim, for fingerprints.
    pub(crate) fn claims(&self) -> impl std::hash::Hash + use<> {
        let claims = match self {
            Self::Claiming { claims, left } => Some((claims.clone(), left.clone())),
            Self::Committing { claims } => Some((claims.clone(), Vec::new())),
            Self::Idle | Self::Tidying { .. } => None,
        };
        (std::mem::discriminant(self), self.segment(), claims)
    }
}

pub(crate) fn steps(model: &Model, number: usize, steps: &mut Steps<'_>) {
    let parser = &steps.state.parsers[number];
    let name = || format!("parser {number}");
    match parser {
        Parser::Idle => {
            let messages = steps.state.messages.iter().copied();
            for message in messages.filter(|message| matches!(message, Message::Parse(_))) {
                let Message::Parse(segment) = message else { continue };
                let begins = |next: &mut State| next.parsers[number] = begin(model, next, segment, Documents::Read);
                Model::receive(steps, &name(), message, begins);
                steps.fault(
                    || format!("{} gets {message:?}, and skips what it cannot read", name()),
                    |faults| &mut faults.skips,
                    |next| {
                        next.messages.remove(&message);
                        next.parsers[number] = begin(model, next, segment, Documents::Skipped);
                    },
                );
            }
            return;
        }
        Parser::Claiming { claims, left } => steps.owed(
            || format!("{} claims page {}", name(), left[0]),
            |next| {
                let mut claims = claims.clone();
                if model.claim(next, claims.segment.iteration, left[0], &model.claimer(claims.segment)) {
                    claims.own.push(left[0]);
                }
                next.parsers[number] = go_on(claims, left[1..].to_vec());
            },
        ),
        Parser::Committing { claims } => steps.owed(
            || format!("{} commits part {} with pages {:?}", name(), claims.part, claims.own),
            |next| next.parsers[number] = commit(model, next, claims),
        ),
        Parser::Tidying { segment, tidying } => steps.owed(
            || format!("{} {}", name(), tidying.label()),
            |next| {
                next.parsers[number] = match tidying.step(model, next) {
                    Some(tidying) => Parser::Tidying { segment: *segment, tidying },
                    None => Parser::Idle,
                };
            },
        ),
    }
    let Some(segment) = parser.segment() else { return };
    let dies = |next: &mut State| {
        next.parsers[number] = Parser::Idle;
        next.send(Message::Parse(segment));
    };
    steps.fault(|| format!("{} dies", name()), |faults| &mut faults.crashes, dies);
}

fn begin(model: &Model, next: &mut State, segment: SegmentKey, understood: Documents) -> Parser {
    let Some(part) = model.next_part(next, segment) else {
        return tidy(model, segment, vec![segment.origin]);
    };
    let documents = model.documents(next, segment, understood);
    let Some(row) = next.segments.get(&segment) else { return Parser::Idle };
    let links = match documents {
        Documents::Read => model.links(row.page, row.depth).collect(),
        Documents::Skipped => Vec::new(),
    };
    go_on(Claims { segment, part, own: Vec::new() }, links)
}

fn go_on(claims: Claims, left: Vec<Page>) -> Parser {
    if left.is_empty() { Parser::Committing { claims } } else { Parser::Claiming { claims, left } }
}

fn commit(model: &Model, next: &mut State, claims: &Claims) -> Parser {
    let segment = claims.segment;
    match model.commit_part(next, segment, claims.part, &claims.own) {
        Part::Next(part) => Parser::Committing { claims: Claims { part, ..claims.clone() } },
        Part::Finished => {
            let targets = claims.own.iter().map(|&page| model.config.site.origin_of[page]);
            let others: BTreeSet<OriginNumber> = targets.filter(|&origin| origin != segment.origin).collect();
            tidy(model, segment, [segment.origin].into_iter().chain(others).collect())
        }
    }
}

fn tidy(model: &Model, segment: SegmentKey, origins: Vec<OriginNumber>) -> Parser {
    let origins = if model.lacks(Mutation::ParseLeavesOriginsAlone) { Vec::new() } else { origins };
    match Tidying::begin(segment.iteration, origins) {
        Some(tidying) => Parser::Tidying { segment, tidying },
        None => Parser::Idle,
    }
}
