//! A deployed stack, found by its name.
//!
//! Tables are named after the stack. The bucket and the command queue have names from AWS; the
//! crawls table names them in tags, which the template writes. So a user who may read the crawls
//! needs no other service to find the rest.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use aws_config::SdkConfig;
use aws_sdk_dynamodb::config::ProvideCredentials as _;
use aws_sdk_dynamodb::operation::describe_table::DescribeTableError;
use dragline_domain::ids::CrawlId;
use dragline_ports::clock::Rng;
use dragline_ports::error::{PortError, PortResult};

use crate::clients::environment;
use crate::errors::StoreError;
use crate::tables::{Table, TableNames};
use crate::{
    AwsClients, DynamoFrontier, DynamoReader, DynamoRemaking, DynamoRetained, S3Archive, S3Documents, http_client,
};

/// The tag with the URL of the command queue.
const COMMANDS: &str = "dragline:commands";

/// The tag with the name of the bucket.
const ARCHIVE: &str = "dragline:archive";

/// A stack, with clients for it.
#[derive(Clone, Debug)]
pub struct Stack {
    clients: AwsClients,
    tables: TableNames,
    bucket: String,
    commands_url: String,
}

/// Why a stack was not found.
#[derive(Debug, thiserror::Error)]
pub enum StackError {
    /// No region is configured.
    #[error("no AWS region is configured")]
    NoRegion,
    /// No credentials are configured.
    #[error("there are no AWS credentials: {0}")]
    NoCredentials(String),
    /// There is no crawls table of that name.
    #[error("there is no stack `{name}` in {region}")]
    NoStack {
        /// Its name.
        name: String,
        /// The region searched.
        region: String,
    },
    /// Its crawls table lacks a tag.
    #[error("the stack `{name}` does not say where its {what} is: the table of crawls has no tag `{tag}`")]
    Untagged {
        /// Its name.
        name: String,
        /// The missing resource.
        what: &'static str,
        /// The tag.
        tag: &'static str,
    },
    /// AWS did not answer, or refused.
    #[error("{0}")]
    Port(#[from] PortError),
}

impl StackError {
    /// Returns what to do about it; `None` where only AWS can tell.
    #[must_use]
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NoRegion => Some("set AWS_REGION, or a `region` in ~/.aws/config"),
            Self::NoCredentials(_) => Some(
                "set AWS_PROFILE or AWS_ACCESS_KEY_ID; after `aws sso login`: `eval \"$(aws configure export-credentials --format env)\"`",
            ),
            Self::NoStack { .. } => Some("name it with `--stack NAME`, and its region with AWS_REGION"),
            Self::Untagged { .. } => Some("deploy the stack again, as docs/reference/deploying.md says"),
            Self::Port(_) => None,
        }
    }
}

impl Stack {
    /// Finds a stack, with the region, credentials and endpoint from the environment.
    ///
    /// # Errors
    /// Returns a [`StackError`].
    pub async fn find(name: &str) -> Result<Self, StackError> {
        let common = environment(http_client()).await;
        let region = common.region().ok_or(StackError::NoRegion)?.to_string();
        check_credentials(&common).await?;
        let clients = AwsClients::from_config(&common);
        let tables = TableNames::with_prefix(name);
        let tags = tags(&clients, tables.get(Table::Crawls)).await.map_err(|e| e.at("find stack", name))?;
        let Some(mut tags) = tags else { return Err(StackError::NoStack { name: name.to_owned(), region }) };
        let mut tag =
            |tag, what| tags.remove(tag).ok_or_else(|| StackError::Untagged { name: name.to_owned(), what, tag });
        let (bucket, commands_url) = (tag(ARCHIVE, "bucket")?, tag(COMMANDS, "queue of commands")?);
        Ok(Self { clients, tables, bucket, commands_url })
    }

    /// Returns its frontier, for reading and for administration.
    #[must_use]
    pub fn frontier(&self, rng: Arc<dyn Rng>) -> DynamoFrontier {
        DynamoFrontier::new(&self.clients, self.tables.clone(), &self.bucket, Duration::ZERO, rng)
    }

