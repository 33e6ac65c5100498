//! What the stack tells its functions, by environment variables.

use dragline_aws::{QueueUrls, TableNames};

/// Where everything of a stack is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `DRAGLINE_TABLES`: the tables, by what their names begin with.
    pub tables: TableNames,
    /// `DRAGLINE_BUCKET`: bodies and documents.
    pub bucket: String,
    /// `DRAGLINE_TURNS_URL`, `DRAGLINE_SEGMENTS_URL`, `DRAGLINE_COMMANDS_URL`: the queues.
    pub queues: QueueUrls,
    /// `DRAGLINE_TOPIC_ARN`: where people are told.
    pub topic_arn: String,
}

/// A variable that the stack did not set, or not to anything of use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// It is not there.
    #[error("the environment variable {0} is not set")]
    Missing(&'static str),
    /// It is there, and says something else.
    #[error("the environment variable {name} is wrong: {why}")]
    Wrong {
        /// Which.
        name: &'static str,
        /// What is wrong.
        why: String,
    },
}

impl Settings {
    /// Reads the variables, by a function that gives one of a name.
    ///
    /// # Errors
    /// One is missing.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, SettingError> {
        let get = |name| variable(name).filter(|text| !text.is_empty()).ok_or(SettingError::Missing(name));
        Ok(Self {
            tables: TableNames::with_prefix(&get("DRAGLINE_TABLES")?),
            bucket: get("DRAGLINE_BUCKET")?,
            queues: QueueUrls {
                turns: get("DRAGLINE_TURNS_URL")?,
                segments: get("DRAGLINE_SEGMENTS_URL")?,
                commands: get("DRAGLINE_COMMANDS_URL")?,
            },
            topic_arn: get("DRAGLINE_TOPIC_ARN")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 6] = [
        "DRAGLINE_TABLES",
        "DRAGLINE_BUCKET",
        "DRAGLINE_TURNS_URL",
        "DRAGLINE_SEGMENTS_URL",
        "DRAGLINE_COMMANDS_URL",
        "DRAGLINE_TOPIC_ARN",
    ];

    #[test]
    fn each_variable_is_needed() {
        let all = Settings::read(|name| Some(name.to_lowercase())).unwrap();
        assert_eq!(all.queues.segments, "dragline_segments_url");
        for missing in NAMES {
            for text in [None, Some(String::new())] {
                let read = Settings::read(|name| if name == missing { text.clone() } else { Some("a".to_owned()) });
                assert_eq!(read, Err(SettingError::Missing(missing)));
            }
        }
    }
}
