//! What Dragline's tests share: conformance suites, a clock set by hand, and web servers, well-behaved and hostile.

pub mod before;
pub mod clock;
pub mod conformance;
pub mod hostile;
pub mod mutants;
pub mod site;
