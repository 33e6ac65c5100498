//! Commands as messages to a stack: JSON objects with one key (`docs/reference/commands.md`).

use std::path::Path;

use dragline_definition::{parse_as, parse_command};
use dragline_domain::command::Command;
use dragline_domain::definition::{Condition, Definition, StackBrowsers, UrlPattern};
use dragline_domain::frontier::{Demand, Selection, StatusChange, Visits};
use dragline_domain::ids::CrawlId;
use dragline_ports::queue::PruneCommand;
use serde::Serialize;
use serde_json::{Value, json};

use super::DeployedError;

/// A command to a stack.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Message {
    /// Crawl this URL.
    Url(String),
    /// Visit URLs on demand.
    Demand(DemandMessage),
    /// Rebuild the documents of a crawl, all or those that match the condition.
    Reparse {
        crawl: CrawlId,
        #[serde(skip_serializing_if = "Option::is_none")]
        r#where: Option<Condition>,
    },
    /// Store this definition and begin an iteration.
    Definition(Value),
    /// Store this definition and keep its schedule.
    PutCrawl { definition: Value },
    /// Begin an iteration.
    Start { crawl: CrawlId },
    /// Pause the running iteration.
    Pause { crawl: CrawlId },
    /// Resume a paused iteration.
    Resume { crawl: CrawlId },
    /// End the running iteration as it stands.
    Stop { crawl: CrawlId },
    /// Switch the crawl off, and stop its running iteration.
    Remove { crawl: CrawlId },
    /// Delete the data of dropped iterations that nothing refers to.
    Prune(PruneCommand),
}

/// URLs on demand, with their options.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct DemandMessage {
    /// The crawl; `None` for the one named after their host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) crawl: Option<CrawlId>,
    /// The URLs as given.
    pub(super) urls: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pattern: Option<UrlPattern>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skip: Vec<UrlPattern>,
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<u32>,
    force: bool,
}

impl DemandMessage {
    /// Returns the message that demands these URLs.
    pub(super) fn new(crawl: Option<CrawlId>, urls: Vec<String>, demand: &Demand) -> Self {
        let Demand { pattern, skip, depth, visits } = demand.clone();
        Self { crawl, urls, pattern, skip, depth, force: visits == Visits::All }
    }
}

impl Message {
    /// Returns the message that rebuilds documents.
    pub(super) fn reparse(crawl: CrawlId, selection: Selection) -> Self {
        let r#where = match selection {
            Selection::All => None,
            Selection::Where(condition) => Some(*condition),
        };
        Self::Reparse { crawl, r#where }
    }

    /// Returns the message that changes the status of the running iteration.
    pub(super) const fn change(crawl: CrawlId, change: StatusChange) -> Self {
        match change {
            StatusChange::Pause => Self::Pause { crawl },
            StatusChange::Resume => Self::Resume { crawl },
            StatusChange::Stop => Self::Stop { crawl },
        }
    }

    /// Returns the body of the message.
    pub(super) fn body(&self) -> String {
        json!(self).to_string()
    }
}

/// A definition with its file.
pub(super) struct DefinitionFile<'f> {
    pub(super) path: &'f Path,
    pub(super) text: &'f str,
    /// The parsed definition.
    pub(super) definition: &'f Definition,
}

