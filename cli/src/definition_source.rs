//! Where a definition comes from: a file, or URLs.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use dragline_definition::{DefinitionErrors, TEXT_BYTES_MAX};
use dragline_domain::definition::{Draft, Key, Problems, SecretReference};
use dragline_domain::shown::without_credentials;
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_local::LocalSecrets;

use crate::error::Failure;

/// The target of `crawl`.
#[derive(Debug, PartialEq)]
pub(crate) enum Source<'a> {
    /// No argument: the stored definition of the data directory.
    Stored,
    /// The file of a definition.
    File(&'a Path),
    /// Seed URLs.
    Urls(&'a [String]),
}

impl<'a> Source<'a> {
    /// Returns the definition that `-f` names, or else what the arguments are.
    ///
    /// # Errors
    /// A definition is among several arguments.
    pub(crate) fn from_args(definition: Option<&'a Path>, targets: &'a [String]) -> Result<Self, Failure> {
        definition.map_or_else(|| Self::choose(targets, Path::is_file), |path| Ok(Self::File(path)))
    }

    /// Classifies the arguments. An argument is a file if its name ends in `.yaml` or `.yml`, or if
    /// the file exists.
    ///
    /// # Errors
    /// A definition is among several arguments.
    pub(crate) fn choose(targets: &'a [String], is_file: impl Fn(&Path) -> bool) -> Result<Self, Failure> {
        match targets {
            [] => Ok(Self::Stored),
            [target] if is_definition(target) || is_file(Path::new(target)) => Ok(Self::File(Path::new(target))),
            targets => match targets.iter().find(|target| is_definition(target)) {
                Some(yaml) => {
                    let message = format!("`{yaml}` is a definition, which cannot be combined with other arguments");
                    Err(Failure::new(message).with_hint("add the URLs to its `seeds`, or leave it out"))
                }
                None => Ok(Self::Urls(targets)),
            },
        }
    }

    /// Returns the definition in the arguments; `None` for [`Source::Stored`].
    ///
    /// # Errors
    /// The file cannot be read, or it or a URL is not valid.
    pub(crate) fn draft(&self) -> Result<Option<Draft>, Failure> {
        match self {
            Self::Stored => Ok(None),
            Self::File(path) => read_definition(path).map(Some),
            Self::Urls(urls) => {
                let seeds = urls.iter().map(|url| parse_url(url)).collect::<Result<_, _>>()?;
                Ok(Some(Draft::for_seeds(seeds)))
            }
        }
    }
}

/// Returns whether an argument names the file of a definition, by its ending.
pub(crate) fn is_definition(target: &str) -> bool {
    let extension = Path::new(target).extension();
    let is_yaml = extension.is_some_and(|end| end.eq_ignore_ascii_case("yaml") || end.eq_ignore_ascii_case("yml"));
    is_yaml && !target.contains("://")
}

/// Parses a URL argument and normalises it by the default rules.
///
/// # Errors
/// It is not a URL that can be crawled.
pub(crate) fn parse_url(text: &str) -> Result<CrawlUrl, Failure> {
    parse_url_by(text, &UrlRules::default())
}

/// Parses a URL argument and normalises it by a crawl's rules.
///
/// # Errors
/// It is not a URL that can be crawled.
pub(crate) fn parse_url_by(text: &str, rules: &UrlRules) -> Result<CrawlUrl, Failure> {
    let failed = |error| Failure::new(format!("`{}` cannot be crawled: {error}", without_credentials(text)));
    CrawlUrl::parse(text, rules).map_err(failed)
}

/// Reads a definition from a file.
///
/// # Errors
/// The file cannot be read, or has mistakes.
pub(crate) fn read_definition(path: &Path) -> Result<Draft, Failure> {
    let definition = dragline_definition::parse(&read_text(path)?, &path.display().to_string())?;
    Ok(definition.into_draft())
}

/// Returns the secret that a reference names. Messages say `subject`, and never what it contains.
///
/// # Errors
/// The variable is not set, or the file cannot be read.
pub(crate) fn read_secret(reference: &SecretReference, subject: &str) -> Result<String, Failure> {
    let secret = LocalSecrets::default().find(reference);
    secret.map(|secret| secret.reveal().to_owned()).map_err(|error| Failure::new(format!("{subject}: {error}")))
}

/// Reads the text of a definition from a file.
///
/// # Errors
/// The file cannot be read, or is not UTF-8.
pub(crate) fn read_text(path: &Path) -> Result<String, Failure> {
    // One byte over the limit, so that a file that is too long is reported as such.
    let bytes = read_at_most(path, TEXT_BYTES_MAX + 1)?;
    String::from_utf8(bytes).map_err(|error| cannot_read(path)(io::Error::other(error.utf8_error())))
}

/// Lists keys for a message, as YAML writes them.
pub(crate) fn key_names(keys: &[Key]) -> String {
    keys.iter().map(|key| key.name()).collect::<Vec<_>>().join(", ")
}

/// Reads a file, up to a maximum number of bytes.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn read_at_most(path: &Path, bytes_max: usize) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(bytes_max).unwrap_or(u64::MAX);
    let file = File::open(path).map_err(cannot_read(path))?;
    file.take(limit).read_to_end(&mut bytes).map_err(cannot_read(path))?;
    Ok(bytes)
}

/// Returns a function that turns the error of a file into a failure.
pub(crate) fn cannot_read(path: &Path) -> impl Fn(io::Error) -> Failure {
    move |error| Failure::new(format!("{} cannot be read: {error}", path.display())).caused_by(&error)
}

impl From<DefinitionErrors> for Failure {
    fn from(errors: DefinitionErrors) -> Self {
        Self::from_error(&errors)
    }
}

impl From<Problems> for Failure {
    fn from(problems: Problems) -> Self {
        Self::from_error(&problems).with_hints(problems.iter().filter_map(|problem| problem.mistake.hint()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_urls_are_told_apart() {
        let file = |path| Some(Source::File(Path::new(path)));
        for (targets, expected, why) in [
            (vec![], Some(Source::Stored), "nothing is given"),
            (vec!["crawl.yaml"], file("crawl.yaml"), "even if it does not exist, which is reported later"),
            (vec!["sites/News.YML"], file("sites/News.YML"), "another spelling"),
            (vec!["there"], file("there"), "a file that exists"),
            (vec!["https://example.org/openapi.yaml"], None, "a URL, whatever it ends in"),
            (vec!["https://example.org/", "https://example.com/"], None, "two URLs"),
            (
                vec!["there", "https://example.com/"],
                None,
                "several arguments are URLs, even if one is also the name of a file",
            ),
        ] {
            let targets: Vec<String> = targets.into_iter().map(str::to_owned).collect();
            let found = Source::choose(&targets, |path| path == Path::new("there")).unwrap();
            assert_eq!(found, expected.unwrap_or(Source::Urls(&targets)), "{targets:?}: {why}");
        }
        let mixed = ["https://example.org/".to_owned(), "crawl.yaml".to_owned()];
        assert!(Source::choose(&mixed, |_| false).is_err());
    }

    #[test]
    fn a_url_without_a_scheme_gets_a_suggestion() {
        let message = parse_url("example.org").unwrap_err().message;
        assert_eq!(
            message,
            "`example.org` cannot be crawled: a URL starts with `https://` or `http://`: did you mean `https://example.org/`?"
        );
    }
}
