//! The simulated web behind the conductor. The faults of a request are a connection that breaks,
//! before the answer or after, or is slow.

use dragline_domain::time::between;
use dragline_ports::error::PortResult;
use dragline_ports::fetcher::{FetchOutcome, FetchRequest, Fetcher};

use super::{Gate, SimulatedClock};
use crate::web::SimulatedWeb;

pub(crate) struct GatedWeb {
    pub(crate) gate: Gate,
    pub(crate) web: SimulatedWeb<SimulatedClock>,
}

impl Fetcher for GatedWeb {
    async fn fetch(&self, request: FetchRequest) -> FetchOutcome {
        let (url, patience, set_out) = (request.url.clone(), request.limits.connect_timeout, self.web.now());
        let sent: PortResult<()> = self.gate.pass("fetcher.send", &url, async { Ok(()) }).await;
        let way = between(set_out, self.web.now());
        if way > patience {
            return self.web.give_up(&request, way);
        }
        if sent.is_err() {
            return self.web.refuse(&request, set_out);
        }
        let (entry, fetched) = self.web.ask(request, set_out).await;
        let answered: PortResult<()> = self.gate.pass("fetcher.answer", &url, async { Ok(()) }).await;
        if answered.is_err() { self.web.lose(entry, set_out) } else { fetched }
    }
}