impl DefinitionFile<'_> {
    /// Returns the message that stores the definition and begins an iteration.
    ///
    /// # Errors
    /// See [`DefinitionFile::message`].
    pub(super) fn begin_message(&self) -> Result<Message, DeployedError> {
        self.message(Message::Definition, Command::Define)
    }

    /// Returns the message that stores the definition.
    ///
    /// # Errors
    /// See [`DefinitionFile::message`].
    pub(super) fn put_message(&self) -> Result<Message, DeployedError> {
        self.message(|definition| Message::PutCrawl { definition }, Command::PutCrawl)
    }

    /// Returns a message with the definition as written, so that the stack's defaults apply to
    /// missing keys.
    ///
    /// # Errors
    /// The message is not valid, or differs from the file: YAML and JSON read some values
    /// differently.
    fn message(
        &self,
        message: impl FnOnce(Value) -> Message,
        command: impl FnOnce(Box<Definition>) -> Command,
    ) -> Result<Message, DeployedError> {
        let value = parse_as(self.text, &self.path.display().to_string()).map_err(DeployedError::Message)?;
        let message = message(value);
        let parsed = parse_command(&message.body(), StackBrowsers::There).map_err(DeployedError::Message)?;
        if parsed == command(Box::new(self.definition.clone())) {
            Ok(message)
        } else {
            Err(DeployedError::Ambiguous(self.path.to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;
    use std::time::Duration;

    use dragline_domain::definition::TextTest;
    use dragline_domain::retention::Retention;
    use dragline_domain::url::{CrawlUrl, UrlRules};

    use super::*;

    fn message(text: &str) -> Result<Message, DeployedError> {
        let definition = dragline_definition::parse(text, "crawl.yaml").unwrap();
        DefinitionFile { path: Path::new("crawl.yaml"), text, definition: &definition }.put_message()
    }

    #[test]
    fn each_message_reads_back_as_its_command() {
        let crawl = || "docs".parse::<CrawlId>().unwrap();
        let url = "https://a.example/?utm_source=b";
        let address = CrawlUrl::parse(url, &UrlRules::keep_all()).unwrap();
        let pattern = |text: &str| text.parse::<UrlPattern>().unwrap();
        let demand =
            Demand { pattern: Some(pattern("/a")), skip: vec![pattern("b$")], depth: Some(2), visits: Visits::All };
        let selection = Selection::from_condition(Some(Condition::Path(TextTest::Prefix("/archive/".to_owned()))));
        let prune = |retention| {
            let message = Message::Prune(PruneCommand::new(crawl(), retention, None));
            (message, Command::Prune { crawl: crawl(), retention, from: None })
        };
        let change = |change| (Message::change(crawl(), change), Command::Change { crawl: crawl(), change });
        for (message, expected) in [
            (Message::Url(url.to_owned()), Command::Url(CrawlUrl::parse(url, &UrlRules::keep_all()).unwrap())),
            (Message::Start { crawl: crawl() }, Command::Start { crawl: crawl(), trigger: None }),
            (
                Message::Demand(DemandMessage::new(Some(crawl()), vec![url.to_owned()], &demand)),
                Command::Demand { crawl: crawl(), urls: vec![address], demand },
            ),
            (Message::reparse(crawl(), Selection::All), Command::Reparse { crawl: crawl(), selection: Selection::All }),
            (Message::reparse(crawl(), selection.clone()), Command::Reparse { crawl: crawl(), selection }),
            change(StatusChange::Pause),
            change(StatusChange::Resume),
            change(StatusChange::Stop),
            (Message::Remove { crawl: crawl() }, Command::Remove(crawl())),
            prune(Retention::Newest(NonZeroU32::MIN)),
            prune(Retention::Within(Duration::from_hours(90 * 24))),
        ] {
            assert_eq!(parse_command(&message.body(), StackBrowsers::There).unwrap(), expected, "{}", message.body());
        }
    }

    #[test]
    fn a_definition_is_sent_as_it_is_written() {
        let example = include_str!("../../../docs/reference/crawl.example.yaml");
        // A stack refuses to write results elsewhere, and to send values that it does not have.
        let mut is_refused = false;
        let is_kept = |line: &&str| {
            if line.starts_with(|c: char| c.is_alphabetic()) {
                is_refused = ["sink:", "access:", "identity:"].iter().any(|key| line.starts_with(key));
            }
            !is_refused
        };
        let text = &example.lines().filter(is_kept).collect::<Vec<_>>().join("\n");
        let definition = dragline_definition::parse(text, "crawl.yaml").unwrap();
        let file = DefinitionFile { path: Path::new("crawl.yaml"), text, definition: &definition };
        let begun = parse_command(&file.begin_message().unwrap().body(), StackBrowsers::There).unwrap();
        assert_eq!(begun, Command::Define(Box::new(definition.clone())));
        let kept = parse_command(&file.put_message().unwrap().body(), StackBrowsers::There).unwrap();
        assert_eq!(kept, Command::PutCrawl(Box::new(definition)));
        let Message::PutCrawl { definition } = message("seeds: [https://a.example/]").unwrap() else {
            panic!("another message");
        };
        assert_eq!(definition, json!({ "seeds": ["https://a.example/"] }), "nothing is added to it");
    }

    #[test]
    fn values_that_json_would_change_are_refused() {
        for (name, is_sent, why) in [
            ("docs", true, "a word"),
            ("'1.10'", true, "a text in quotation marks"),
            ("2024", true, "a number with only one spelling"),
            ("1.10", false, "a number that JSON writes as 1.1"),
        ] {
            let sent = message(&format!("name: {name}\nseeds: [https://a.example/]"));
            assert_eq!(sent.is_ok(), is_sent, "{name}: {why}: {sent:?}");
        }
    }
}
