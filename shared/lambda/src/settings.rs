//! The functions' settings, which the stack passes in environment variables.

use std::time::Duration;

use dragline_aws::{QueueUrls, TableNames};

/// The variable with the number of days to keep the log; 0 means forever.
const LOG_DAYS: &str = "DRAGLINE_LOG_DAYS";

const DAY: Duration = Duration::from_secs(24 * 3_600);

/// The locations of a stack's parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `DRAGLINE_TABLES`: the prefix of the tables' names.
    pub tables: TableNames,
    /// `DRAGLINE_BUCKET`: the bucket of bodies and documents.
    pub bucket: String,
    /// `DRAGLINE_TURNS_URL`, `DRAGLINE_SEGMENTS_URL`, `DRAGLINE_COMMANDS_URL`,
    /// `DRAGLINE_PUBLICATIONS_URL`: the queues.
    pub queues: QueueUrls,
    /// `DRAGLINE_TOPIC_ARN`: the topic of notices.
    pub topic_arn: String,
    /// `DRAGLINE_LOG_DAYS`: how long the log is kept; `None` for forever, which the variable writes
    /// as 0.
    pub log_kept: Option<Duration>,
}

/// A missing or invalid variable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// It is missing.
    #[error("the environment variable {0} is not set")]
    Missing(&'static str),
    /// It has an invalid value.
    #[error("the environment variable {name} is wrong: {why}")]
    Wrong {
        /// Its name.
        name: &'static str,
        /// The error.
        why: String,
    },
}

impl Settings {
    /// Reads the variables through a function that returns one by name.
    ///
    /// # Errors
    /// A variable is missing or invalid.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, SettingError> {
        let get = |name| variable(name).filter(|text| !text.is_empty()).ok_or(SettingError::Missing(name));
        Ok(Self {
            tables: TableNames::with_prefix(&get("DRAGLINE_TABLES")?),
            bucket: get("DRAGLINE_BUCKET")?,
            queues: QueueUrls {
                turns: get("DRAGLINE_TURNS_URL")?,
                segments: get("DRAGLINE_SEGMENTS_URL")?,
                commands: get("DRAGLINE_COMMANDS_URL")?,
                publications: get("DRAGLINE_PUBLICATIONS_URL")?,
            },
            topic_arn: get("DRAGLINE_TOPIC_ARN")?,
            log_kept: days(LOG_DAYS, &get(LOG_DAYS)?)?,
        })
    }
}

/// Parses a retention in days; `None` for forever, which is written as 0.
///
/// # Errors
/// It is not a number of days.
pub fn days(name: &'static str, text: &str) -> Result<Option<Duration>, SettingError> {
    let days: u16 = text.parse().map_err(|_| {
        let why = format!("`{}` is not a number of days up to {}", text.escape_debug(), u16::MAX);
        SettingError::Wrong { name, why }
    })?;
    Ok((days > 0).then(|| DAY * u32::from(days)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 8] = [
        "DRAGLINE_TABLES",
        "DRAGLINE_BUCKET",
        "DRAGLINE_TURNS_URL",
        "DRAGLINE_SEGMENTS_URL",
        "DRAGLINE_COMMANDS_URL",
        "DRAGLINE_PUBLICATIONS_URL",
        "DRAGLINE_TOPIC_ARN",
        LOG_DAYS,
    ];

    /// Returns a value for a variable that only has to be present.
    fn some(name: &str) -> String {
        if name == LOG_DAYS { "30".to_owned() } else { name.to_lowercase() }
    }

    #[test]
    fn each_variable_is_needed() {
        let all = Settings::read(|name| Some(some(name))).unwrap();
        assert_eq!(all.queues.segments, "dragline_segments_url");
        for missing in NAMES {
            for text in [None, Some(String::new())] {
                let read = Settings::read(|name| if name == missing { text.clone() } else { Some(some(name)) });
                assert_eq!(read, Err(SettingError::Missing(missing)));
            }
        }
    }

    #[test]
    fn the_log_is_kept_for_days_or_forever() {
        let day = Duration::from_secs(86_400);
        for (text, expected, why) in [
            ("0", Some(None), "forever"),
            ("1", Some(Some(day)), "a day"),
            ("365", Some(Some(day * 365)), "a year"),
            ("-1", None, "not a length of time"),
            ("1000000", None, "longer than anybody means"),
            ("30d", None, "the unit is in the name"),
        ] {
            let read = Settings::read(|name| Some(if name == LOG_DAYS { text.to_owned() } else { some(name) }));
            assert_eq!(read.ok().map(|settings| settings.log_kept), expected, "{text:?}: {why}");
        }
    }
}
