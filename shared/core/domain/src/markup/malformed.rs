//! References that are not valid URLs.

use serde::{Deserialize, Serialize};
use url::ParseError;

use crate::document::LinkKind;

/// A reference that is not a valid URL, or leads nowhere by its form alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MalformedLink {
    /// The kind of link that it would be.
    pub kind: LinkKind,
    /// The reference as written, cut at a limit.
    pub written: Box<str>,
    /// What is wrong with it.
    pub why: MalformedReason,
    /// The text of the link; `None` if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Box<str>>,
}

/// What is wrong with a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MalformedReason {
    /// An `<a>` has an empty `href`. That is legal, and leads to the page itself.
    Empty,
    /// Its scheme is not known, and looks like a mistyped one: `htp://example.org/`.
    SchemeMistyped,
    /// It begins with a host and a port, so that the host is read as a scheme:
    /// `example.org:8080/a`.
    SchemeMissing,
    /// `mailto:` or `tel:` without an address.
    AddressMissing,
    /// There is no host: `http:///a`.
    HostMissing,
    /// The host is neither a domain name nor an IP address: `http://a b/`.
    HostInvalid,
    /// The port is not a number up to 65535: `http://a:port/`.
    PortInvalid,
    /// Parsers of URLs refuse it for another reason.
    Invalid,
}

impl MalformedReason {
    /// All reasons.
    pub const ALL: &'static [Self] = &[
        Self::Empty,
        Self::SchemeMistyped,
        Self::SchemeMissing,
        Self::AddressMissing,
        Self::HostMissing,
        Self::HostInvalid,
        Self::PortInvalid,
        Self::Invalid,
    ];

    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::SchemeMistyped => "scheme_mistyped",
            Self::SchemeMissing => "scheme_missing",
            Self::AddressMissing => "address_missing",
            Self::HostMissing => "host_missing",
            Self::HostInvalid => "host_invalid",
            Self::PortInvalid => "port_invalid",
            Self::Invalid => "invalid",
        }
    }

    /// Returns what is wrong, in a few words.
    #[must_use]
    pub const fn explanation(self) -> &'static str {
        match self {
            Self::Empty => "the `href` is empty, so it leads to the page itself",
            Self::SchemeMistyped => "the scheme looks like a mistyped one",
            Self::SchemeMissing => "there is no `https://` before the host",
            Self::AddressMissing => "there is no address after the scheme",
            Self::HostMissing => "there is no host",
            Self::HostInvalid => "the host is not valid",
            Self::PortInvalid => "the port is not a number up to 65535",
            Self::Invalid => "it is not a URL",
        }
    }

    /// Whether it is legal, and only worth a look.
    #[must_use]
    pub const fn is_hint(self) -> bool {
        matches!(self, Self::Empty)
    }

    /// Returns the reason for a parser's error.
    #[must_use]
    pub const fn from_parse_error(error: ParseError) -> Self {
        match error {
            ParseError::EmptyHost => Self::HostMissing,
            ParseError::IdnaError
            | ParseError::InvalidDomainCharacter
            | ParseError::InvalidIpv4Address
            | ParseError::InvalidIpv6Address => Self::HostInvalid,
            ParseError::InvalidPort => Self::PortInvalid,
            _ => Self::Invalid,
        }
    }

    /// Returns what the scheme of a reference says is wrong with it;
    /// `None` if nothing is, as with `tel:+1` or `data:,x`.
    ///
    /// Anybody may use a scheme of their own for their app, so a scheme is not wrong because nobody
    /// has heard of it. It is if it differs in a letter from http, https or `mailto`, or in two
    /// from `javascript`. No scheme of the WHATWG URL standard (ftp, file, ws, wss) or of IANA's
    /// registry of URI schemes is so close to one of these, except `shttp` (RFC 2660).
    #[must_use]
    pub fn from_scheme(kind: LinkKind, reference: &str) -> Option<Self> {
        const MEANT: [(&str, usize); 4] = [("http", 1), ("https", 1), ("mailto", 1), ("javascript", 2)];
        let (scheme, rest) = reference.split_once(':')?;
        let is = |known| scheme.eq_ignore_ascii_case(known);
        if ["data", "http", "https", "javascript", "shttp"].into_iter().any(is) {
            return None;
        }
        if is("mailto") || is("tel") {
            return (is_clicked(kind) && lacks_address(scheme, rest)).then_some(Self::AddressMissing);
        }
        if (scheme.contains('.') || is("localhost")) && begins_with_port(rest) {
            return Some(Self::SchemeMissing);
        }
        let is_close = |&(meant, differ_max): &(&str, usize)| {
            scheme.len().abs_diff(meant.len()) <= differ_max && edits(scheme.as_bytes(), meant.as_bytes()) <= differ_max
        };
        MEANT.iter().any(is_close).then_some(Self::SchemeMistyped)
    }
}

const fn is_clicked(kind: LinkKind) -> bool {
    matches!(kind, LinkKind::A | LinkKind::Area)
}

/// Whether nobody is addressed. `mailto:?subject=…` is right: it lets the reader choose whom to
/// write to (RFC 6068, section 2). An address has an `@`, which may be encoded.
fn lacks_address(scheme: &str, rest: &str) -> bool {
    let (address, fields) = rest.split_once('?').unwrap_or((rest, ""));
    let address = address.trim();
    if address.is_empty() {
        return fields.is_empty();
    }
    scheme.eq_ignore_ascii_case("mailto") && !address.contains('@') && !address.contains("%40")
}

