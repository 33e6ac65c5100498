//! Language tags (BCP 47, RFC 5646).

mod hreflang;

pub use hreflang::{HreflangFault, hreflang_fault};

/// The limit on a tag, in bytes.
const TAG_BYTES_MAX: usize = 64;

/// Returns a tag in its canonical form: `en_us` becomes `en-US`, `ENG` becomes `en`, `zh-hant`
/// becomes `zh-Hant`. `None` if it is not a language tag.
///
/// ```
/// use dragline_domain::language::canonical_tag;
/// assert_eq!(canonical_tag("pt_BR.UTF-8").as_deref(), Some("pt-BR"));
/// assert_eq!(canonical_tag("English"), None);
/// ```
#[must_use]
pub fn canonical_tag(written: &str) -> Option<String> {
    // POSIX locales are accepted, too, which append an encoding or a variant to the country.
    let written = written.trim().split(['.', '@']).next().filter(|tag| tag.len() <= TAG_BYTES_MAX)?;
    let mut parts = written.split(['-', '_']);
    let primary = parts.next()?.to_ascii_lowercase();
    if !matches!(primary.len(), 2 | 3) || !primary.bytes().all(|byte| byte.is_ascii_lowercase()) || primary == "und" {
        return None;
    }
    let mut tag = iso_639_1(&primary).map_or(primary.clone(), str::to_owned);
    let mut is_extended = false;
    for part in parts {
        if !matches!(part.len(), 1..=8) || !part.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return None;
        }
        let mut part = part.to_ascii_lowercase();
        is_extended |= part.len() == 1;
        match part.len() {
            // RFC 5646, 2.1.1: a script and a country, unless they follow a singleton.
            4 if !is_extended => part.get_mut(..1).into_iter().for_each(str::make_ascii_uppercase),
            2 if !is_extended => part.make_ascii_uppercase(),
            _ => {}
        }
        tag.push('-');
        tag.push_str(&part);
    }
    Some(tag)
}

/// Returns the ISO 639-1 code for an ISO 639-3 code, which language detection returns; `None` if
/// there is none, or it is unknown here.
#[must_use]
pub fn iso_639_1(code: &str) -> Option<&'static str> {
    const CODES: &[(&str, &str)] = &[
        ("ara", "ar"),
        ("ben", "bn"),
        ("bul", "bg"),
        ("cat", "ca"),
        ("ces", "cs"),
        ("cmn", "zh"),
        ("zho", "zh"),
        ("dan", "da"),
        ("deu", "de"),
        ("ell", "el"),
        ("eng", "en"),
        ("est", "et"),
        ("fin", "fi"),
        ("fra", "fr"),
        ("heb", "he"),
        ("hin", "hi"),
        ("hrv", "hr"),
        ("hun", "hu"),
        ("ind", "id"),
        ("ita", "it"),
        ("jpn", "ja"),
        ("kor", "ko"),
        ("lav", "lv"),
        ("lit", "lt"),
        ("nld", "nl"),
        ("pes", "fa"),
        ("pol", "pl"),
        ("por", "pt"),
        ("ron", "ro"),
        ("rus", "ru"),
        ("slk", "sk"),
        ("slv", "sl"),
        ("spa", "es"),
        ("srp", "sr"),
        ("swe", "sv"),
        ("tam", "ta"),
        ("tha", "th"),
        ("tur", "tr"),
        ("ukr", "uk"),
        ("urd", "ur"),
        ("vie", "vi"),
    ];
    CODES.iter().find(|(three, _)| *three == code).map(|(_, two)| *two)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_have_one_canonical_form() {
        for (written, expected, why) in [
            ("de", Some("de"), "as it should be"),
            (" EN-us ", Some("en-US"), "the case of letters says nothing"),
            ("en_GB", Some("en-GB"), "as programs write it"),
            ("de_AT.UTF-8@euro", Some("de-AT"), "as POSIX does"),
            ("deu", Some("de"), "the shortest code there is"),
            ("zh-hant-tw", Some("zh-Hant-TW"), "a script"),
            ("es-419", Some("es-419"), "a region by its number"),
            ("sl-nedis", Some("sl-nedis"), "a variant"),
            ("de-DE-u-co-phonebk", Some("de-DE-u-co-phonebk"), "an extension"),
            ("english", None, "a name"),
            ("und", None, "nobody knows"),
            ("", None, "nothing"),
            ("en-", None, "half a tag"),
            ("e n", None, "no tag"),
        ] {
            assert_eq!(canonical_tag(written).as_deref(), expected, "{why}");
        }
    }
}
