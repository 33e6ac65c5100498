//! Records that are read back.

use std::net::IpAddr;

use jiff::Timestamp;

use super::digest::Sha1Digest;
use super::fields::{ExtensionName, parse_fields};
use super::http::parse_http_response;
use super::ids::{HttpProtocol, RecordId, RecordType, RevisitProfile, Truncation};
use super::record::WarcInfo;
use super::writer::RecordSpan;
use crate::http_fields::Headers;

/// A record as stored in a file. Fields that are missing or invalid are `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRecord {
    /// The type of the record.
    pub record_type: RecordType,
    /// All fields of its header, including `WARC-Type` and `Content-Length`.
    pub fields: Headers<String>,
    /// Its content, or the beginning of it: see [`Self::is_whole`].
    pub block: Vec<u8>,
    /// The length of its content, which is `Content-Length`.
    pub block_bytes: u64,
    /// Its place in the file.
    pub span: RecordSpan,
}

/// Whether bytes match their digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum DigestCheck {
    /// They do.
    Match,
    /// They do not: the record is damaged, or its digest was wrong from the start.
    Mismatch {
        /// The digest in the record.
        stated: Sha1Digest,
        /// The digest of its bytes.
        computed: Sha1Digest,
    },
    /// The record states no digest, or one of another algorithm.
    NotStated,
    /// The bytes are not in this record, or not all of them are held: it is a revisit, contains no
    /// HTTP response, or is too long.
    NotHere,
}

impl StoredRecord {
    /// Whether the block is all of its content. If it is longer than
    /// [`ReadLimits`](super::ReadLimits) allow, only the beginning is held.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.block.len() as u64 == self.block_bytes
    }

    /// Returns its id (`WARC-Record-ID`); `None` also if that is not a UUID.
    #[must_use]
    pub fn id(&self) -> Option<RecordId> {
        self.fields.get("WARC-Record-ID").and_then(RecordId::parse)
    }

    /// Returns when its fetch began.
    #[must_use]
    pub fn date(&self) -> Option<Timestamp> {
        self.parsed("WARC-Date")
    }

    /// Returns the requested URL, without the angle brackets that some writers of WARC 1.0 add.
    #[must_use]
    pub fn target_uri(&self) -> Option<&str> {
        self.fields.get("WARC-Target-URI").map(without_brackets)
    }

    /// Returns the server's address.
    #[must_use]
    pub fn ip_address(&self) -> Option<IpAddr> {
        self.parsed("WARC-IP-Address")
    }

    /// Returns the protocol of the connection; if there are several layers, the first known one.
    #[must_use]
    pub fn protocol(&self) -> Option<HttpProtocol> {
        self.fields.all("WARC-Protocol").find_map(HttpProtocol::from_token)
    }

    /// Returns the id of its file's `warcinfo` record.
    #[must_use]
    pub fn warcinfo_id(&self) -> Option<RecordId> {
        self.fields.get("WARC-Warcinfo-ID").and_then(RecordId::parse)
    }

    /// Returns the ids of the other records of its fetch that it names.
    pub fn concurrent_to(&self) -> impl Iterator<Item = RecordId> {
        self.fields.all("WARC-Concurrent-To").filter_map(RecordId::parse)
    }

    /// Returns why its block is shorter than the server's response; `None` if it is complete.
    #[must_use]
    pub fn truncated(&self) -> Option<Truncation> {
        self.fields.get("WARC-Truncated").map(Truncation::from_reason)
    }

    /// Returns the digest of its payload, which for a revisit is stored elsewhere.
    #[must_use]
    pub fn payload_digest(&self) -> Option<Sha1Digest> {
        self.parsed("WARC-Payload-Digest")
    }

    /// Returns the digest of its block.
    #[must_use]
    pub fn block_digest(&self) -> Option<Sha1Digest> {
        self.parsed("WARC-Block-Digest")
    }

    /// Returns its profile, if it is a revisit; `None` also for an unknown profile, whose block
    /// must not be read. The profiles of WARC 1.0 mean the same.
    #[must_use]
    pub fn profile(&self) -> Option<RevisitProfile> {
        let profile = self.fields.get("WARC-Profile").map(without_brackets)?;
        RevisitProfile::from_token(&profile.replacen("/warc/1.0/", "/warc/1.1/", 1))
    }

    /// Returns the id of the record to which it refers (`WARC-Refers-To`).
    #[must_use]
    pub fn refers_to(&self) -> Option<RecordId> {
        self.fields.get("WARC-Refers-To").and_then(RecordId::parse)
    }

    /// Returns the URL of the record for which a revisit stands in.
    #[must_use]
    pub fn refers_to_target_uri(&self) -> Option<&str> {
        self.fields.get("WARC-Refers-To-Target-URI").map(without_brackets)
    }

    /// Returns the date of the record for which a revisit stands in.
    #[must_use]
    pub fn refers_to_date(&self) -> Option<Timestamp> {
        self.parsed("WARC-Refers-To-Date")
    }

    /// Returns the value of a custom field.
    #[must_use]
    pub fn extension(&self, name: ExtensionName) -> Option<&str> {
        self.fields.get(name.as_str())
    }

    /// Returns its data about the file; `None` if it is not a `warcinfo` record.
    #[must_use]
    pub fn info(&self) -> Option<WarcInfo> {
        let block = (self.record_type == RecordType::WarcInfo).then(|| parse_fields(&self.block))?;
        let text = |name: &str| block.get(name).map(str::to_owned);
        Some(WarcInfo {
            filename: self.fields.get("WARC-Filename").map(str::to_owned),
            software: text("software").unwrap_or_default(),
            operator: text("operator"),
            publisher: text("publisher"),
            description: text("description"),
            hostname: text("hostname"),
            user_agent: text("http-header-user-agent"),
            robots: text("robots"),
            is_part_of: block.all("isPartOf").map(str::to_owned).collect(),
        })
    }

    /// Compares the block with its digest.
    pub fn verify_block_digest(&self) -> DigestCheck {
        check(self.block_digest(), self.is_whole().then_some(&*self.block))
    }

    /// Compares the body of a response, with its content coding, with the payload's digest.
    pub fn verify_payload_digest(&self) -> DigestCheck {
        let response = match self.record_type {
            RecordType::Response if self.is_whole() => parse_http_response(&self.block).ok(),
            _ => None,
        };
        check(self.payload_digest(), response.map(|response| response.body))
    }

    fn parsed<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.fields.get(name)?.parse().ok()
    }
}

fn check(stated: Option<Sha1Digest>, bytes: Option<&[u8]>) -> DigestCheck {
    let Some(stated) = stated else { return DigestCheck::NotStated };
    let Some(bytes) = bytes else { return DigestCheck::NotHere };
    let computed = Sha1Digest::compute(bytes);
    if stated == computed { DigestCheck::Match } else { DigestCheck::Mismatch { stated, computed } }
}

fn without_brackets(uri: &str) -> &str {
    uri.strip_prefix('<').and_then(|uri| uri.strip_suffix('>')).unwrap_or(uri)
}
