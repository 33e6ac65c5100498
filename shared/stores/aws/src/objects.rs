//! Objects in a bucket: the common part of the archive and the documents.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_s3::Client;
use aws_sdk_s3::error::SdkError;
use aws_sdk_s3::operation::get_object::{GetObjectError, GetObjectOutput};
use aws_sdk_s3::operation::head_object::HeadObjectError;
use aws_sdk_s3::operation::put_object::builders::PutObjectFluentBuilder;
use aws_sdk_s3::primitives::ByteStream;
use aws_smithy_types::error::metadata::ProvideErrorMetadata;
use aws_smithy_types::timeout::TimeoutConfig;
use bytes::Bytes;
use dragline_domain::frontier::ObjectKey;
use dragline_formats::blob::{Blob, Spool};
use dragline_ports::archive::PutResult;
use dragline_ports::clock::Rng;
use jiff::Timestamp;
use tokio::io::AsyncWriteExt as _;

use crate::backoff::{Backoff, Rounds};
use crate::blobs::{put_body, receive};
use crate::errors::StoreError;
use crate::kinds::Kind;

/// A bucket.
#[derive(Clone)]
pub(crate) struct Bucket {
    client: Client,
    name: String,
    rng: Arc<dyn Rng>,
}

impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bucket").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The number of keys listed at once (a limit of S3).
pub(crate) const KEYS_MAX: usize = 1_000;

/// How long a put of a file may take, as it may have gigabytes: a function has 15 minutes for
/// everything (a limit of Lambda).
const FILE_TIMEOUT: Duration = Duration::from_secs(600);

/// The metadata key of a format's version.
const FORMAT: &str = "dragline-format";

/// An object's content, and the version of its format if it has one.
pub(crate) struct Object {
    pub(crate) bytes: Bytes,
    pub(crate) format: Option<String>,
    /// The entity tag, which changes with the content.
    pub(crate) tag: Option<String>,
}

/// The result of replacing an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PutOver {
    Stored,
    /// The object has changed or was deleted meanwhile.
    Changed,
}

impl Bucket {
    pub(crate) fn new(client: Client, name: &str, rng: Arc<dyn Rng>) -> Self {
        Self { client, name: name.to_owned(), rng }
    }

    /// Begins a put of an object, with its media type and format.
    fn put_object(&self, key: &ObjectKey, kind: Kind) -> PutObjectFluentBuilder {
        let request = self.client.put_object().bucket(&self.name).key(key.as_str());
        request.content_type(kind.media_type).metadata(FORMAT, kind.format)
    }

    /// Puts an object if there is none.
    pub(crate) async fn put_new(
        &self,
        key: &ObjectKey,
        kind: Kind,
        object: impl Into<Blob>,
    ) -> Result<PutResult, StoreError> {
        let object = object.into();
        kind.check(object.len_bytes())?;
        let mut backoff = Backoff::new(&self.rng);
        loop {
            let request = self.put_object(key, kind).if_none_match("*").body(put_body(&object));
            let Err(error) = request.customize().config_override(patience_for(&object)).send().await else {
                return Ok(PutResult::Stored);
            };
            match error.as_service_error().and_then(ProvideErrorMetadata::code) {
                Some("PreconditionFailed") => return Ok(PutResult::Exists),
                // Another put of this key is under way. It may fail, so ours is still needed.
                Some("ConditionalRequestConflict") => {
                    let error = StoreError::in_the_way("PutObject", error);
                    backoff.wait().await.map_err(|_| error)?;
                }
                _ => return Err(StoreError::request("PutObject", error)),
            }
        }
    }

    /// Replaces an object that was read, unless it has changed or was deleted meanwhile.
    pub(crate) async fn put_over(
        &self,
        key: &ObjectKey,
        kind: Kind,
        bytes: Bytes,
        read: &Object,
    ) -> Result<PutOver, StoreError> {
        kind.check(bytes.len() as u64)?;
        let no_tag = || StoreError::Damaged("an object has no tag".to_owned());
        let tag = read.tag.as_ref().ok_or_else(no_tag)?;
        let mut backoff = Backoff::new(&self.rng);
        loop {
            let request = self.put_object(key, kind).if_match(tag);
            let Err(error) = request.body(ByteStream::from(bytes.clone())).send().await else {
                return Ok(PutOver::Stored);
            };
            match error.as_service_error().and_then(ProvideErrorMetadata::code) {
                Some("PreconditionFailed" | "NoSuchKey") => return Ok(PutOver::Changed),
                // Another put of this key is under way, which may fail.
                Some("ConditionalRequestConflict") => {
                    let error = StoreError::in_the_way("PutObject", error);
                    backoff.wait().await.map_err(|_| error)?;
                }
                _ => return Err(StoreError::request("PutObject", error)),
            }
        }
    }

    /// Returns the rounds of an operation that decides again if another writer was faster.
    pub(crate) fn rounds(&self) -> Rounds {
        Rounds::new(&self.rng)
    }

