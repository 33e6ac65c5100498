//! Who may call: tokens with a role.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use argon2::password_hash::phc::PasswordHash;
use argon2::{Argon2, PasswordHasher as _, PasswordVerifier as _};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tokio::sync::Semaphore;

use crate::mcp;
use crate::problem::Problem;

/// The most tokens that are remembered as valid, so that their hash is not computed again.
const REMEMBERED_MAX: usize = 1_000;

/// What the holder of a token may do. Each role may also do what those before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Search.
    Searcher,
    /// Read everything.
    Reader,
    /// Add, change, start and stop crawls.
    Editor,
    /// Remove crawls.
    Owner,
}

impl Role {
    /// Returns the role that a request needs.
    fn needed(method: &Method, path: &str) -> Self {
        if path == mcp::PATH {
            // The calls of its tools are checked each by itself.
            return Self::Reader;
        }
        let is_search =
            || matches!(path.rsplit_once('/'), Some((start, "search" | "similar")) if start.starts_with("/crawls/"));
        match *method {
            Method::GET | Method::HEAD if is_search() => Self::Searcher,
            Method::GET | Method::HEAD | Method::OPTIONS => Self::Reader,
            Method::DELETE => Self::Owner,
            _ => Self::Editor,
        }
    }

    /// Checks that its holder may remove a crawl, by whatever call.
    ///
    /// # Errors
    /// It is not that of an owner.
    pub(crate) fn may_remove(self) -> Result<(), Problem> {
        if self >= Self::Owner {
            return Ok(());
        }
        Err(Problem::new(StatusCode::FORBIDDEN, "forbidden", "only an owner removes crawls"))
    }

    /// Returns the role, if it may do what needs another one. `holder` says whose role it is.
    fn admit(self, needed: Self, holder: &str) -> Result<Self, Problem> {
        if self >= needed {
            return Ok(self);
        }
        let detail = format!("{holder} {}, and that takes {}", self.name(), needed.name());
        Err(Problem::new(StatusCode::FORBIDDEN, "forbidden", detail))
    }

    /// Returns its name, with its article.
    const fn name(self) -> &'static str {
        match self {
            Self::Searcher => "a searcher",
            Self::Reader => "a reader",
            Self::Editor => "an editor",
            Self::Owner => "an owner",
        }
    }
}

/// A token, of which only a hash is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Token {
    /// Whose it is.
    pub user: String,
    /// What its holder may do.
    pub role: Role,
    /// Its Argon2 hash, as a PHC string.
    pub hash: String,
}

/// A token whose hash cannot be computed or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the token of `{user}` has no valid hash: {why}")]
pub struct TokenError {
    user: String,
    why: String,
}

impl Token {
    /// Returns the stored form of a token: `secret` is 128 random bits, in any form.
    ///
    /// # Errors
    /// Its hash cannot be computed.
    pub fn new(user: &str, role: Role, secret: &str) -> Result<Self, TokenError> {
        // Salted by its user: whoever has two tokens has two secrets.
        let salt = Sha256::digest(user.as_bytes());
        let hash = Argon2::default().hash_password_with_salt(secret.as_bytes(), &salt[..16]);
        let failed = |error: argon2::password_hash::Error| TokenError { user: user.to_owned(), why: error.to_string() };
        Ok(Self { user: user.to_owned(), role, hash: hash.map_err(failed)?.to_string() })
    }

    fn is_for(&self, secret: &str) -> bool {
        PasswordHash::new(&self.hash)
            .is_ok_and(|hash| Argon2::default().verify_password(secret.as_bytes(), &hash).is_ok())
    }
}

/// Who may call.
#[derive(Debug)]
pub struct Access {
    /// Without any, everybody who reaches the server has the same role.
    tokens: Vec<Token>,
    /// That role.
    everybody: Role,
    /// SHA-256 of a secret whose holder may do everything, if there are tokens at all.
    secret: Option<[u8; 32]>,
    /// SHA-256 of secrets that were verified, with the places of their tokens.
    verified: Mutex<HashSet<([u8; 32], usize)>>,
    /// Room for hashing, which takes some 20 MB each time.
    hashing: Hashing,
}

/// How many secrets are hashed at the same time.
const HASHES_MAX: usize = 2;

#[derive(Debug)]
struct Hashing(Semaphore);

impl Default for Hashing {
    fn default() -> Self {
        Self(Semaphore::new(HASHES_MAX))
    }
}

impl Access {
    /// Returns the access of a server that only its own machine reaches: everybody is its owner.
    #[must_use]
    pub fn open() -> Self {
        Self::everybody(Role::Owner)
    }

