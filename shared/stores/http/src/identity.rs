//! Signed requests, by which a site can tell the crawler from others that use its name: HTTP
//! message signatures (RFC 9421) as draft-meunier-web-bot-auth-architecture has them.

use std::sync::Arc;
use std::time::Duration;

use data_encoding::{BASE64, BASE64URL_NOPAD};
use dragline_domain::definition::Identity;
use dragline_domain::url::CrawlUrl;
use dragline_ports::secrets::{Secret, SecretError};
use http::header::{HeaderMap, HeaderName, HeaderValue};
use jiff::Timestamp;
use ring::rand::{SecureRandom as _, SystemRandom};
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use ring::{digest, pkcs8};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::json;

const SIGNATURE_AGENT: HeaderName = HeaderName::from_static("signature-agent");
const SIGNATURE_INPUT: HeaderName = HeaderName::from_static("signature-input");
const SIGNATURE: HeaderName = HeaderName::from_static("signature");

/// How long a signature is valid: as long as a request may take to arrive at a clock that is wrong
/// by minutes, and no longer, as whoever sees it may repeat it.
const VALID: Duration = Duration::from_mins(5);

/// A key by which requests are signed (Ed25519).
pub struct IdentityKey {
    pair: Ed25519KeyPair,
    id: String,
}

/// A text is not a private key of Ed25519, or none can be made. Nothing of it is in the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    /// The text is something else.
    #[error("is not a private key of Ed25519 as PEM (PKCS #8): `dragline identity new` makes one")]
    NotAKey,
    /// The system has no random bytes.
    #[error("no key can be made: the system gives no random bytes")]
    NoRandomness,
}

impl IdentityKey {
    /// Makes a key, and returns it as PEM.
    ///
    /// # Errors
    /// The system gives no random bytes.
    pub fn generate_pem() -> Result<String, IdentityError> {
        let document: pkcs8::Document =
            Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).map_err(|_| IdentityError::NoRandomness)?;
        let text = BASE64.encode(document.as_ref());
        let lines: Vec<&str> = text.as_bytes().chunks(64).filter_map(|line| str::from_utf8(line).ok()).collect();
        Ok(format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", lines.join("\n")))
    }

    /// Reads a key that is PEM.
    ///
    /// # Errors
    /// The text is something else.
    pub fn from_pem(pem: &str) -> Result<Self, IdentityError> {
        let der = PrivatePkcs8KeyDer::from_pem_slice(pem.as_bytes()).map_err(|_| IdentityError::NotAKey)?;
        let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(der.secret_pkcs8_der());
        let pair = pair.map_err(|_| IdentityError::NotAKey)?;
        let id = thumbprint(&public_part(&pair));
        Ok(Self { pair, id })
    }

    /// Returns what the host of the directory serves as
    /// `/.well-known/http-message-signatures-directory`: the public key, as a JSON Web Key Set.
    #[must_use]
    pub fn directory(&self) -> String {
        let key = json!({"kty": "OKP", "crv": "Ed25519", "kid": self.id, "x": public_part(&self.pair), "use": "sig"});
        format!("{:#}", json!({ "keys": [key] }))
    }

    /// Returns the name of the key: its thumbprint (RFC 7638 and RFC 8037).
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }
}

fn public_part(pair: &Ed25519KeyPair) -> String {
    BASE64URL_NOPAD.encode(pair.public_key().as_ref())
}

fn thumbprint(public: &str) -> String {
    let canonical = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{public}"}}"#);
    BASE64URL_NOPAD.encode(digest::digest(&digest::SHA256, canonical.as_bytes()).as_ref())
}

/// What signs the requests of a crawl.
#[derive(Clone)]
pub(crate) struct Signer {
    key: Arc<IdentityKey>,
    /// Where the public key is, as the field names it.
    directory: Option<HeaderValue>,
}

impl Signer {
    /// Returns what signs as a definition says, with its key; `None` if nothing does.
    ///
    /// # Errors
    /// The key is none.
    pub(crate) fn new(identity: &Identity, key: Option<&Secret>) -> Result<Option<Self>, SecretError> {
        let (Some(reference), Some(key)) = (&identity.key, key) else { return Ok(None) };
        let wrong = |error: IdentityError| SecretError { reference: reference.clone(), why: error.to_string() };
        let key = IdentityKey::from_pem(key.reveal()).map_err(wrong)?;
        // A checked definition has nothing else.
        let directory = identity.directory.as_ref().map(|directory| directory.as_str().trim_end_matches('/'));
        let directory = directory.and_then(|directory| HeaderValue::from_str(&format!("\"{directory}\"")).ok());
        Ok(Some(Self { key: Arc::new(key), directory }))
    }

