//! Records read back.

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
    /// The kind of record.
    pub record_type: RecordType,
    /// All fields of its header, `WARC-Type` and `Content-Length` included.
    pub fields: Headers<String>,
    /// Its content, as many bytes as `Content-Length` says, or the beginning of that: see [`Self::is_whole`].
    pub block: Vec<u8>,
    /// How many bytes its content has, which is `Content-Length`.
    pub block_bytes: u64,
    /// Where it is in the file.
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
        /// What the record says.
        stated: Sha1Digest,
        /// What its bytes amount to.
        computed: Sha1Digest,
    },
    /// The record states no digest, or one of another algorithm.
    NotStated,
    /// The bytes are not in this record, or not all of them are held: it is a revisit, holds no HTTP response, or is too long.
    NotHere,
}

impl StoredRecord {
    /// Whether the block is all of its content. Of what is longer than [`ReadLimits`](super::ReadLimits) let be held, it is the beginning.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.block.len() as u64 == self.block_bytes
    }

    /// Its id (`WARC-Record-ID`); `None` also if that is not a UUID.
    #[must_use]
    pub fn id(&self) -> Option<RecordId> {
        self.fields.get("WARC-Record-ID").and_then(RecordId::parse)
    }

    /// When its fetch began.
    #[must_use]
    pub fn date(&self) -> Option<Timestamp> {
        self.parsed("WARC-Date")
    }

    /// The requested URL, without the angle brackets that some writers of WARC 1.0 add.
    #[must_use]
    pub fn target_uri(&self) -> Option<&str> {
        self.fields.get("WARC-Target-URI").map(without_brackets)
    }

    /// The server's address.
    #[must_use]
    pub fn ip_address(&self) -> Option<IpAddr> {
        self.parsed("WARC-IP-Address")
    }

    /// The protocol of the connection; if there are several layers, the first known one.
    #[must_use]
    pub fn protocol(&self) -> Option<HttpProtocol> {
        self.fields.all("WARC-Protocol").find_map(HttpProtocol::from_token)
    }

    /// The `warcinfo` record of its file.
    #[must_use]
    pub fn warcinfo_id(&self) -> Option<RecordId> {
        self.fields.get("WARC-Warcinfo-ID").and_then(RecordId::parse)
    }

    /// The other records of its fetch that it names.
    pub fn concurrent_to(&self) -> impl Iterator<Item = RecordId> {
        self.fields.all("WARC-Concurrent-To").filter_map(RecordId::parse)
    }

    /// Why its block is shorter than what the server had; `None` if it is complete. A reason outside the standard is [`Truncation::Unspecified`].
    #[must_use]
    pub fn truncated(&self) -> Option<Truncation> {
        self.fields.get("WARC-Truncated").map(|word| Truncation::from_token(word).unwrap_or(Truncation::Unspecified))
    }

    /// The digest of its payload, which for a revisit is stored elsewhere.
    #[must_use]
    pub fn payload_digest(&self) -> Option<Sha1Digest> {
        self.parsed("WARC-Payload-Digest")
    }

    /// The digest of its block.
    #[must_use]
    pub fn block_digest(&self) -> Option<Sha1Digest> {
        self.parsed("WARC-Block-Digest")
    }

    /// How to read it, if it is a revisit; `None` also for an unknown profile, whose block must not be read. The profiles of WARC 1.0 mean the same.
    #[must_use]
    pub fn profile(&self) -> Option<RevisitProfile> {
        let profile = self.fields.get("WARC-Profile").map(without_brackets)?;
        RevisitProfile::from_token(&profile.replacen("/warc/1.0/", "/warc/1.1/", 1))
    }

    /// The id of the record that it refers to (`WARC-Refers-To`).
    #[must_use]
    pub fn refers_to(&self) -> Option<RecordId> {
        self.fields.get("WARC-Refers-To").and_then(RecordId::parse)
    }

    /// The address of the record that a revisit stands in for.
    #[must_use]
    pub fn refers_to_target_uri(&self) -> Option<&str> {
        self.fields.get("WARC-Refers-To-Target-URI").map(without_brackets)
    }

    /// The date of the record that a revisit stands in for.
    #[must_use]
    pub fn refers_to_date(&self) -> Option<Timestamp> {
        self.parsed("WARC-Refers-To-Date")
    }

    /// The value of a custom field.
    #[must_use]
    pub fn extension(&self, name: ExtensionName) -> Option<&str> {
        self.fields.get(name.as_str())
    }

    /// What it says of its file; `None` if it is no `warcinfo` record.
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

    /// Compares the body of a response, its content coding kept, with the payload's digest.
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
