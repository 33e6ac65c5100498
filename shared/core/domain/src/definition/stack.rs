//! Limits of the functions of a stack, which a definition must not exceed there: they have 512 MB
//! of disk, and 15 minutes, write to no database but the stack's own, and render pages only where
//! it was deployed so.

use std::time::Duration;

use super::{Draft, Key, KeyPlace, Mistake, Problem, Quantity, RenderWhen, SecretReference};

/// The upper bounds of keys on a stack, where they are lower than elsewhere.
pub const STACK_MAXIMA: [(Key, Quantity); 2] = [
    (Key::FetchTimeout, Quantity::Time(Duration::from_secs(90))),
    (Key::FetchFileBytesMax, Quantity::Bytes(100 << 20)),
];

/// Where a crawl runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunsWhere {
    /// On a machine, or it is not known yet.
    Anywhere,
    /// On a stack, whose functions have limits of their own.
    OnStack(StackBrowsers),
}

/// Whether a stack has browsers to render pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackBrowsers {
    /// It has, in a function of their own.
    There,
    /// It has none.
    Missing,
}

/// Returns the problems of a valid definition that exceeds the limits of where it runs.
#[must_use]
pub fn stack_problems(draft: &Draft, runs: RunsWhere) -> Vec<Problem> {
    let RunsWhere::OnStack(browsers) = runs else { return Vec::new() };
    let problem = |(key, max): (Key, Quantity)| {
        let value = key.amount(draft).filter(|value| *value > max)?;
        Some(Problem { place: key.into(), mistake: Mistake::BeyondStack { value, max } })
    };
    let values = draft.access.iter().enumerate().filter_map(|(entry, rule)| {
        let elsewhere = rule.secrets().find(|secret| !matches!(secret, SecretReference::Managed(_)))?;
        let mistake = Mistake::ValueOnStack(elsewhere.clone());
        Some(Problem { place: KeyPlace::entry(Key::Access, entry), mistake })
    });
    let key = draft.identity.key.as_ref().filter(|key| !matches!(key, SecretReference::Managed(_)));
    let key = key.map(|key| Problem { place: Key::IdentityKey.into(), mistake: Mistake::ValueOnStack(key.clone()) });
    let is_not_rendered = browsers == StackBrowsers::Missing && draft.render.when == RenderWhen::Always;
    let not_there = [
        (Key::RenderWhen, is_not_rendered, Mistake::NoBrowserOnStack),
        (Key::SinkPostgres, draft.sink.postgres.is_some(), Mistake::NotOnStack),
        (Key::SinkParquet, draft.sink.parquet.is_some(), Mistake::NotOnStack),
    ];
    let set = not_there.into_iter().filter(|(_, is_set, _)| *is_set);
    let not_done = set.map(|(key, _, mistake)| Problem { place: key.into(), mistake });
    STACK_MAXIMA.into_iter().filter_map(problem).chain(values).chain(key).chain(not_done).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::{AccessRule, Authorization};

    #[test]
    fn the_defaults_are_within_the_limits_of_a_stack() {
        type Change = fn(&mut Draft);
        fn log_in_by(draft: &mut Draft, value: &str) {
            let authorization = Some(Authorization::Basic(value.parse().unwrap()));
            let hosts = vec!["a.example".parse().unwrap()];
            draft.access.push(AccessRule { authorization, ..AccessRule::for_hosts(hosts) });
        }
        let cases: [(Change, &[&str], &str); 8] = [
            (|_| {}, &[], "the defaults"),
            (|draft| draft.fetch.file_bytes_max = 100 << 20, &[], "just as much"),
            (
                |draft| draft.fetch.file_bytes_max = (100 << 20) + 1,
                &["fetch.file_bytes_max: `104857601B` is more than a stack can do, which is `100MiB`"],
                "its disk",
            ),
            (
                |draft| draft.fetch.timeout = Duration::from_secs(3_600),
                &["fetch.timeout: `1h` is more than a stack can do, which is `1m 30s`"],
                "its time",
            ),
            (
                |draft| log_in_by(draft, "env:A"),
                &["access entry 1: a stack cannot read `env:A`"],
                "the variables of a machine",
            ),
            (|draft| log_in_by(draft, "secret:a/login"), &[], "what AWS keeps"),
            (
                |draft| draft.render.when = RenderWhen::Always,
                &["render.when: this stack has no browsers"],
                "it was deployed without",
            ),
            (
                |draft| draft.sink.postgres = "env:DATABASE_URL".parse().ok(),
                &["sink.postgres: a stack does not do this"],
                "a stack has one database for all crawls",
            ),
        ];
        for (change, expected, why) in cases {
            let mut draft = Draft::for_seeds(vec!["https://a.example/".to_owned().try_into().unwrap()]);
            change(&mut draft);
            let told = |runs| stack_problems(&draft, runs).iter().map(ToString::to_string).collect::<Vec<_>>();
            assert_eq!(told(RunsWhere::OnStack(StackBrowsers::Missing)), expected, "{why}");
            let rendered =
                expected.iter().filter(|problem| !problem.starts_with("render")).copied().collect::<Vec<_>>();
            assert_eq!(told(RunsWhere::OnStack(StackBrowsers::There)), rendered, "{why}");
            assert_eq!(told(RunsWhere::Anywhere), [""; 0], "{why}");
            assert!(super::super::Definition::new(draft).is_ok(), "{why}: elsewhere it is sound");
        }
    }
}
