//! `dragline init`: looks at a site, and writes a definition for crawling it.

mod platform;
mod site;
mod tell;
#[cfg(test)]
mod tests;
mod visit;
mod yaml;

use std::io::{self, Write};
use std::path::Path;

use dragline_domain::content::ContentLevel;
use dragline_domain::definition::Draft;
use dragline_domain::frontier::ReadAs;
use dragline_extract::typed::Types;
use dragline_extract::{FoundLink, MainRules, Settings, Source, extract_as};
use dragline_local::SystemClock;

use crate::args::{InitArgs, shell_word};
use crate::bare_host;
use crate::definition_source::parse_url;
use crate::error::{Failure, while_writing};
use crate::exit::Exit;
use crate::network::Network;
use crate::output_file::{self, cannot_write};
use crate::terminal::{Console, unless_closed};
use visit::Visitor;

/// The name of the file in what is suggested if there is none.
const FILE: &str = "crawl.yaml";

/// Writes a definition for the site in the arguments, and tells what was found.
///
/// # Errors
/// The site does not answer or forbids it, the URL cannot be crawled, or the file is there or
/// cannot be written.
pub(crate) async fn init(args: &InitArgs, console: &Console) -> Result<Exit, Failure> {
    let file = Some(args.output.as_path()).filter(|path| *path != Path::new("-"));
    // Before anybody is asked for anything.
    if let Some(path) = file.filter(|path| path.exists()) {
        return Err(is_there(path));
    }
    let given = parse_url(&bare_host::complete_url(&args.url, &args.network, console).await?)?;
    let draft = args.network.change_for(std::slice::from_ref(&given), Draft::for_seeds(Vec::new()));
    let fetcher = Network::from_args(&args.network)?.fetcher(&draft).await?;
    let site = Visitor::new(fetcher, SystemClock::new(), &draft, console).look_at(given).await?;
    console.say(&tell::summary(&site));
    let text = yaml::write(&site, &draft);
    // The rules for seeds apply to this one, too.
    dragline_definition::parse(&text, file.unwrap_or(Path::new(FILE)).to_string_lossy().as_ref())?;
    let flags = args.network.flags();
    match file {
        Some(path) => {
            save(path, &text)?;
            console.say(&format!("wrote {}", path.display()));
            console.hint(&format!("to crawl it: `dragline crawl {}{flags}`", shell_word(path)));
        }
        None => {
            unless_closed(io::stdout().write_all(text.as_bytes())).map_err(while_writing)?;
            console.hint(&format!("to crawl it, save it as {FILE}: `dragline crawl {FILE}{flags}`"));
        }
    }
    Ok(Exit::Done)
}

/// Writes a new file, all at once.
fn save(path: &Path, text: &str) -> Result<(), Failure> {
    let mut file = output_file::beside(path).map_err(cannot_write(path))?;
    file.write_all(text.as_bytes()).map_err(cannot_write(path))?;
    file.persist_noclobber(path).map_err(|error| match error.error.kind() {
        io::ErrorKind::AlreadyExists => is_there(path),
        _ => cannot_write(path)(error.error),
    })?;
    Ok(())
}

fn is_there(path: &Path) -> Failure {
    Failure::new(format!("{} exists already", path.display()))
        .with_hint("name another file with `-o`, or print the definition with `-o -`")
}

/// Returns the settings for reading a page: everything, whatever a crawl would store.
fn read(draft: &Draft) -> Settings<'_> {
    Settings {
        product_token: draft.user_agent.product_token(),
        url_rules: &draft.strip_query_parameters,
        decoded_bytes_max: draft.fetch.decoded_bytes_max,
        noindex: draft.noindex,
        content: ContentLevel::Full,
        types: Types::NONE,
        main: MainRules::NONE,
    }
}

/// Returns what a sitemap lists, or why it is not one.
fn read_sitemap(source: &Source<'_>, draft: &Draft, read_as: ReadAs) -> Result<Vec<FoundLink>, String> {
    let unread = match extract_as(source, &read(draft), read_as) {
        Ok(page) => return Err(page.remark.unwrap_or_else(|| format!("{} is a page", source.url))),
        Err(unread) => unread,
    };
    let listed: Vec<_> = unread.links.into_iter().filter(|link| link.kind.is_listed()).collect();
    if listed.is_empty() {
        return Err(format!("{}: {}", source.url, unread.detail.as_deref().unwrap_or("not a sitemap")));
    }
    Ok(listed)
}
