//! An HTTP API and a page over what crawls stored, and for the commands to them.
//!
//! [`router`] answers from a [`Backend`]: the crawls of a data directory or of a stack.
//! [`PortsBackend`] is one over the ports, so both engines give the same answers. All that is read
//! comes from a [`Reader`](dragline_ports::reader::Reader), and all that is changed goes through
//! the commands that the queue of a stack takes as well: nothing is done twice for HTTP. Tools for
//! agents ([`Agents`]) call the API as everybody does.

mod access;
mod backend;
mod bodies;
#[expect(unused_qualifications, reason = "`utoipa::path` repeats the path of parameters")]
mod crawls;
mod etag;
pub mod explained;
mod extract;
mod guard;
mod idempotency;
mod limiter;
mod links;
mod mcp;
mod metrics;
mod openapi;
mod page;
mod ports;
#[expect(unused_qualifications, reason = "`utoipa::path` repeats the path of parameters")]
mod printouts;
mod problem;
#[expect(unused_qualifications, reason = "`utoipa::path` repeats the path of parameters")]
mod progress;
mod router;
mod rows;
#[expect(unused_qualifications, reason = "`utoipa::path` repeats the path of parameters")]
mod search;
pub mod stored;

pub use access::{Access, Role, Token, TokenError};
pub use backend::{
    Answer, Backend, CrawlStanding, IterationView, ProgressView, RowBatch, RowKind, RowsQuery, ScheduleState,
};
pub use bodies::AddCrawl;
pub use guard::HostCheck;
pub use limiter::PeerAddress;
pub use links::{Link, LinkState, refresh_definition};
pub use mcp::{
    Agents, AllowedHost, AllowedHostError, Api, ApiError, ApiResponse, Caller, CrawlAllowance, Crawling, ProtocolError,
    serve_stdio,
};
pub use metrics::{Figure, Sample, figures};
pub use ports::{Freshness, PortsBackend, Stores};
pub use printouts::{
    ArchiveQuery, BodyForm, BodyQuery, DiffQuery, DiffSubject, DiffWhich, Output, Printout, ReportFormat, ReportQuery,
};
pub use problem::Problem;
pub use progress::SentWhole;
pub use router::{Service, router};
