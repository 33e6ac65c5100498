//! The checks that turn a draft into a definition.

use super::{Condition, Draft, Key, KeyPlace, Mistake, Problem, items, recrawl};
use crate::policy::{AllowedOrigins, BlockRule, Decision, Policy, ScopeRule};

/// Limits that do not belong to one key, or on which other formats rely. The limits of each key are
/// in [`Key::kind`].
pub mod limits {
    use std::ops::RangeInclusive;
    use std::time::Duration;

    /// The limit on the tests in all conditions together.
    pub const TESTS_MAX: usize = 1_000;
    /// The limit on the parameter names of a query rule.
    pub const PARAMETERS_MAX: usize = 200;
    /// The limit on a parameter name, in bytes.
    pub const PARAMETER_BYTES_MAX: usize = 200;
    /// The limit on the reason of a rule, in characters.
    pub const REASON_CHARS_MAX: usize = 200;

    /// The limit on the name of an item type or field.
    pub const ITEM_NAME_LEN_MAX: usize = 64;
    /// The limit on the fields of a type, including those of its records.
    pub const FIELDS_MAX: usize = 200;
    /// The limit on the fields of all types together.
    pub const FIELDS_OF_ALL_TYPES_MAX: usize = 2_000;
    /// The limit on the nesting of fields: a field of a type has depth 1, a field of its record 2.
    pub const RECORDS_DEPTH_MAX: usize = 4;
    /// The limit on the places of a field.
    pub const SELECTORS_MAX: usize = 10;
    /// The limit on the selectors of a rule for main parts.
    pub const MAIN_SELECTORS_MAX: usize = 100;
    /// The limit on a selector or path, in bytes.
    pub const SELECTOR_BYTES_MAX: usize = 1_000;

    /// The limit on the hosts of a rule for access.
    pub const ACCESS_HOSTS_MAX: usize = 100;
    /// The limit on the fields that such a rule sets.
    pub const ACCESS_HEADERS_MAX: usize = 20;
    /// The limit on the fields of a form to log in.
    pub const LOGIN_FIELDS_MAX: usize = 20;

    /// The time limits of a request until its answer begins.
    pub const TIMEOUT: RangeInclusive<Duration> = Duration::from_millis(100)..=Duration::from_secs(90);
    /// The time limit of a whole request. Leases are long enough for it, with a reserve for the
    /// commit.
    pub const EXCHANGE: RangeInclusive<Duration> = Duration::from_millis(100)..=Duration::from_secs(3_600);
    /// Bytes of a response header.
    pub const HEADER_BYTES: RangeInclusive<u64> = 1 << 10..=1 << 20;
    /// The size of a body that is parsed, as received, in bytes.
    pub const BODY_BYTES: RangeInclusive<u64> = 1 << 10..=256 << 20;
    /// The size of a body that is not parsed, as received, in bytes.
    pub const FILE_BYTES: RangeInclusive<u64> = 1 << 10..=4 << 30;
}

/// Returns all problems, in the order of the keys.
pub(super) fn problems(draft: &Draft) -> Vec<Problem> {
    let mut problems: Vec<Problem> = [
        counts(draft),
        conditions(draft),
        texts(draft),
        ranges(draft),
        bounds(draft),
        identity(draft),
        items::problems(&draft.items),
        recrawl::problems(&draft.recrawl),
    ]
    .concat();
    // Rules are tried on the seeds only once they are valid: the compiled policy relies on it.
    if problems.is_empty() {
        problems = seeds(draft);
    }
    problems.sort_by_key(|problem| problem.place);
    problems
}

pub(super) fn problem(place: impl Into<KeyPlace>, mistake: impl Into<Mistake>) -> Problem {
    Problem { place: place.into(), mistake: mistake.into() }
}

/// Checks for lists that are too long, or empty although they must not be.
fn counts(draft: &Draft) -> Vec<Problem> {
    let too_many = Key::ALL.iter().filter_map(|&key| {
        let (count, max) = (key.entries(draft)?, key.kind().entries_max()?);
        (count > max).then(|| problem(key, Mistake::TooMany { count, max }))
    });
    let none = draft.seeds.is_empty().then(|| problem(Key::Seeds, Mistake::NoSeeds));
    too_many.chain(none).collect()
}

