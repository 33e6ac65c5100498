//! Settling origins, which wakes or closes them: what every step does at its end.

use std::rc::Rc;

use dragline_domain::frontier::{Need, OriginRows, need};
use dragline_domain::ids::Iteration;

use crate::config::Reading;
use crate::model::Model;
use crate::site::OriginNumber;
use crate::state::{Message, State, Ticket};
use crate::store::Settled;

/// The origins to settle, one after another.
#[derive(Clone)]
pub(crate) struct Tidying {
    pub iteration: Iteration,
    /// The first one is in progress. Never empty.
    pub origins: Vec<OriginNumber>,
    pub doing: Doing,
}

/// The stage of the origin in progress.
#[derive(Clone)]
pub(crate) enum Doing {
    /// Its rows must be read.
    Reading,
    /// Its rows were read, and it must be settled.
    Settling(Rc<OriginRows>),
    /// It was woken, and this ticket is owed.
    Sending(Ticket),
}

impl Tidying {
    /// Starts with these origins; `None` if there are none.
    pub(crate) fn begin(iteration: Iteration, origins: Vec<OriginNumber>) -> Option<Self> {
        (!origins.is_empty()).then_some(Self { iteration, origins, doing: Doing::Reading })
    }

    /// Whether this origin is still to be settled.
    pub(crate) fn is_about(&self, origin: OriginNumber) -> bool {
        self.origins.contains(&origin)
    }

    /// The label of the next step.
    pub(crate) fn label(&self) -> String {
        let origin = self.origins[0];
        match &self.doing {
            Doing::Reading => format!("reads origin {origin}"),
            Doing::Settling(_) => format!("settles origin {origin} as it was read"),
            Doing::Sending(ticket) => format!("sends the ticket of origin {origin}, turn {}", ticket.turn),
        }
    }

    /// Takes the next step. Returns what is left to do, if anything.
    pub(crate) fn step(&self, model: &Model, next: &mut State) -> Option<Self> {
        let Self { iteration, origins, doing } = self;
        let origin = origins[0];
        let further = Self::begin(*iteration, origins[1..].to_vec());
        let again = |doing| Some(Self { doing, ..self.clone() });
        let seen = match doing {
            Doing::Sending(ticket) => {
                next.send(Message::Ticket(*ticket));
                return further;
            }
            Doing::Settling(seen) => Rc::clone(seen),
            Doing::Reading => {
                let rows = next.rows(origin).filter(|rows| rows.lease.iteration == *iteration).cloned();
                let Some(rows) = rows else { return further };
                match need(&rows) {
                    Need::Nothing => return further,
                    Need::Ticket(turn) => {
                        next.send(Message::Ticket(Ticket { iteration: *iteration, origin, turn }));
                        return further;
                    }
                    Need::Settling if model.config.reading == Reading::Apart => return again(Doing::Settling(rows)),
                    Need::Settling => rows,
                }
            }
        };
        match model.settle(next, origin, &seen) {
            Settled::Woken(turn) => again(Doing::Sending(Ticket { iteration: *iteration, origin, turn })),
            Settled::Closed => further,
            Settled::Changed => again(Doing::Reading),
        }
    }
}
