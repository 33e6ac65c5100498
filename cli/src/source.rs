//! Where a definition comes from: a file, or URLs.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use dragline_definition::TEXT_BYTES_MAX;
use dragline_domain::definition::{Draft, Key};
use dragline_domain::url::{CrawlUrl, UrlRules};

use crate::error::CliError;

/// What the arguments of `crawl` name.
#[derive(Debug, PartialEq)]
pub(crate) enum Source<'a> {
    /// Nothing: what the data directory holds is meant.
    Stored,
    /// A definition's file.
    File(&'a Path),
    /// Seeds.
    Urls(&'a [String]),
}

impl<'a> Source<'a> {
    /// Tells what the arguments name. A file is one whose name ends in `.yaml` or `.yml`, or that is there.
    ///
    /// # Errors
    /// [`CliError::DefinitionAmongUrls`].
    pub(crate) fn of(targets: &'a [String], is_file: impl Fn(&Path) -> bool) -> Result<Self, CliError> {
        let names_yaml = |target: &str| {
            let extension = Path::new(target).extension();
            let is_yaml =
                extension.is_some_and(|end| end.eq_ignore_ascii_case("yaml") || end.eq_ignore_ascii_case("yml"));
            is_yaml && !target.contains("://")
        };
        match targets {
            [] => Ok(Self::Stored),
            [target] if names_yaml(target) || is_file(Path::new(target)) => Ok(Self::File(Path::new(target))),
            targets => match targets.iter().find(|target| names_yaml(target)) {
                Some(yaml) => Err(CliError::DefinitionAmongUrls(yaml.clone())),
                None => Ok(Self::Urls(targets)),
            },
        }
    }

    /// The definition that they make; absent if they name none.
    ///
    /// # Errors
    /// The file cannot be read, or it or a URL is not sound.
    pub(crate) fn draft(&self) -> Result<Option<Draft>, CliError> {
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

/// A URL as an argument, normalised by the default rules.
///
/// # Errors
/// [`CliError::Url`].
pub(crate) fn parse_url(text: &str) -> Result<CrawlUrl, CliError> {
    CrawlUrl::parse(text, &UrlRules::default()).map_err(|source| CliError::Url { text: text.to_owned(), source })
}

/// The definition in a file.
///
/// # Errors
/// The file cannot be read, or has mistakes.
pub(crate) fn read_definition(path: &Path) -> Result<Draft, CliError> {
    let definition = dragline_definition::parse(&read_text(path)?, &path.display().to_string())?;
    Ok(definition.into_draft())
}

/// The text of a definition's file.
///
/// # Errors
/// [`CliError::File`].
pub(crate) fn read_text(path: &Path) -> Result<String, CliError> {
    let failed = |source| CliError::File { path: path.to_owned(), source };
    // One byte more than is read, so that a file that is too long is told for what it is.
    let bytes = read_at_most(path, TEXT_BYTES_MAX + 1)?;
    String::from_utf8(bytes).map_err(|error| failed(io::Error::other(error.utf8_error())))
}

/// The keys as they are written in YAML, for messages.
pub(crate) fn key_names(keys: &[Key]) -> String {
    keys.iter().map(|key| key.name()).collect::<Vec<_>>().join(", ")
}

/// The beginning of a file, or all of it if it is no longer.
///
/// # Errors
/// [`CliError::File`].
pub(crate) fn read_at_most(path: &Path, bytes_max: usize) -> Result<Vec<u8>, CliError> {
    let failed = |source| CliError::File { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    let limit = u64::try_from(bytes_max).unwrap_or(u64::MAX);
    File::open(path).map_err(failed)?.take(limit).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_told_apart() {
        let file = |path| Some(Source::File(Path::new(path)));
        for (targets, expected, why) in [
            (vec![], Some(Source::Stored), "nothing is given"),
            (vec!["crawl.yaml"], file("crawl.yaml"), "though it may not be there, which is told then"),
            (vec!["sites/News.YML"], file("sites/News.YML"), "another spelling"),
            (vec!["there"], file("there"), "a file that is there"),
            (vec!["https://example.org/openapi.yaml"], None, "a URL, whatever it ends in"),
            (vec!["https://example.org/", "https://example.com/"], None, "two URLs"),
            (vec!["there", "https://example.com/"], None, "a file's name that is one of several is told to be no URL"),
        ] {
            let targets: Vec<String> = targets.into_iter().map(str::to_owned).collect();
            let found = Source::of(&targets, |path| path == Path::new("there")).unwrap();
            assert_eq!(found, expected.unwrap_or(Source::Urls(&targets)), "{targets:?}: {why}");
        }
        let mixed = ["https://example.org/".to_owned(), "crawl.yaml".to_owned()];
        assert!(
            matches!(Source::of(&mixed, |_| false), Err(CliError::DefinitionAmongUrls(name)) if name == "crawl.yaml")
        );
    }

    #[test]
    fn a_url_without_scheme_is_met_with_a_suggestion() {
        let message = parse_url("example.org").unwrap_err().to_string();
        assert_eq!(
            message,
            "`example.org` cannot be crawled: a URL starts with `https://` or `http://`: did you mean `https://example.org/`?"
        );
    }
}
