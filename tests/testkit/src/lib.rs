//! What Dragline's tests share: conformance suites, a clock set by hand, and web servers,
//! well-behaved and hostile, whole crawls, and the processes of functions.

pub mod before;
pub mod clock;
pub mod conformance;
pub mod functions;
pub mod hostile;
pub mod members;
pub mod mutants;
pub mod postgres;
pub mod renderer;
pub mod site;
pub mod whole_crawls;
