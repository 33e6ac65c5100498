//! Where a definition comes from: a file, or URLs.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use dragline_definition::TEXT_BYTES_MAX;
use dragline_domain::definition::{Draft, Key};
use dragline_domain::url::{CrawlUrl, UrlRules};

use crate::error::CliError;

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
    /// Classifies the arguments. An argument is a file if its name ends in `.yaml` or `.yml`, or if
    /// the file exists.
    ///
    /// # Errors
    /// [`CliError::DefinitionAmongUrls`].
    pub(crate) fn choose(targets: &'a [String], is_file: impl Fn(&Path) -> bool) -> Result<Self, CliError> {
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

    /// Returns the definition in the arguments; `None` for [`Source::Stored`].
    ///
    /// # Errors
    /// The file cannot be read, or it or a URL is not valid.
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

/// Parses a URL argument and normalises it by the default rules.
///
/// # Errors
/// [`CliError::Url`].
pub(crate) fn parse_url(text: &str) -> Result<CrawlUrl, CliError> {
    CrawlUrl::parse(text, &UrlRules::default()).map_err(|source| CliError::Url { text: text.to_owned(), source })
}

/// Reads a definition from a file.
///
/// # Errors
/// The file cannot be read, or has mistakes.
pub(crate) fn read_definition(path: &Path) -> Result<Draft, CliError> {
    let definition = dragline_definition::parse(&read_text(path)?, &path.display().to_string())?;
    Ok(definition.into_draft())
}

/// Reads the text of a definition from a file.
///
/// # Errors
/// [`CliError::File`].
pub(crate) fn read_text(path: &Path) -> Result<String, CliError> {
    let failed = |source| CliError::File { path: path.to_owned(), source };
    // One byte over the limit, so that a file that is too long is reported as such.
    let bytes = read_at_most(path, TEXT_BYTES_MAX + 1)?;
    String::from_utf8(bytes).map_err(|error| failed(io::Error::other(error.utf8_error())))
}

/// Lists keys for a message, as YAML writes them.
pub(crate) fn key_names(keys: &[Key]) -> String {
    keys.iter().map(|key| key.name()).collect::<Vec<_>>().join(", ")
}

/// Reads a file, up to a maximum number of bytes.
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
        assert!(
            matches!(Source::choose(&mixed, |_| false), Err(CliError::DefinitionAmongUrls(name)) if name == "crawl.yaml")
        );
    }

    #[test]
    fn a_url_without_a_scheme_gets_a_suggestion() {
        let message = parse_url("example.org").unwrap_err().to_string();
        assert_eq!(
            message,
            "`example.org` cannot be crawled: a URL starts with `https://` or `http://`: did you mean `https://example.org/`?"
        );
    }
}