    /// Returns the access of a server that asks nobody for a token: everybody who reaches it has
    /// this role.
    #[must_use]
    pub fn everybody(role: Role) -> Self {
        let (verified, hashing) = (Mutex::default(), Hashing::default());
        Self { tokens: Vec::new(), everybody: role, secret: None, verified, hashing }
    }

    /// Returns the access of those with one of these tokens.
    #[must_use]
    pub fn with_tokens(tokens: Vec<Token>) -> Self {
        Self { tokens, ..Self::open() }
    }

    /// Returns the same access, and that of the holder of this secret, who may do everything. It
    /// is made anew for each process, and is known to nobody but its user.
    #[must_use]
    pub fn with_secret(self, secret: &str) -> Self {
        Self { secret: Some(Sha256::digest(secret.as_bytes()).into()), ..self }
    }

    /// Whether everybody may do everything.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.tokens.is_empty() && self.everybody == Role::Owner
    }

    /// Whether checking a request takes the hash of a secret: it has one that is not known yet.
    pub(crate) fn takes_hash(&self, headers: &HeaderMap) -> bool {
        let Some(given) = secret_in(headers).filter(|_| !self.tokens.is_empty()) else { return false };
        let digest: [u8; 32] = Sha256::digest(given.as_bytes()).into();
        let verified = self.verified.lock().unwrap_or_else(PoisonError::into_inner);
        self.secret != Some(digest) && verified.iter().all(|(known, _)| *known != digest)
    }

    /// Returns the token with this secret; `None` if there is none. Takes some 20 ms the first
    /// time, as guessing must be slow.
    fn find(&self, secret: &str) -> Option<&Token> {
        let digest: [u8; 32] = Sha256::digest(secret.as_bytes()).into();
        let known = |verified: &HashSet<([u8; 32], usize)>| {
            (0..self.tokens.len()).find(|place| verified.contains(&(digest, *place)))
        };
        let mut place = known(&self.verified.lock().unwrap_or_else(PoisonError::into_inner));
        if place.is_none() {
            place = self.tokens.iter().position(|token| token.is_for(secret));
            let mut verified = self.verified.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(place) = place
                && verified.len() < REMEMBERED_MAX
            {
                verified.insert((digest, place));
            }
        }
        self.tokens.get(place?)
    }

    /// Checks a request, and returns the role of who sent it.
    fn check(&self, (method, path): (&Method, &str), headers: &HeaderMap) -> Result<Role, Problem> {
        let needed = Role::needed(method, path);
        if self.tokens.is_empty() {
            return self.everybody.admit(needed, "here everybody is");
        }
        let given = secret_in(headers);
        // What is compared are digests, so how long that takes says nothing about the secret.
        let digest = given.as_deref().map(|secret| <[u8; 32]>::from(Sha256::digest(secret.as_bytes())));
        if digest.is_some() && digest == self.secret {
            return Ok(Role::Owner);
        }
        let Some(token) = given.as_deref().and_then(|secret| self.find(secret)) else {
            let detail = "a valid token is needed";
            let problem = Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", detail);
            return Err(problem.with_hint("send `Authorization: Bearer TOKEN`; `dragline token add` makes one"));
        };
        token.role.admit(needed, "the token is that of")
    }
}

/// Returns the secret that a request has.
fn secret_in(headers: &HeaderMap) -> Option<String> {
    headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).and_then(secret)
}

/// Returns the secret in a field `Authorization`: a bearer token, or the password that a browser
/// asks for.
fn secret(field: &str) -> Option<String> {
    let (scheme, value) = field.split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(value.trim().to_owned());
    }
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = data_encoding::BASE64.decode(value.trim().as_bytes()).ok()?;
    let (_user, password) = std::str::from_utf8(&decoded).ok()?.split_once(':')?;
    Some(password.to_owned())
}