    /// Signs a request for a URL, now.
    pub(crate) fn sign(&self, url: &CrawlUrl, now: Timestamp, fields: &mut HeaderMap) {
        let mut nonce = [0; 32];
        if SystemRandom::new().fill(&mut nonce).is_err() {
            // Without one, a signature could be repeated: the request is not signed.
            return;
        }
        let mut covered = vec![("@authority", authority(url))];
        if let Some(directory) = &self.directory {
            covered.push(("signature-agent", String::from_utf8_lossy(directory.as_bytes()).into_owned()));
        }
        let names: Vec<String> = covered.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        let created = now.as_second();
        let parameters = format!(
            "({});created={created};expires={};keyid=\"{}\";alg=\"ed25519\";nonce=\"{}\";tag=\"web-bot-auth\"",
            names.join(" "),
            created.saturating_add(i64::try_from(VALID.as_secs()).unwrap_or(i64::MAX)),
            self.key.id,
            BASE64.encode(&nonce),
        );
        let mut base: String = covered.iter().map(|(name, value)| format!("\"{name}\": {value}\n")).collect();
        base += &format!("\"@signature-params\": {parameters}");
        let signature = BASE64.encode(self.key.pair.sign(base.as_bytes()).as_ref());
        let input = HeaderValue::from_str(&format!("sig1={parameters}"));
        let (Ok(input), Ok(signature)) = (input, HeaderValue::from_str(&format!("sig1=:{signature}:"))) else { return };
        if let Some(directory) = &self.directory {
            fields.insert(SIGNATURE_AGENT, directory.clone());
        }
        fields.insert(SIGNATURE_INPUT, input);
        fields.insert(SIGNATURE, signature);
    }
}

/// Returns host and port of a URL as they are signed (RFC 9421 section 2.2.3): the port of its
/// scheme is left out.
fn authority(url: &CrawlUrl) -> String {
    url.origin_str().split_once("://").map_or_else(String::new, |(_, authority)| authority.to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use dragline_domain::url::UrlRules;
    use web_bot_auth::WebBotAuthVerifier;
    use web_bot_auth::components::{CoveredComponent, DerivedComponent};
    use web_bot_auth::keyring::{JSONWebKeySet, KeyRing};
    use web_bot_auth::message_signatures::SignedMessage;

    use super::*;
    use crate::timing;

    /// A request as whoever verifies it sees it.
    struct Seen {
        authority: String,
        fields: BTreeMap<String, String>,
    }

    impl SignedMessage for Seen {
        fn lookup_component(&self, name: &CoveredComponent) -> Vec<String> {
            match name {
                CoveredComponent::Derived(DerivedComponent::Authority { .. }) => vec![self.authority.clone()],
                CoveredComponent::HTTP(field) => self.fields.get(&field.name).cloned().into_iter().collect(),
                CoveredComponent::Derived(_) => Vec::new(),
            }
        }
    }

    fn signed(pem: &str, url: &str, directory: Option<&str>) -> Seen {
        let identity = Identity {
            key: Some("file:identity.pem".parse().unwrap()),
            directory: directory.map(|directory| directory.parse().unwrap()),
        };
        let signer = Signer::new(&identity, Some(&Secret::new(pem))).unwrap().unwrap();
        let mut fields = HeaderMap::new();
        signer.sign(&CrawlUrl::parse(url, &UrlRules::default()).unwrap(), timing::wall_clock(), &mut fields);
        let text = |value: &HeaderValue| value.to_str().unwrap().to_owned();
        let fields = fields.iter().map(|(name, value)| (name.to_string(), text(value))).collect();
        let authority = url.split('/').nth(2).unwrap().trim_end_matches(":443").to_owned();
        Seen { authority, fields }
    }

    #[test]
    fn a_verifier_of_others_accepts_the_signature_for_its_host_and_key_alone() {
        let pem = IdentityKey::generate_pem().unwrap();
        let key = IdentityKey::from_pem(&pem).unwrap();
        let keys: JSONWebKeySet = serde_json::from_str(&key.directory()).unwrap();
        assert_eq!(keys.keys[0].b64_thumbprint(), key.id());
        let verify = |seen: &Seen, keys: JSONWebKeySet| {
            let mut ring = KeyRing::default();
            ring.import_jwks(keys);
            WebBotAuthVerifier::parse(seen).unwrap().verify(&ring, None).is_ok()
        };
        for url in ["https://a.example/x?y=1", "http://a.example:8080/", "https://a.example:443/z"] {
            let seen = signed(&pem, url, Some("https://bot.example.org/"));
            assert_eq!(seen.fields["signature-agent"], "\"https://bot.example.org\"", "{url}");
            assert!(verify(&seen, keys.clone()), "{url}: {:?}", seen.fields);
            let elsewhere = Seen { authority: "b.example".to_owned(), ..seen };
            assert!(!verify(&elsewhere, keys.clone()), "{url}: for another host");
        }
        let other = IdentityKey::from_pem(&IdentityKey::generate_pem().unwrap()).unwrap();
        let others: JSONWebKeySet = serde_json::from_str(&other.directory()).unwrap();
        let seen = signed(&pem, "https://a.example/", Some("https://bot.example.org"));
        assert!(!verify(&seen, others), "by another key");
        let (first, second) = (signed(&pem, "https://a.example/", None), signed(&pem, "https://a.example/", None));
        assert!(!first.fields.contains_key("signature-agent"), "no directory is named");
        assert_ne!(first.fields["signature"], second.fields["signature"], "no signature comes twice");
    }

    #[test]
    fn keys_of_others_are_read_and_nothing_else() {
        // The key of RFC 9421, appendix B.1.4, as OpenSSL writes it.
        let rfc = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF\n-----END PRIVATE KEY-----\n";
        let key = IdentityKey::from_pem(rfc).unwrap();
        assert_eq!(key.id(), "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U", "as the draft has it");
        for (text, why) in [
            ("", "nothing"),
            ("secret", "a word"),
            ("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", "no key"),
        ] {
            assert_eq!(IdentityKey::from_pem(text).err(), Some(IdentityError::NotAKey), "{why}");
        }
    }
}