    /// Replaces an object, if it exists.
    pub(crate) async fn replace(&self, key: &ObjectKey, kind: Kind, object: impl Into<Blob>) -> Result<(), StoreError> {
        if self.holds(key).await? { self.put(key, kind, object).await } else { Ok(()) }
    }

    /// Puts an object, whether or not it exists.
    pub(crate) async fn put(&self, key: &ObjectKey, kind: Kind, object: impl Into<Blob>) -> Result<(), StoreError> {
        let object = object.into();
        kind.check(object.len_bytes())?;
        let request = self.put_object(key, kind).body(put_body(&object));
        let put = request.customize().config_override(patience_for(&object)).send().await;
        put.map(|_| ()).map_err(|e| StoreError::request("PutObject", e))
    }

    /// Puts the contents of a file, whether or not the object exists.
    pub(crate) async fn put_file(&self, key: &ObjectKey, kind: Kind, from: &Path) -> Result<(), StoreError> {
        let body = ByteStream::from_path(from).await;
        let body = body.map_err(|error| StoreError::file(from, std::io::Error::other(error)))?;
        let put = self.put_object(key, kind).body(body).customize().config_override(patience()).send().await;
        put.map(|_| ()).map_err(|e| StoreError::request("PutObject", e))
    }

    /// Writes an object to a file, replacing its contents.
    pub(crate) async fn get_file(&self, key: &ObjectKey, to: &Path) -> Result<(), StoreError> {
        let request = self.client.get_object().bucket(&self.name).key(key.as_str());
        let Some(mut output) = object_if_any(request.send().await)? else {
            return Err(StoreError::Damaged("there is no such object".to_owned()));
        };
        let failed = |error| StoreError::file(to, error);
        let mut file = tokio::fs::File::create(to).await.map_err(failed)?;
        while let Some(bytes) = output.body.next().await {
            let bytes = bytes.map_err(|error| StoreError::broken_off("GetObject", error))?;
            file.write_all(&bytes).await.map_err(failed)?;
        }
        file.flush().await.map_err(failed)
    }

    /// Returns an object within the size limit of its kind.
    pub(crate) async fn get(&self, key: &ObjectKey, kind: Kind) -> Result<Option<Object>, StoreError> {
        let request = self.client.get_object().bucket(&self.name).key(key.as_str());
        let Some(output) = object_if_any(request.send().await)? else { return Ok(None) };
        kind.check(content_bytes(&output))?;
        let format = output.metadata().and_then(|metadata| metadata.get(FORMAT)).cloned();
        let tag = output.e_tag().map(str::to_owned);
        Ok(Some(Object { bytes: content(output).await?, format, tag }))
    }

    /// Returns an object within the size limit of its kind, spooled to disk unless it is short.
    pub(crate) async fn get_blob(
        &self,
        key: &ObjectKey,
        kind: Kind,
        spool: &Spool,
    ) -> Result<Option<Blob>, StoreError> {
        let request = self.client.get_object().bucket(&self.name).key(key.as_str());
        let Some(output) = object_if_any(request.send().await)? else { return Ok(None) };
        kind.check(content_bytes(&output))?;
        receive(output, spool).await.map(Some)
    }

    /// Returns the bytes from `first` to `last`, both inclusive, as far as they exist.
    pub(crate) async fn get_range(&self, key: &ObjectKey, first: u64, last: u64) -> Result<Option<Bytes>, StoreError> {
        match self.range(key, first, last).await? {
            Some(Some(output)) => content(output).await.map(Some),
            Some(None) => Ok(Some(Bytes::new())),
            None => Ok(None),
        }
    }

    /// Like [`Self::get_range`], spooled to disk unless it is short.
    pub(crate) async fn get_range_blob(
        &self,
        key: &ObjectKey,
        (first, last): (u64, u64),
        spool: &Spool,
    ) -> Result<Option<Blob>, StoreError> {
        match self.range(key, first, last).await? {
            Some(Some(output)) => receive(output, spool).await.map(Some),
            Some(None) => Ok(Some(Blob::default())),
            None => Ok(None),
        }
    }

    /// Requests part of an object; the inner `None` means after its end.
    async fn range(
        &self,
        key: &ObjectKey,
        first: u64,
        last: u64,
    ) -> Result<Option<Option<GetObjectOutput>>, StoreError> {
        let request = self.client.get_object().bucket(&self.name).key(key.as_str());
        let result = request.range(format!("bytes={first}-{last}")).send().await;
        if let Err(error) = &result
            && error.as_service_error().and_then(ProvideErrorMetadata::code) == Some("InvalidRange")
        {
            return Ok(Some(None));
        }
        Ok(object_if_any(result)?.map(Some))
    }

    /// Whether an object exists.
    pub(crate) async fn holds(&self, key: &ObjectKey) -> Result<bool, StoreError> {
        match self.client.head_object().bucket(&self.name).key(key.as_str()).send().await {
            Ok(_) => Ok(true),
            Err(error) if error.as_service_error().is_some_and(HeadObjectError::is_not_found) => Ok(false),
            Err(error) => Err(StoreError::request("HeadObject", error)),
        }
    }