/// Answers only those who may call. What answers them finds their role among the extensions.
pub(crate) async fn admit(State(access): State<Arc<Access>>, mut request: Request, next: Next) -> Response {
    if access.is_open() {
        request.extensions_mut().insert(Role::Owner);
        return next.run(request).await;
    }
    let (method, uri, headers) = (request.method().clone(), request.uri().clone(), request.headers().clone());
    let checking = Arc::clone(&access);
    // Whoever has no token waits for others of that kind. It is never closed.
    let _room = if access.takes_hash(&headers) { access.hashing.0.acquire().await.ok() } else { None };
    // A hash takes its time, and the runtime's threads do not wait for it.
    let checked = tokio::task::spawn_blocking(move || checking.check((&method, uri.path()), &headers)).await;
    match checked {
        Ok(Ok(role)) => {
            request.extensions_mut().insert(role);
            next.run(request).await
        }
        Ok(Err(problem)) => {
            let is_unknown = problem.status == StatusCode::UNAUTHORIZED.as_u16();
            let mut response = problem.into_response();
            if is_unknown {
                let challenge =
                    HeaderValue::from_static("Basic realm=\"Dragline: any name, and a token as the password\", Bearer");
                response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
            }
            response
        }
        Err(error) => {
            tracing::error!(%error, "a token could not be checked");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_role_may_do_what_it_is_for() {
        let token = |user: &str, role| Token::new(user, role, &format!("secret of {user}")).unwrap();
        let access = Access::with_tokens(vec![
            token("kit", Role::Searcher),
            token("ada", Role::Reader),
            token("ben", Role::Editor),
            token("eve", Role::Owner),
        ]);
        let bearer = |user: &str| format!("Bearer secret of {user}");
        let basic = |user: &str| {
            format!("Basic {}", data_encoding::BASE64.encode(format!("{user}:secret of {user}").as_bytes()))
        };
        for (method, path, field, expected, why) in [
            (Method::GET, "/crawls", None, Some(401), "nobody"),
            (Method::GET, "/crawls", Some(bearer("ada")), None, "a reader reads"),
            (Method::GET, "/crawls", Some(basic("ada")), None, "in a browser, too"),
            (Method::POST, "/crawls", Some(bearer("ada")), Some(403), "and changes nothing"),
            (Method::POST, "/crawls", Some(bearer("ben")), None, "an editor does"),
            (Method::DELETE, "/crawls", Some(bearer("ben")), Some(403), "and removes nothing"),
            (Method::DELETE, "/crawls", Some(bearer("eve")), None, "an owner does"),
            (Method::GET, "/crawls", Some("Bearer secret of zoe".to_owned()), Some(401), "a wrong one"),
            (Method::GET, "/crawls", Some("Digest secret of ada".to_owned()), Some(401), "another scheme"),
            (Method::GET, "/crawls", Some("Basic !".to_owned()), Some(401), "no base64"),
            (Method::POST, "/mcp", Some(bearer("ada")), None, "a reader calls tools"),
            (Method::POST, "/mcp", None, Some(401), "nobody does"),
            (Method::POST, "/mcp/", Some(bearer("ada")), Some(403), "another path"),
            (Method::GET, "/crawls/docs/search", Some(bearer("kit")), None, "a searcher searches"),
            (Method::GET, "/crawls/docs/similar", Some(bearer("kit")), None, "and this is a search, too"),
            (Method::GET, "/crawls/docs/pages", Some(bearer("kit")), Some(403), "but reads nothing else"),
            (Method::GET, "/view/docs/search", Some(bearer("kit")), Some(403), "nor the page"),
            (Method::POST, "/crawls/docs/search", Some(bearer("kit")), Some(403), "nor changes anything"),
            (Method::POST, "/mcp", Some(bearer("kit")), Some(403), "nor calls tools"),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(field) = &field {
                headers.insert(header::AUTHORIZATION, field.parse().unwrap());
            }
            for again in ["first", "remembered"] {
                let status = access.check((&method, path), &headers).err().map(|problem| problem.status);
                assert_eq!(status, expected, "{method} {path} {field:?}, {again}: {why}");
            }
        }
    }

    #[test]
    fn without_tokens_everybody_has_the_same_role() {
        for (everybody, method, path, expected) in [
            (Role::Owner, Method::DELETE, "/crawls/docs", None),
            (Role::Editor, Method::DELETE, "/crawls/docs", Some(403)),
            (Role::Reader, Method::GET, "/crawls/docs/definition", None),
            (Role::Reader, Method::POST, "/crawls", Some(403)),
            (Role::Searcher, Method::GET, "/crawls/docs/search", None),
            (Role::Searcher, Method::GET, "/crawls/docs/definition", Some(403)),
        ] {
            let mut headers = HeaderMap::new();
            // Whoever sends a token that nobody asked for gains nothing by it.
            headers.insert(header::AUTHORIZATION, HeaderValue::from_static("Bearer of nothing"));
            let access = Access::everybody(everybody);
            assert!(!access.takes_hash(&headers), "no hash is computed for it");
            let status = access.check((&method, path), &headers).err().map(|problem| problem.status);
            assert_eq!(status, expected, "{everybody:?}: {method} {path}");
        }
    }
}