    /// Returns its documents.
    #[must_use]
    pub fn documents(&self, rng: Arc<dyn Rng>) -> S3Documents {
        S3Documents::new(&self.clients, &self.bucket, rng)
    }

    /// Returns the retained data of its crawls.
    #[must_use]
    pub fn retained(&self, rng: Arc<dyn Rng>) -> DynamoRetained {
        DynamoRetained::new(self.frontier(Arc::clone(&rng)), self.documents(rng))
    }

    /// Returns the adapter that remakes documents of its crawls.
    #[must_use]
    pub fn remaking(&self, rng: Arc<dyn Rng>) -> DynamoRemaking {
        DynamoRemaking::new(self.frontier(Arc::clone(&rng)), self.documents(rng))
    }

    /// Returns its WARC objects.
    #[must_use]
    pub fn archive(&self, rng: Arc<dyn Rng>) -> S3Archive {
        S3Archive::new(&self.clients, &self.bucket, rng)
    }

    /// Returns a reader of a crawl, whether or not it exists.
    #[must_use]
    pub fn reader(&self, crawl: &CrawlId, rng: Arc<dyn Rng>) -> DynamoReader {
        DynamoReader::new(self.frontier(Arc::clone(&rng)), self.documents(rng), crawl.clone())
    }

    /// Sends a command, which is JSON as described in `docs/reference/commands.md`, and returns the
    /// message's id.
    ///
    /// # Errors
    /// Fails if AWS did not answer, or refused.
    pub async fn send_command(&self, body: &str) -> PortResult<String> {
        let request = self.clients.sqs.send_message().queue_url(&self.commands_url).message_body(body);
        let sent = request.send().await.map_err(|e| StoreError::request("SendMessage", e));
        let id = sent.and_then(|sent| sent.message_id.ok_or_else(|| StoreError::Damaged("it has no id".to_owned())));
        id.map_err(|e| e.at("send command", &self.commands_url))
    }
}

/// Checks for credentials before they are needed, as a request without them fails with a less
/// useful error.
async fn check_credentials(common: &SdkConfig) -> Result<(), StackError> {
    let Some(provider) = common.credentials_provider() else {
        return Err(StackError::NoCredentials("nothing provides them".to_owned()));
    };
    let found = provider.provide_credentials().await;
    found.map(|_| ()).map_err(|error| StackError::NoCredentials(error.to_string()))
}

/// Returns a table's tags; `None` if there is no such table.
async fn tags(clients: &AwsClients, table: &str) -> Result<Option<HashMap<String, String>>, StoreError> {
    let described = match clients.dynamodb.describe_table().table_name(table).send().await {
        Ok(described) => described,
        Err(error) if error.as_service_error().is_some_and(DescribeTableError::is_resource_not_found_exception) => {
            return Ok(None);
        }
        Err(error) => return Err(StoreError::request("DescribeTable", error)),
    };
    let arn = described.table.and_then(|table| table.table_arn);
    let (mut tags, mut next) = (HashMap::new(), None);
    loop {
        let request = clients.dynamodb.list_tags_of_resource().set_resource_arn(arn.clone()).set_next_token(next);
        let page = request.send().await.map_err(|e| StoreError::request("ListTagsOfResource", e))?;
        tags.extend(page.tags.unwrap_or_default().into_iter().map(|tag| (tag.key, tag.value)));
        next = page.next_token;
        if next.is_none() {
            return Ok(Some(tags));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEMPLATE: &str = include_str!("../../../../infra/template.yaml");

    #[test]
    fn the_template_tags_the_table_of_crawls() {
        let (_, table) = TEMPLATE.split_once("  CrawlsTable:\n").unwrap();
        let (table, _) = table.split_once("  FrontierTable:\n").unwrap();
        for (tag, resource) in [(COMMANDS, "Commands"), (ARCHIVE, "Archive")] {
            let wanted = format!("        - {{ Key: \"{tag}\", Value: !Ref {resource} }}\n");
            assert!(table.contains(&wanted), "infra/template.yaml lacks:\n{wanted}");
        }
    }
}