    /// Lists keys in byte order.
    pub(crate) async fn list(
        &self,
        prefix: &str,
        after: Option<&ObjectKey>,
        limit: usize,
    ) -> Result<Vec<ObjectKey>, StoreError> {
        let mut keys: Vec<ObjectKey> = Vec::new();
        let mut after = after.map(|key| key.as_str().to_owned());
        while keys.len() < limit {
            // S3 returns at most 1,000 at once.
            let wanted = i32::try_from(limit - keys.len()).unwrap_or(i32::MAX);
            let request = self.client.list_objects_v2().bucket(&self.name).prefix(prefix).max_keys(wanted);
            let output = request.set_start_after(after.clone()).send().await;
            let output = output.map_err(|e| StoreError::request("ListObjectsV2", e))?;
            let Some(last) = output.contents().last().and_then(|object| object.key()) else { break };
            after = Some(last.to_owned());
            let listed = output.contents().iter().filter_map(|object| object.key());
            // Other keys were put there by somebody else.
            keys.extend(listed.filter_map(|key| ObjectKey::try_from(key.to_owned()).ok()));
            if output.is_truncated() != Some(true) {
                break;
            }
        }
        keys.truncate(limit);
        Ok(keys)
    }

    /// Lists all keys with a prefix, and when they were put.
    pub(crate) async fn list_dated(&self, prefix: &str) -> Result<Vec<(ObjectKey, Timestamp)>, StoreError> {
        let mut listed = Vec::new();
        let mut pages = self.client.list_objects_v2().bucket(&self.name).prefix(prefix).into_paginator().send();
        while let Some(page) = pages.next().await {
            let page = page.map_err(|e| StoreError::request("ListObjectsV2", e))?;
            listed.extend(page.contents().iter().filter_map(|object| {
                let key = ObjectKey::try_from(object.key()?.to_owned()).ok()?;
                Some((key, Timestamp::from_second(object.last_modified()?.secs()).ok()?))
            }));
        }
        Ok(listed)
    }

    /// Returns its S3 URI.
    pub(crate) fn uri(&self, key: &ObjectKey) -> String {
        format!("{}{key}", self.root())
    }

    /// Returns the beginning that the URIs of all its objects have.
    pub(crate) fn root(&self) -> String {
        format!("s3://{}/", self.name)
    }

    /// Returns the page of the AWS console for an object, where authorised users can open it.
    pub(crate) fn console_link(&self, key: &ObjectKey) -> String {
        let region = self.client.config().region().map_or("us-east-1", |region| region.as_ref());
        let console = match region {
            region if region.starts_with("cn-") => "console.amazonaws.cn",
            region if region.starts_with("us-gov-") => "console.amazonaws-us-gov.com",
            _ => "console.aws.amazon.com",
        };
        format!("https://{console}/s3/object/{}?region={region}&prefix={key}", self.name)
    }

    /// Deletes all objects with a key prefix.
    pub(crate) async fn delete_all(&self, prefix: &str) -> Result<(), StoreError> {
        loop {
            let keys = self.list(prefix, None, KEYS_MAX).await?;
            if keys.is_empty() {
                return Ok(());
            }
            for key in &keys {
                self.delete(key).await?;
            }
        }
    }

    pub(crate) async fn delete(&self, key: &ObjectKey) -> Result<(), StoreError> {
        let request = self.client.delete_object().bucket(&self.name).key(key.as_str());
        request.send().await.map(|_| ()).map_err(|e| StoreError::request("DeleteObject", e))
    }
}

/// Returns the object; `None` if there is none.
fn object_if_any(
    result: Result<GetObjectOutput, SdkError<GetObjectError>>,
) -> Result<Option<GetObjectOutput>, StoreError> {
    match result {
        Ok(output) => Ok(Some(output)),
        Err(error) if error.as_service_error().is_some_and(GetObjectError::is_no_such_key) => Ok(None),
        Err(error) => Err(StoreError::request("GetObject", error)),
    }
}

/// Returns an object's size; a missing size counts as too large.
fn content_bytes(output: &GetObjectOutput) -> u64 {
    output.content_length().and_then(|length| u64::try_from(length).ok()).unwrap_or(u64::MAX)
}

/// Returns the settings of a slow request.
fn patience() -> aws_sdk_s3::config::Builder {
    let patience = TimeoutConfig::builder().operation_attempt_timeout(FILE_TIMEOUT).operation_timeout(FILE_TIMEOUT);
    aws_sdk_s3::config::Builder::default().timeout_config(patience.build())
}

/// Returns the settings for putting an object, with more time if it is large.
fn patience_for(object: &Blob) -> aws_sdk_s3::config::Builder {
    if object.in_memory().is_some() { aws_sdk_s3::config::Builder::default() } else { patience() }
}

async fn content(output: GetObjectOutput) -> Result<Bytes, StoreError> {
    match output.body.collect().await {
        Ok(body) => Ok(body.into_bytes()),
        Err(error) => Err(StoreError::broken_off("GetObject", error)),
    }
}