fn conditions(draft: &Draft) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut tests = 0;
    for (place, condition) in all_conditions(draft) {
        match condition.mistake() {
            Some(mistake) => problems.push(problem(place, mistake)),
            None => tests += condition.tests(),
        }
        if tests > limits::TESTS_MAX {
            problems.push(problem(place, Mistake::TooMany { count: tests, max: limits::TESTS_MAX }));
            break;
        }
    }
    problems
}

fn all_conditions(draft: &Draft) -> impl Iterator<Item = (KeyPlace, &Condition)> {
    let blocks = draft.do_not_crawl.iter().map(|rule| Some(&rule.when)).enumerate();
    let queries = draft.url_query_parameters.iter().map(|rule| rule.when.as_ref()).enumerate();
    let items = draft.items.iter().map(|item_type| item_type.when.as_ref()).enumerate();
    let mains = draft.main.iter().map(|rule| rule.when.as_ref()).enumerate();
    let access = draft.access.iter().map(|rule| rule.when.as_ref()).enumerate();
    let recrawls = draft.recrawl.rules.iter().map(|rule| Some(&rule.when)).enumerate();
    blocks
        .map(|(entry, condition)| (KeyPlace::entry(Key::DoNotCrawl, entry), condition))
        .chain(queries.map(|(entry, condition)| (KeyPlace::entry(Key::UrlQueryParameters, entry), condition)))
        .chain(items.map(|(entry, condition)| (KeyPlace::entry(Key::Items, entry), condition)))
        .chain(mains.map(|(entry, condition)| (KeyPlace::entry(Key::Main, entry), condition)))
        .chain(access.map(|(entry, condition)| (KeyPlace::entry(Key::Access, entry), condition)))
        .chain(recrawls.map(|(entry, condition)| (KeyPlace::entry(Key::RecrawlRules, entry), condition)))
        .filter_map(|(place, condition)| Some((place, condition?)))
}

fn texts(draft: &Draft) -> Vec<Problem> {
    let reasons = draft.do_not_crawl.iter().enumerate().filter_map(|(entry, rule)| {
        let chars = rule.reason.chars().count();
        let sound = !rule.reason.trim().is_empty()
            && chars <= limits::REASON_CHARS_MAX
            && !rule.reason.contains(char::is_control);
        (!sound).then(|| problem(KeyPlace::entry(Key::DoNotCrawl, entry), Mistake::Reason))
    });
    let names = draft.url_query_parameters.iter().enumerate().filter_map(|(entry, rule)| {
        let place = KeyPlace::entry(Key::UrlQueryParameters, entry);
        if rule.allow.len() > limits::PARAMETERS_MAX {
            return Some(problem(place, Mistake::TooMany { count: rule.allow.len(), max: limits::PARAMETERS_MAX }));
        }
        let bad = rule.allow.iter().find(|name| !is_parameter_name(name))?;
        Some(problem(place, Mistake::ParameterName(bad.chars().filter(|c| !c.is_control()).take(40).collect())))
    });
    reasons.chain(names).chain(selectors(draft)).collect()
}

/// Checks for rules for main parts without selectors, or with too many.
fn selectors(draft: &Draft) -> impl Iterator<Item = Problem> {
    draft.main.iter().enumerate().filter_map(|(entry, rule)| {
        let place = KeyPlace::entry(Key::Main, entry);
        match rule.selectors().count() {
            0 => Some(problem(place, Mistake::NoSelector)),
            count if count > limits::MAIN_SELECTORS_MAX => {
                Some(problem(place, Mistake::TooMany { count, max: limits::MAIN_SELECTORS_MAX }))
            }
            _ => None,
        }
    })
}

fn is_parameter_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= limits::PARAMETER_BYTES_MAX && !name.contains(char::is_control)
}

