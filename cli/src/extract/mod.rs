//! `dragline extract`: shows the document that a crawl would extract from one page.

mod page;
mod rendered;
mod shown;

use std::fmt::Display;
use std::io::{self, Write};

use dragline_domain::content::ContentLevel;
use dragline_domain::definition::{Draft, Noindex};
use dragline_domain::rendering::PageGist;
use dragline_domain::scripted;
use dragline_extract::typed::Types;
use dragline_extract::{Look, MainRules, Settings, Source, look};
use dragline_pipeline::crawl::{page_to_render, render_request};

use crate::args::{Answer, ExtractArgs};
use crate::definition_source::read_definition;
use crate::error::{Failure, while_writing};
use crate::exit::Exit;
use crate::terminal::{Colour, Console, Width, unless_closed, write_json};
use page::AskedPage;
use shown::ExtractedPage;

/// Prints the document of a page on standard output. The exit code tells whether its items fit the
/// definition.
///
/// # Errors
/// The definition or the URL is not valid, or the page cannot be read.
pub(crate) async fn extract(args: &ExtractArgs, console: &Console) -> Result<Exit, Failure> {
    let draft = match &args.definition {
        Some(path) => read_definition(path)?,
        None => Draft::for_seeds(Vec::new()),
    };
    let mut draft = args.network.change(draft);
    draft.render.when = args.render.unwrap_or(draft.render.when);
    let page = page::read(args, &draft, console).await?;
    let types = Types::new(&draft.items).map_err(|error| cannot_use(&error))?;
    let main = MainRules::new(&draft.main).map_err(|error| cannot_use(&error))?;
    // Everything, whatever a crawl would store.
    let settings = Settings {
        product_token: draft.user_agent.product_token(),
        url_rules: &draft.strip_query_parameters,
        decoded_bytes_max: draft.fetch.decoded_bytes_max,
        noindex: Noindex::Obey,
        content: ContentLevel::Full,
        types: &types,
        main: &main,
    };
    let see = |headers, body| {
        look(&Source { url: &page.url, headers, body }, &settings).map_err(|unread| {
            let detail = unread.detail.map_or_else(String::new, |detail| format!(": {detail}"));
            Failure::new(format!("it is not a page{detail}"))
        })
    };
    let mut seen = see(&page.headers, &page.body)?;
    let mut content = seen.content();
    if let Some(AskedPage { client, at, response }) = page.asked {
        if let Some(served) = page_to_render(&draft, &page.url, &response) {
            let request = render_request(&draft, page.url.clone(), served, at);
            let rendered = Box::pin(rendered::render(request, client, &draft, gist(&seen))).await?;
            seen = see(&rendered.headers, &rendered.body)?;
            content = seen.content();
            content.rendering = Some(Box::new(rendered.rendering));
        } else if !draft.render.is_on()
            && seen.extracted.remark.as_deref().and_then(scripted::element_from_detail).is_some()
        {
            console.warn("next to nothing is in the page until a browser has run its scripts");
            console.hint("`--render auto` shows what they make of it");
        }
    }
    let exit = if content.misfits.is_empty() { Exit::Done } else { Exit::NotAllWell };
    let shown = ExtractedPage { url: &page.url, look: &seen, content: &content };
    let mut out = io::stdout().lock();
    let form = (Width::for_stream(&out), Colour::for_stream(&out));
    let written = match args.answer() {
        Answer::Json => write_json(&mut out, &shown),
        Answer::Text => out.write_all(shown.text(form).as_bytes()),
    };
    unless_closed(written).map_err(while_writing)?;
    Ok(exit)
}

fn gist(seen: &Look) -> PageGist {
    PageGist::new(&seen.extracted.page, seen.extracted.links.iter().map(|link| link.kind))
}

fn cannot_use(error: &impl Display) -> Failure {
    Failure::new(format!("the types of the definition cannot be used: {error}"))
}
