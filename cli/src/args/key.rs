//! Help texts of the flags that set a key of a definition.

use dragline_domain::definition::{Key, KeyDefault};

/// Returns the help of the flag that sets a key: what it does, the key, and the default.
pub(super) fn help(key: Key) -> String {
    let what = key.flag().map_or("", |flag| flag.help);
    let default = match key.default() {
        KeyDefault::Value(default) | KeyDefault::Derived(default) => format!(" [default: {default}]"),
        KeyDefault::Nothing(_) | KeyDefault::Required => String::new(),
    };
    format!("{what} (`{key}`){default}")
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Cli;

    #[test]
    fn each_flag_that_a_key_describes_is_an_option_of_crawl_that_names_the_key() {
        let command = Cli::command();
        let crawl = command.find_subcommand("crawl").unwrap();
        let help_of = |arg: &clap::Arg| arg.get_help().map(ToString::to_string).unwrap_or_default();
        for &key in Key::ALL {
            let name = format!("(`{key}`)");
            let flags: Vec<&str> = crawl
                .get_arguments()
                .filter(|arg| help_of(arg).contains(&name))
                .filter_map(clap::Arg::get_long)
                .collect();
            assert_eq!(flags, key.flag().map(|flag| flag.name).into_iter().collect::<Vec<_>>(), "{key}");
            assert!(key.flag().is_none_or(|_| !help(key).starts_with(' ')), "{key}");
        }
    }
}
