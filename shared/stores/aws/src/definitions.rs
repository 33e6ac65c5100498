//! Definitions that people keep in a stack's bucket: objects below `definitions/`.

use dragline_domain::frontier::ObjectKey;
use dragline_ports::error::PortResult;

use crate::documents::S3Documents;
use crate::kinds::DEFINITION;
use crate::objects::Bucket;

/// The prefix of their keys.
const PREFIX: &str = "definitions/";

/// Reads definitions from a bucket.
#[derive(Clone, Debug)]
pub struct S3Definitions {
    bucket: Bucket,
}

impl S3Definitions {
    /// Returns the definitions in the same bucket as these documents.
    #[must_use]
    pub fn beside(documents: &S3Documents) -> Self {
        Self { bucket: documents.bucket().clone() }
    }

    /// Returns the beginning that the URLs of all of them have.
    #[must_use]
    pub fn place(&self) -> String {
        format!("{}{PREFIX}", self.bucket.root())
    }

    /// Returns the key that a URL names; `None` if it names nothing among them.
    #[must_use]
    pub fn key(&self, url: &str) -> Option<ObjectKey> {
        let key = url.strip_prefix(&self.bucket.root()).filter(|key| key.starts_with(PREFIX))?;
        ObjectKey::try_from(key.to_owned()).ok()
    }

    /// Returns one as it is stored; `None` if there is none.
    ///
    /// # Errors
    /// Fails if S3 does, or the object is far too large for a definition.
    pub async fn read(&self, key: &ObjectKey) -> PortResult<Option<Vec<u8>>> {
        let object = self.bucket.get(key, DEFINITION).await.map_err(|e| e.at("read a definition", key))?;
        Ok(object.map(|object| object.bytes.to_vec()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use aws_sdk_s3::config::BehaviorVersion;
    use dragline_ports::system::SystemRng;

    use super::*;

    #[test]
    fn only_definitions_of_the_bucket_are_named() {
        let config = aws_sdk_s3::Config::builder().behavior_version(BehaviorVersion::latest()).build();
        let bucket = Bucket::new(aws_sdk_s3::Client::from_conf(config), "archive", Arc::new(SystemRng));
        let definitions = S3Definitions { bucket };
        for (url, expected, why) in [
            ("s3://archive/definitions/docs.yaml", Some("definitions/docs.yaml"), "one of them"),
            ("s3://archive/definitions/team/docs.yaml", Some("definitions/team/docs.yaml"), "in a folder"),
            ("s3://archive/raw/docs.yaml", None, "a body of somebody else's site"),
            ("s3://archive/definitions/../raw/docs.yaml", None, "the same by a detour"),
            ("s3://archive/definitions/", None, "the folder"),
            ("s3://other/definitions/docs.yaml", None, "another bucket"),
            ("s3://archive.evil/definitions/docs.yaml", None, "another bucket with a name like it"),
            ("https://archive/definitions/docs.yaml", None, "the web"),
            ("file:///definitions/docs.yaml", None, "a file of the machine"),
            ("", None, "nothing"),
        ] {
            let key = definitions.key(url);
            assert_eq!(key.as_ref().map(ObjectKey::as_str), expected, "{url}: {why}");
        }
    }
}
