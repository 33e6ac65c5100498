//! What to run, in a form to copy and paste: `1001`, `2 crash-before=117`, `7 random
//! ClaimAlwaysOwn`.

use std::fmt;
use std::str::FromStr;

use crate::faults::{Plan, Side};
use crate::mutations::Mutation;

/// What to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// The seed from which the scenario, the order of events and the faults are drawn.
    pub seed: u64,
    /// The plan of faults.
    pub plan: Plan,
    /// The defect; `None` for a run without one.
    pub mutation: Option<Mutation>,
}

impl Setup {
    /// A setup without a defect.
    #[must_use]
    pub const fn new(seed: u64, plan: Plan) -> Self {
        Self { seed, plan, mutation: None }
    }
}

impl fmt::Display for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.seed, self.plan)?;
        self.mutation.map_or(Ok(()), |mutation| write!(f, " {mutation}"))
    }
}

impl FromStr for Setup {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut words = text.split_whitespace();
        let seed = words.next().ok_or("give a seed first")?;
        let seed = seed.parse().map_err(|_| format!("{seed} is not a seed"))?;
        let plan = words.next().map_or(Ok(Plan::Random), str::parse)?;
        let mutation = words.next().map(str::parse).transpose()?;
        match words.next() {
            None => Ok(Self { seed, plan, mutation }),
            Some(more) => Err(format!("unknown word: {more}")),
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clean => f.write_str("clean"),
            Self::Random => f.write_str("random"),
            Self::CrashAt(at, Side::Before) => write!(f, "crash-before={at}"),
            Self::CrashAt(at, Side::After) => write!(f, "crash-after={at}"),
        }
    }
}

impl FromStr for Plan {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unknown = || format!("{text} is not a plan");
        let (name, number) = text.split_once('=').map_or((text, None), |(name, number)| (name, Some(number)));
        let number = number.map(|number| number.parse().map_err(|_| unknown())).transpose()?;
        match (name, number) {
            ("clean", None) => Ok(Self::Clean),
            ("random", None) => Ok(Self::Random),
            ("crash-before", Some(at)) => Ok(Self::CrashAt(at, Side::Before)),
            ("crash-after", Some(at)) => Ok(Self::CrashAt(at, Side::After)),
            _ => Err(unknown()),
        }
    }
}