/// Whether a text begins with a number that ends where a port would.
fn begins_with_port(rest: &str) -> bool {
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    (1..=5).contains(&digits) && matches!(rest.as_bytes().get(digits), None | Some(b'/' | b'?'))
}

/// Returns how many letters have to be added, left out, replaced or swapped with their neighbour to
/// make one word of another, whatever their case (optimal string alignment). Both are short.
fn edits(one: &[u8], other: &[u8]) -> usize {
    const LETTERS_MAX: usize = 16;
    if one.len().max(other.len()) >= LETTERS_MAX {
        return LETTERS_MAX;
    }
    let mut rows = [[0; LETTERS_MAX]; LETTERS_MAX];
    for (n, row) in rows.iter_mut().enumerate() {
        row[0] = n;
    }
    for (m, fewest) in rows[0].iter_mut().enumerate() {
        *fewest = m;
    }
    let is_same = |n: usize, m: usize| one[n].eq_ignore_ascii_case(&other[m]);
    for n in 1..=one.len() {
        for m in 1..=other.len() {
            let replaced = rows[n - 1][m - 1] + usize::from(!is_same(n - 1, m - 1));
            let mut fewest = replaced.min(rows[n - 1][m] + 1).min(rows[n][m - 1] + 1);
            if n > 1 && m > 1 && is_same(n - 1, m - 2) && is_same(n - 2, m - 1) {
                fewest = fewest.min(rows[n - 2][m - 2] + 1);
            }
            rows[n][m] = fewest;
        }
    }
    rows[one.len()][other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use MalformedReason::{AddressMissing, SchemeMissing, SchemeMistyped};

    #[test]
    fn references_with_a_scheme() {
        for (reference, expected, why) in [
            ("htp://x/", Some(SchemeMistyped), "a letter is missing"),
            ("htttp://x/", Some(SchemeMistyped), "one too many"),
            ("hhtps://x/", Some(SchemeMistyped), "another one"),
            ("htpps://x/", Some(SchemeMistyped), "one instead of another"),
            ("htpt://x/", Some(SchemeMistyped), "two that are swapped"),
            ("HTP://x/", Some(SchemeMistyped), "in any case"),
            ("maito:a@b.example", Some(SchemeMistyped), "not only http"),
            ("mial:a@b.example", None, "three letters"),
            ("jvascrpt:void(0)", Some(SchemeMistyped), "two letters of a long one"),
            ("myapp://open", None, "an app's own"),
            ("htp2x://x/", None, "too different to be sure"),
            ("tell:1", None, "short ones are alike by accident"),
            ("example.org:8080/a", Some(SchemeMissing), "a host and a port"),
            ("localhost:3000", Some(SchemeMissing), "of the developer"),
            ("soap.beep://a/", None, "a registered scheme with a dot"),
            ("com.example.app:7x", None, "an app's own, without a port"),
            ("com.example.app:open", None, "or with words"),
            ("mailto:", Some(AddressMissing), "nobody"),
            ("mailto: ", Some(AddressMissing), "only a space"),
            ("mailto:name", Some(AddressMissing), "a name is no address"),
            ("MAILTO:a@b.example", None, "an address"),
            ("mailto:a%40b.example?subject=x", None, "encoded"),
            ("mailto:?subject=x", None, "the reader says to whom"),
            ("mailto:?", Some(AddressMissing), "nothing at all"),
            ("tel:", Some(AddressMissing), "no number"),
            ("tel:+1-201-555-0123", None, "a number"),
        ] {
            assert_eq!(MalformedReason::from_scheme(LinkKind::A, reference), expected, "{reference}: {why}");
        }
        assert_eq!(MalformedReason::from_scheme(LinkKind::Img, "mailto:"), None, "nobody clicks a picture's source");
        assert_eq!(MalformedReason::from_scheme(LinkKind::Img, "htp://x/y.png"), Some(SchemeMistyped));
    }

    /// Those that pages use, and those of the registry that are most like the ones above.
    #[test]
    fn registered_schemes_are_right() {
        for scheme in "about acct aim apt bitcoin blob callto cid coap coaps data dns facetime feed file filesystem ftp ftps geo git gopher gtalk \
            hcp http https httpx-a hxxp icap im imap info ipfs ipns ipp ipps irc ircs itms itms-apps itmss jabber javascript ldap ldaps ldaptls line \
            magnet mailserver market matrix message mid mms mmsh mmst ms-settings msnim mtqp mumble mvn news nfs nntp nntps openid opaquelocktoken \
            payto pkcs11 pop pres rsync rtmp rtmps rtsp rtsps secondlife sftp sgn shttp sieve sip sips skype slack smb smp sms smtp snews snmp spotify \
            ssh steam stun stuns svn teams tel telnet tftp tg turn turns udp urn vnc view-source viber vscode wais webcal whatsapp ws wss xmpp xri \
            ymsgr zoommtg"
            .split_ascii_whitespace()
        {
            let reference = format!("{scheme}:a@b");
            assert_eq!(MalformedReason::from_scheme(LinkKind::A, &reference), None, "{scheme}");
        }
    }

    #[test]
    fn words_are_compared_letter_by_letter() {
        for (one, other, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "abc", 0),
            ("abc", "ABD", 1),
            ("abc", "acb", 1),
            ("abc", "bcd", 2),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(edits(one.as_bytes(), other.as_bytes()), expected, "{one} {other}");
            assert_eq!(edits(other.as_bytes(), one.as_bytes()), expected, "{other} {one}");
        }
        assert_eq!(edits(&[b'a'; 100_000], b"http"), 16, "long ones are not compared at all");
    }
}
