//! The [`Secrets`] of a stack: AWS Secrets Manager.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use aws_sdk_secretsmanager::error::ProvideErrorMetadata as _;
use aws_sdk_secretsmanager::operation::get_secret_value::GetSecretValueError;
use aws_smithy_runtime_api::client::result::SdkError;
use aws_smithy_runtime_api::http::Response;
use dragline_domain::definition::SecretReference;
use dragline_ports::clock::Clock;
use dragline_ports::error::PortErrorKind;
use dragline_ports::secrets::{Secret, SecretError, SecretFuture, Secrets};
use tokio::sync::OnceCell;

use crate::clients::{environment, http_client};
use crate::errors::StoreError;

/// How long a value is used before it is asked for again. A turn takes up to four minutes.
const AGE_MAX: Duration = Duration::from_secs(300);

/// The secrets whose names begin with a prefix. Others are not asked for; of an empty prefix, none.
#[derive(Debug)]
pub struct SecretsManager<C> {
    /// Built when it is first needed, as few crawls have secrets.
    client: OnceCell<aws_sdk_secretsmanager::Client>,
    prefix: String,
    clock: C,
    kept: Mutex<HashMap<String, Kept>>,
}

/// A value, and when it was read.
#[derive(Clone, Debug)]
struct Kept {
    secret: Secret,
    read_at: Duration,
}

/// Why a secret has no value.
#[derive(Debug)]
struct Unread {
    why: String,
    /// Whether it may have one all the same.
    kind: PortErrorKind,
}

impl<C: Clock> SecretsManager<C> {
    /// Returns those with this prefix, of the region and with the credentials of the environment.
    #[must_use]
    pub fn with_prefix(prefix: &str, clock: C) -> Self {
        Self { client: OnceCell::new(), prefix: prefix.to_owned(), clock, kept: Mutex::default() }
    }

    /// A value that cannot be asked for just now is used for longer.
    async fn find(&self, reference: &SecretReference) -> Result<Secret, String> {
        let SecretReference::Managed(name) = reference else {
            return Err("is on a machine, which a stack cannot read: use `secret:NAME`".to_owned());
        };
        if self.prefix.is_empty() {
            return Err("may not be read: the stack's parameter `AccessSecrets` permits no secrets".to_owned());
        }
        if !name.starts_with(&self.prefix) {
            return Err(format!(
                "does not begin with `{}`, as the stack's parameter `AccessSecrets` says",
                self.prefix
            ));
        }
        let kept = self.lock().get(name).cloned();
        let is_fresh = |kept: &&Kept| self.clock.monotonic().saturating_sub(kept.read_at) < AGE_MAX;
        if let Some(kept) = kept.as_ref().filter(is_fresh) {
            return Ok(kept.secret.clone());
        }
        match self.ask(name).await {
            Ok(secret) => {
                let read_at = self.clock.monotonic();
                self.lock().insert(name.clone(), Kept { secret: secret.clone(), read_at });
                Ok(secret)
            }
            Err(Unread { why, kind }) => {
                let stale = kept.filter(|_| kind == PortErrorKind::Unavailable);
                stale.map(|kept| kept.secret).ok_or(why)
            }
        }
    }

    async fn ask(&self, name: &str) -> Result<Secret, Unread> {
        let build = async || aws_sdk_secretsmanager::Client::new(&environment(http_client()).await);
        let answer =
            self.client.get_or_init(build).await.get_secret_value().secret_id(name).send().await.map_err(unread)?;
        let binary = || Unread { why: "is binary, and no text".to_owned(), kind: PortErrorKind::Other };
        answer.secret_string().map(Secret::new).ok_or_else(binary)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn unread(error: SdkError<GetSecretValueError, Response>) -> Unread {
    let why = match error.code() {
        Some("ResourceNotFoundException") => Some("is not in AWS Secrets Manager"),
        Some("AccessDeniedException") => {
            Some("may not be read by the stack: AWS denies it the secret, or the key by which it is encrypted")
        }
        _ => None,
    };
    let failed = StoreError::request("GetSecretValue", error);
    Unread { why: why.map_or_else(|| format!("cannot be read: {failed}"), str::to_owned), kind: failed.kind() }
}

impl<C: Clock + 'static> Secrets for SecretsManager<C> {
    fn read<'a>(&'a self, reference: &'a SecretReference) -> SecretFuture<'a> {
        Box::pin(async { self.find(reference).await.map_err(|why| SecretError { reference: reference.clone(), why }) })
    }
}
