//! What Dragline's tests share: conformance suites, a clock to move, web servers with awkward sites.

pub mod before;
pub mod clock;
pub mod conformance;
pub mod hostile;
pub mod mutants;
pub mod site;
