//! The language codes of `hreflang`.

/// What is wrong with a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HreflangFault {
    /// It does not have the form of a language tag: `en_US`, `english`.
    Form,
    /// There is no such language of two letters: `jp`.
    Language,
    /// There is no such country: `en-UK`.
    Region,
}

impl HreflangFault {
    /// Returns what is wrong, in a few words.
    #[must_use]
    pub const fn explanation(self) -> &'static str {
        match self {
            Self::Form => "it is not a language tag",
            Self::Language => "there is no such language in ISO 639-1",
            Self::Region => "there is no such country in ISO 3166-1",
        }
    }
}

/// Returns what is wrong with a value of `hreflang`; `None` if nothing is found.
///
/// It is `x-default`, or a tag of BCP 47 (RFC 5646, 2.1): a language, perhaps a script, a region,
/// variants and extensions, whose form is checked. Languages of two letters are looked up in ISO
/// 639-1 and countries of two letters in ISO 3166-1. Those of three letters or digits are not, nor
/// are scripts: they are many, and hardly ever mistaken for another. Private tags (`x-…`) and the
/// few irregular ones of old name no language that readers could ask for.
#[must_use]
pub fn hreflang_fault(code: &str) -> Option<HreflangFault> {
    if code.eq_ignore_ascii_case("x-default") {
        return None;
    }
    let mut parts = code.split('-').peekable();
    let language = parts.next().unwrap_or_default();
    let is_letters = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphabetic());
    if !matches!(language.len(), 2 | 3) || !is_letters(language) {
        return Some(HreflangFault::Form);
    }
    let is_known = |list: &str, part: &str| list.split(' ').any(|known| known.eq_ignore_ascii_case(part));
    if language.len() == 2 && !is_known(LANGUAGES, language) {
        return Some(HreflangFault::Language);
    }
    // A language within a language: `zh-yue`.
    if language.len() == 3 || is_known(MACRO_LANGUAGES, language) {
        parts.next_if(|part| part.len() == 3 && is_letters(part));
    }
    parts.next_if(|part| part.len() == 4 && is_letters(part));
    let is_region =
        |part: &str| part.len() == 2 && is_letters(part) || part.len() == 3 && part.bytes().all(|b| b.is_ascii_digit());
    let region = parts.next_if(|part| is_region(part));
    let is_subtag = |part: &str| matches!(part.len(), 1..=8) && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_variant = |part: &str| part.len() >= 5 || part.len() == 4 && part.starts_with(|c: char| c.is_ascii_digit());
    while parts.next_if(|part| is_subtag(part) && is_variant(part)).is_some() {}
    // The rest is of extensions, each of which begins with a single character.
    let has_good_rest = parts.peek().is_none_or(|part| part.len() == 1) && parts.all(is_subtag) && !code.ends_with('-');
    match region {
        _ if !has_good_rest => Some(HreflangFault::Form),
        Some(country) if country.len() == 2 && !is_known(COUNTRIES, country) => Some(HreflangFault::Region),
        _ => None,
    }
}

/// The languages of two letters that have languages of their own (RFC 5646, 2.2.2).
const MACRO_LANGUAGES: &str = "ar kv ms sw uz zh";

/// ISO 639-1, with the older codes that BCP 47 keeps (`iw`, `in`, `ji`, `jw`, `mo`, `sh`).
const LANGUAGES: &str = "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo es et eu \
    fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik in io is it iu iw ja ji jv jw ka kg ki kj kk kl km kn ko kr \
    ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mo mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm \
    rn ro ru rw sa sc sd se sg sh si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi \
    yo za zh zu";

/// ISO 3166-1, alpha-2.
const COUNTRIES: &str = "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG \
    CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS \
    GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC \
    MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY \
    QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY \
    UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW";

#[cfg(test)]
mod tests {
    use super::*;
    use HreflangFault::{Form, Language, Region};

    #[test]
    fn codes() {
        for (code, expected, why) in [
            ("de", None, "a language"),
            ("de-AT", None, "in a country"),
            ("DE-at", None, "in any case"),
            ("x-default", None, "for everyone else"),
            ("X-Default", None, "in any case, too"),
            ("zh-Hant", None, "in a script"),
            ("zh-Hans-SG", None, "in both"),
            ("zh-yue-HK", None, "a language of a language"),
            ("gsw", None, "a language of three letters"),
            ("gsw-CH", None, "in a country"),
            ("es-419", None, "a region by its number"),
            ("sl-nedis", None, "a variant"),
            ("de-CH-1901", None, "one that begins with a digit"),
            ("de-DE-u-co-phonebk", None, "an extension"),
            ("iw", None, "an older code"),
            ("en-UK", Some(Region), "the country is GB"),
            ("en-EU", Some(Region), "a union is no country"),
            ("es-LA", None, "Laos, though it was hardly meant"),
            ("jp", Some(Language), "the language is ja"),
            ("cn-CN", Some(Language), "the language is zh"),
            ("en_US", Some(Form), "an underscore"),
            ("english", Some(Form), "a name"),
            ("", Some(Form), "nothing"),
            ("en-", Some(Form), "half a tag"),
            ("en--US", Some(Form), "a hole in it"),
            ("en-US-GB", Some(Form), "two countries"),
            ("US-en", Some(Language), "the wrong way round"),
            ("x-klingon", Some(Form), "a private tag"),
            ("de, en", Some(Form), "two languages"),
            ("d\u{e9}", Some(Form), "no letters of ASCII"),
            ("en-\u{fc}", Some(Form), "nor here"),
        ] {
            assert_eq!(hreflang_fault(code), expected, "{code}: {why}");
        }
    }

    #[test]
    fn lists_are_in_order_and_complete() {
        for (list, number) in [(LANGUAGES, 190), (COUNTRIES, 249)] {
            let codes: Vec<&str> = list.split(' ').collect();
            assert!(codes.is_sorted_by(|one, next| one < next), "{list}");
            assert!(codes.iter().all(|code| code.len() == 2));
            assert_eq!(codes.len(), number);
        }
    }
}
