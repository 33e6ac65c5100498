//! What to run, in a form that a person can copy: `1001`, `2 crash-before=117`, `7 random ClaimAlwaysOwn`.

use std::fmt;
use std::str::FromStr;

use crate::faults::{Plan, Side};
use crate::mutations::Mutation;

/// What to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Draws the scenario, the order of things, and the faults.
    pub seed: u64,
    /// What befalls it.
    pub plan: Plan,
    /// Which defect it has; absent: none.
    pub mutation: Option<Mutation>,
}

impl Setup {
    /// A run without a defect.
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
        let seed = words.next().ok_or("a seed comes first")?;
        let seed = seed.parse().map_err(|_| format!("{seed} is no seed"))?;
        let plan = words.next().map_or(Ok(Plan::Random), str::parse)?;
        let mutation = words.next().map(str::parse).transpose()?;
        match words.next() {
            None => Ok(Self { seed, plan, mutation }),
            Some(more) => Err(format!("nothing is known of {more}")),
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
        let unknown = || format!("{text} is no plan");
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
