//! The `dragline` command: reads the command line, runs the command, and exits with its code.

mod archive;
mod args;
mod background;
mod bare_host;
mod cdx;
mod crawl;
mod crawl_handle;
mod definition;
mod definition_source;
mod derived_files;
mod diff;
mod error;
mod exit;
mod explain;
mod export;
mod extract;
mod forget;
mod get;
mod history;
mod identity;
mod import;
mod init;
mod links;
mod live;
mod location;
mod logging;
mod manual;
mod markdown;
mod network;
mod notify;
mod open_directory;
mod output_file;
mod past;
mod prune;
mod rendering;
mod schema;
mod search;
mod serve;
mod sink;
mod site_report;
#[cfg(feature = "stack")]
mod stack;
mod status;
mod summary;
mod telemetry;
mod terminal;
mod url_list;
mod url_visits;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::FromArgMatches as _;
#[cfg(feature = "stack")]
use dragline_domain::frontier::StatusChange;
use serde::Serialize;

use args::{Cli, Command, ReparseArgs, ReparseScope, ReparseTarget};
use error::{Failure, while_doing};
use exit::Exit;
use terminal::{Colour, Console, write_json};

fn main() -> ExitCode {
    if std::env::args_os().len() == 1 {
        return manual::guide().unwrap_or(Exit::Error).into();
    }
    let cli = args::command().try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches));
    match cli {
        Ok(cli) => run(&cli).into(),
        Err(answer) => print(&answer).into(),
    }
}

/// Prints clap's answer: the requested help or version, or a usage error.
fn print(answer: &clap::Error) -> Exit {
    let text = answer.render();
    // If printing fails, the error cannot be reported anywhere.
    if answer.use_stderr() {
        let _ = write!(io::stderr(), "{}", Colour::for_stream(&io::stderr()).paint_styled(&text));
        if asks_for_json() {
            print_failure(&Failure::new(text.to_string()));
        }
        Exit::Error
    } else {
        let _ = write!(io::stdout(), "{}", Colour::for_stream(&io::stdout()).paint_styled(&text));
        Exit::Done
    }
}

fn run(cli: &Cli) -> Exit {
    let console = Console::to_stderr(cli.verbosity(), cli.form());
    logging::start(cli.logging(), &console);
    run_command(cli, &console).unwrap_or_else(|failure| {
        if failure.is_closed_output {
            // The reader has seen enough.
            return Exit::Done;
        }
        console.error(&failure.message, &failure.hints);
        if asks_for_json() {
            print_failure(&failure);
        }
        failure.exit
    })
}

/// Returns whether the output was to be one JSON object. This also works for an invalid command
/// line.
fn asks_for_json() -> bool {
    std::env::args_os().take_while(|argument| argument != "--").any(|argument| argument == "--json")
}

/// The output of `--json` for an error.
#[derive(Serialize)]
struct FailureObject<'a> {
    error: &'a str,
    hints: &'a [String],
    exit_code: u8,
}

fn print_failure(Failure { message, hints, exit, .. }: &Failure) {
    let object = FailureObject { error: message.trim_end(), hints, exit_code: exit.code() };
    // If printing fails, the error cannot be reported anywhere.
    let _ = write_json(io::stdout().lock(), &object);
}

fn run_command(cli: &Cli, console: &Console) -> Result<Exit, Failure> {
    match &cli.command {
        Command::Init(args) => block_on(init::init(args, console)),
        Command::Crawl(args) => block_on(crawl::crawl(args, console)),
        Command::Reparse(args) => block_on(reparse(args, console)),
        Command::Status(args) => block_on(status::status(args)),
        Command::Diff(args) => block_on(diff::diff(args, console)),
        Command::Export(args) => block_on(export::export(args, console)),
        Command::Schema(args) => block_on(schema::schema(args, console)),
        Command::Links(args) => block_on(links::links(args, console)),
        Command::Broken(args) => block_on(links::broken(args, console)),
        Command::Chains(args) => block_on(links::chains(args, console)),
        Command::Orphans(args) => block_on(links::orphans(args, console)),
        Command::Duplicates(args) => block_on(links::duplicates(args, console)),
        Command::Search(args) => block_on(search::search(args, console)),
        Command::Similar(args) => block_on(search::similar(args, console)),
        Command::Words(args) => block_on(search::words(args, console)),
        Command::Report(args) => block_on(site_report::write(args, console)),
        Command::Archive(args) => block_on(archive::archive(args, console)),
        Command::Cdx(args) => block_on(cdx::cdx(args, console)),
        Command::Import(args) => block_on(import::import(args, console)),
        Command::History(args) => block_on(history::history(args, console)),
        Command::Get(args) => block_on(get::get(args, console)),
        Command::Definition(args) => block_on(definition::definition(args)),
        Command::Explain(args) => block_on(explain::explain(args)),
        Command::Extract(args) => block_on(extract::extract(args, console)),
        #[cfg(feature = "stack")]
        Command::Prune(args) if args.deployed().is_some() => block_on(stack::prune(args, console)),
        Command::Prune(args) => block_on(prune::prune(args, console)),
        Command::Guide => manual::guide(),
        Command::Completions(args) => manual::completions(args.shell),
        Command::Manual(args) => manual::write_pages(&args.directory),
        Command::Forget(args) => block_on(forget::forget(args, console)),
        Command::Serve(args) => block_on(serve::serve(args, console)),
        Command::Schedule(args) => block_on(serve::schedule(args, console)),
        Command::Token(args) => serve::tokens(args, console),
        Command::Identity(args) => identity::identity(args, console),
        Command::Mcp(args) => block_on(serve::mcp(args, console)),
        #[cfg(feature = "stack")]
        Command::Start(args) => block_on(stack::start(args, console)),
        #[cfg(feature = "stack")]
        Command::Put(args) => block_on(stack::put(args, console)),
        #[cfg(feature = "stack")]
        Command::Pause(args) => block_on(stack::change(args, StatusChange::Pause, console)),
        #[cfg(feature = "stack")]
        Command::Resume(args) => block_on(stack::change(args, StatusChange::Resume, console)),
        #[cfg(feature = "stack")]
        Command::Stop(args) => block_on(stack::change(args, StatusChange::Stop, console)),
        #[cfg(feature = "stack")]
        Command::Remove(args) => block_on(stack::remove(args, console)),
    }
}

/// Rebuilds documents in a data directory, or tells a stack to.
async fn reparse(args: &ReparseArgs, console: &Console) -> Result<Exit, Failure> {
    match args.which()? {
        ReparseTarget::Directory(run) => match args.reach() {
            ReparseScope::Now => crawl::reparse(&run, args.selection(), console).await,
            ReparseScope::All => crawl::remake_all(&run, args.selection(), console).await,
        },
        #[cfg(feature = "stack")]
        ReparseTarget::Stack { crawl, stack } => stack::reparse(&crawl, stack, args.selection(), console).await,
        #[cfg(feature = "stack")]
        ReparseTarget::PastOfStack { run, stack } => stack::remake_all(&run, stack, args.selection(), console).await,
    }
}

/// Runs an async command on one thread per core.
fn block_on<T>(command: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(while_doing("starting the runtime"))?;
    let ended = runtime.block_on(command);
    // Does not wait for tasks that an immediate stop left behind.
    runtime.shutdown_background();
    ended
}