fn identity(draft: &Draft) -> Vec<Problem> {
    let identity = &draft.identity;
    let not_a_host = (!identity.has_sound_directory()).then_some(Mistake::NotAHost);
    let no_key = (identity.directory.is_some() && identity.key.is_none()).then_some(Mistake::NoKey);
    not_a_host.or(no_key).map(|mistake| problem(Key::IdentityDirectory, mistake)).into_iter().collect()
}

/// Checks for values outside their bounds.
fn ranges(draft: &Draft) -> Vec<Problem> {
    let mistake = |key: Key| key.kind().mistake(key.amount(draft)?);
    Key::ALL.iter().filter_map(|&key| Some(problem(key, mistake(key)?))).collect()
}

/// Checks for values that exceed another key. Those of `recrawl` depend on the policy:
/// `recrawl::problems` checks them.
fn bounds(draft: &Draft) -> Vec<Problem> {
    const PAIRS: [(Key, Key); 3] = [
        (Key::FetchConnectTimeout, Key::FetchTimeout),
        (Key::FetchFirstByteTimeout, Key::FetchTimeout),
        (Key::FetchBodyBytesMax, Key::FetchDecodedBytesMax),
    ];
    let mut problems: Vec<Problem> = Vec::new();
    for (key, other) in PAIRS {
        // An absent limit is neither a bound nor bounded.
        let (Some(value), Some(bound)) = (key.amount(draft), other.amount(draft)) else { continue };
        // A value is reported once, even if several others bound it.
        if value > bound && problems.iter().all(|told| told.place.key != key) {
            problems.push(problem(key, Mistake::MoreThan { value, other: other.into(), bound }));
        }
    }
    problems
}

/// Checks for seeds that the user's own rules exclude, which cannot be intended.
fn seeds(draft: &Draft) -> Vec<Problem> {
    let Ok(policy) = Policy::compile_draft(draft) else {
        return vec![problem(Key::ScopeInclude, Mistake::PatternsTooLarge)];
    };
    let allowed = AllowedOrigins::from_draft(draft);
    let mut problems: Vec<Problem> = Vec::new();
    let mut included = 0_usize;
    let mut not_included = None;
    let mut blocked = None;
    let mut crawled = 0_usize;
    for seed in &draft.seeds {
        match policy.decide(seed, 0, &allowed) {
            Decision::OutOfScope(ScopeRule::Exclude { entry, .. }) => {
                let place = KeyPlace::entry(Key::ScopeExclude, entry);
                if problems.iter().all(|told| told.place != place) {
                    problems.push(problem(place, Mistake::ExcludesSeed(seed.clone())));
                }
            }
            Decision::OutOfScope(ScopeRule::NotIncluded) => not_included = not_included.or(Some(seed)),
            // Seeds are within their own origins, 0 links from themselves, neither requisites nor
            // merely checked.
            Decision::OutOfScope(
                ScopeRule::NotWithin(_)
                | ScopeRule::NotListed
                | ScopeRule::Depth { .. }
                | ScopeRule::Requisites
                | ScopeRule::RequisiteSteps { .. }
                | ScopeRule::NotChecked
                | ScopeRule::CheckRedirects { .. }
                | ScopeRule::SitemapIndexes { .. }
                | ScopeRule::FeedParts { .. },
            ) => {}
            Decision::Blocked(rule) => {
                included += 1;
                blocked = blocked.or(Some((seed, rule)));
            }
            Decision::Crawl => {
                included += 1;
                crawled += 1;
            }
        }
    }
    if let (0, Some(seed)) = (included, not_included) {
        problems.push(problem(Key::ScopeInclude, Mistake::IncludesNoSeed(seed.clone())));
    }
    if let (0, Some((seed, rule))) = (crawled, blocked) {
        let mistake = Mistake::BlocksEverySeed { seed: seed.clone(), rule: rule.to_string() };
        problems.push(problem(rule_place(&rule), mistake));
    }
    problems
}

fn rule_place(rule: &BlockRule<'_>) -> KeyPlace {
    match rule {
        BlockRule::DoNotCrawl { entry, .. } => KeyPlace::entry(Key::DoNotCrawl, *entry),
        BlockRule::QueryParameters(_) => Key::UrlQueryParameters.into(),
        BlockRule::Trap(trap) => trap.key().into(),
    }
}
