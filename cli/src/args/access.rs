//! Flags for sites that ask who calls, and for proxies.

use std::collections::HashMap;
use std::ffi::OsString;

use clap::Args;
use dragline_domain::definition::{
    AccessRule, Authorization, Draft, FieldName, HostPattern, LanguagePriorities, PlainHttp, SecretField,
    SecretReference,
};
use dragline_domain::url::CrawlUrl;
use dragline_http::Proxies;
use dragline_local::LocalSecrets;
use dragline_ports::secrets::Secret;

use crate::error::Failure;

/// What is sent to the hosts of the given URLs, and by which proxy requests leave.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct AccessArgs {
    /// Send this header field to the hosts of the URLs that are named, and to no other. Its value
    /// may be `env:NAME` or `file:PATH`; one that is written is stored nowhere, and asked for again
    /// when the crawl is resumed
    #[arg(id = "header", long, value_name = "NAME: VALUE", value_parser = field)]
    headers: Vec<FieldFlag>,
    /// Send these cookies, in the same way: `a=1; b=2`, or a file of cookies by `file:PATH`
    #[arg(long, value_name = "COOKIES", value_parser = value)]
    cookie: Option<ValueFlag>,
    /// Log in by HTTP with this name and password, in the same way
    #[arg(long, value_name = "NAME:PASSWORD", value_parser = value)]
    user: Option<ValueFlag>,
    /// Ask for pages in these languages, such as `de, en;q=0.5`
    #[arg(long, value_name = "LANGUAGES")]
    accept_language: Option<LanguagePriorities>,
    /// Send the values of these flags also over plain HTTP, where others can read them
    #[arg(long)]
    allow_plain: bool,
    /// Make all connections through this proxy (http, https, socks5, socks5h), instead of those of
    /// `HTTP_PROXY`, `HTTPS_PROXY` and `ALL_PROXY`
    #[arg(long, value_name = "URL", value_parser = value)]
    proxy: Option<ValueFlag>,
}

/// A value on the command line.
#[derive(Clone, Debug)]
enum ValueFlag {
    Named(SecretReference),
    Written(Secret),
}

/// A header field on the command line.
#[derive(Clone, Debug)]
struct FieldFlag {
    name: FieldName,
    value: ValueFlag,
}

#[expect(clippy::unnecessary_wraps, reason = "it is a parser of arguments")]
fn value(text: &str) -> Result<ValueFlag, String> {
    Ok(match text.parse() {
        Ok(SecretReference::Flag(_)) | Err(_) => ValueFlag::Written(Secret::new(text)),
        Ok(reference) => ValueFlag::Named(reference),
    })
}

fn field(text: &str) -> Result<FieldFlag, String> {
    let (name, text) = text.split_once(':').ok_or("it has no colon: write `Name: value`")?;
    let name = name.trim().parse::<FieldName>().map_err(|error| error.to_string())?;
    Ok(FieldFlag { name, value: value(text.trim())? })
}

impl ValueFlag {
    /// Returns where the value is: on the command line itself, it is known by its flag.
    fn reference(&self, flag: &str) -> SecretReference {
        match self {
            Self::Named(reference) => reference.clone(),
            Self::Written(_) => SecretReference::Flag(flag.to_owned()),
        }
    }
}

impl AccessArgs {
    /// Returns the draft with a rule for the hosts of its seeds.
    pub(crate) fn change(&self, draft: Draft) -> Draft {
        let hosts = draft.seeds.clone();
        self.change_for(&hosts, draft)
    }

    /// Returns the draft with a rule for the hosts of these URLs. A rule of a former command with
    /// the same hosts is replaced.
    pub(crate) fn change_for(&self, urls: &[CrawlUrl], mut draft: Draft) -> Draft {
        let mut hosts: Vec<HostPattern> = Vec::new();
        for host in urls.iter().map(HostPattern::for_url) {
            if !hosts.contains(&host) {
                hosts.push(host);
            }
        }
        let flag = |field: &FieldFlag| format!("--header {}", field.name);
        let rule = AccessRule {
            headers: self
                .headers
                .iter()
                .map(|field| SecretField { name: field.name.clone(), value: field.value.reference(&flag(field)) })
                .collect(),
            cookies: self.cookie.as_ref().map(|value| value.reference("--cookie")),
            authorization: self.user.as_ref().map(|value| Authorization::Basic(value.reference("--user"))),
            accept_language: self.accept_language.clone(),
            plain: if self.allow_plain { PlainHttp::Allowed } else { PlainHttp::Refused },
            ..AccessRule::for_hosts(hosts)
        };
        if !rule.hosts.is_empty() && !rule.is_idle() {
            draft.access.retain(|known| known.hosts != rule.hosts || !is_of_flags(known));
            draft.access.push(rule);
        }
        draft
    }

    /// Returns the values of the command line, and of this machine.
    pub(crate) fn secrets(&self) -> LocalSecrets {
        let written = |value: &ValueFlag| match value {
            ValueFlag::Written(secret) => Some(secret.clone()),
            ValueFlag::Named(_) => None,
        };
        let headers = self.headers.iter().map(|field| (format!("--header {}", field.name), &field.value));
        let others = [("--cookie", &self.cookie), ("--user", &self.user)];
        let others = others.into_iter().filter_map(|(flag, value)| Some((flag.to_owned(), value.as_ref()?)));
        let flags = headers.chain(others).filter_map(|(flag, value)| Some((flag, written(value)?)));
        LocalSecrets::with_flags(flags.collect::<HashMap<_, _>>())
    }

    /// Whether a value is written on the command line, which only this process knows.
    pub(crate) fn is_any_written(&self) -> bool {
        let headers = self.headers.iter().map(|field| &field.value);
        headers.chain(&self.cookie).chain(&self.user).any(|value| matches!(value, ValueFlag::Written(_)))
    }

    /// Returns the proxies: that of the flag, or those of the environment.
    ///
    /// # Errors
    /// The value of the flag cannot be read, or is no proxy.
    pub(crate) fn proxies(&self, secrets: &LocalSecrets) -> Result<Proxies, Failure> {
        match &self.proxy {
            None => Ok(Proxies::from_environment()),
            Some(ValueFlag::Written(url)) => Ok(Proxies::all(url.reveal())?),
            Some(ValueFlag::Named(reference)) => {
                let url = secrets.find(reference).map_err(|error| Failure::from_error(&error))?;
                Ok(Proxies::all(url.reveal())?)
            }
        }
    }

    /// Returns the arguments that give another command the same proxy.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = OsString> {
        let text = |value: &ValueFlag| match value {
            ValueFlag::Named(reference) => reference.to_string(),
            ValueFlag::Written(url) => url.reveal().to_owned(),
        };
        self.proxy.iter().flat_map(move |value| ["--proxy".into(), text(value).into()])
    }
}

/// Whether a rule came from flags with written values.
fn is_of_flags(rule: &AccessRule) -> bool {
    rule.secrets().any(|secret| matches!(secret, SecretReference::Flag(_)))
}
