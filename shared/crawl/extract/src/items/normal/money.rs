//! Amounts of money, in all usual spellings.

use dragline_domain::item::Money;
use serde_json::Number;

/// Longer texts are not prices.
const TEXT_BYTES_MAX: usize = 100;

/// More digits than a price has, and few enough to be exact.
const DIGITS_MAX: usize = 15;

/// The current ISO 4217 codes.
const CODES: &str = "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP CNY COP CRC \
     CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HRK HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES \
     KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB \
     PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH \
     UGX USD UYU UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG";

/// Signs of a single currency; longer ones before those they contain. `$`, `¥` and `kr` are
/// ambiguous.
const SIGNS: [(&str, &str); 34] = [
    ("us$", "USD"),
    ("us $", "USD"),
    ("au$", "AUD"),
    ("ca$", "CAD"),
    ("nz$", "NZD"),
    ("hk$", "HKD"),
    ("nt$", "TWD"),
    ("mx$", "MXN"),
    ("r$", "BRL"),
    ("s$", "SGD"),
    ("c$", "CAD"),
    ("a$", "AUD"),
    ("sfr", "CHF"),
    ("fr.", "CHF"),
    ("zł", "PLN"),
    ("kč", "CZK"),
    ("ft", "HUF"),
    ("лв", "BGN"),
    ("грн", "UAH"),
    ("руб", "RUB"),
    ("euro", "EUR"),
    ("円", "JPY"),
    ("元", "CNY"),
    ("€", "EUR"),
    ("£", "GBP"),
    ("₹", "INR"),
    ("₽", "RUB"),
    ("₩", "KRW"),
    ("₺", "TRY"),
    ("₪", "ILS"),
    ("₫", "VND"),
    ("₴", "UAH"),
    ("₦", "NGN"),
    ("฿", "THB"),
];

/// Currencies with three decimal places.
const THREE_PLACES: [&str; 7] = ["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"];

/// Reads an amount of money; `None` if the text has no amount, or several. An ambiguous point, as
/// in `1.299`, groups digits beside a currency, and is a decimal point otherwise, as in schema.org.
pub(crate) fn money(text: &str) -> Option<Money> {
    let text = text.trim();
    if text.len() > TEXT_BYTES_MAX {
        return None;
    }
    let begins = text.find(|c: char| c.is_ascii_digit())?;
    let ends = begins + text[begins..].find(|c: char| !is_in_number(c)).unwrap_or(text.len() - begins);
    let (mut before, number, behind) = (&text[..begins], &text[begins..ends], &text[ends..]);
    // `,-` and `.—` mean no decimals.
    let number = number.trim_end_matches(|c: char| !c.is_ascii_digit());
    if behind.contains(|c: char| c.is_ascii_digit()) || behind.contains('%') {
        return None;
    }
    // The number may begin with a point: `.99`.
    let mut whole = number.to_owned();
    if let Some(rest) = before.strip_suffix('.').filter(|rest| !rest.ends_with(char::is_alphabetic)) {
        before = rest;
        whole = format!("0.{number}");
    }
    let currency = currency(before).or_else(|| currency(behind)).map(str::to_owned);
    let is_negative = before.trim_end().ends_with(['-', '−', '–']) || before.trim_start().starts_with(['-', '−']);
    let is_bare = before.trim_matches(['-', '+', ' ']).is_empty() && behind.trim().is_empty();
    let decimals = if is_bare || currency.as_deref().is_some_and(|code| THREE_PLACES.contains(&code)) { 4 } else { 3 };
    let digits = plain(&whole, decimals)?;
    let digits = if is_negative { format!("-{digits}") } else { digits };
    Some(Money { amount: json_number(&digits)?, currency })
}

/// Reads a currency: a code, or an unambiguous sign.
pub(crate) fn currency(text: &str) -> Option<&'static str> {
    let text = text.trim();
    let words = text.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| word.len() == 3);
    let code = words.filter(|word| word.bytes().all(|byte| byte.is_ascii_uppercase())).find_map(code);
    code.or_else(|| {
        let text = text.to_lowercase();
        SIGNS.iter().find(|(sign, _)| has_sign(&text, sign)).map(|(_, code)| *code)
    })
}

/// Returns an ISO 4217 code, ignoring case; `None` if it is not one.
pub(super) fn code(text: &str) -> Option<&'static str> {
    CODES.split_whitespace().find(|code| code.eq_ignore_ascii_case(text.trim()))
}

/// Whether a text has a sign outside of longer words.
fn has_sign(text: &str, sign: &str) -> bool {
    text.match_indices(sign).any(|(at, _)| {
        let before = text[..at].chars().next_back().is_some_and(char::is_alphabetic);
        let behind = text[at + sign.len()..].chars().next().is_some_and(char::is_alphabetic);
        let begins = sign.starts_with(char::is_alphabetic) && before;
        let ends = sign.ends_with(char::is_alphabetic) && behind && sign != "euro" && sign != "лв";
        !begins && !ends
    })
}

/// Converts digits with at most one point to a JSON number; a whole number has no decimals.
pub(super) fn json_number(digits: &str) -> Option<Number> {
    let digits = match digits.split_once('.') {
        Some((whole, decimals)) if decimals.bytes().all(|digit| digit == b'0') => whole,
        _ => digits,
    };
    serde_json::from_str(digits).ok()
}

pub(super) fn is_in_number(c: char) -> bool {
    c.is_ascii_digit() || is_mark(c) || is_space(c)
}

fn is_mark(c: char) -> bool {
    matches!(c, '.' | ',' | '\'' | '’' | '٫' | '٬')
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}')
}

/// Reduces a number to digits and at most one point; `None` if it is not one number. `thousands` is
/// the number of digits after which a single point is taken for a group separator: 3, or 4 for
/// never.
pub(super) fn plain(number: &str, thousands: usize) -> Option<String> {
    let marks: Vec<(usize, char)> = number.char_indices().filter(|(_, c)| !c.is_ascii_digit()).collect();
    let decimal = match marks.as_slice() {
        [(at, mark @ ('.' | ','))] => {
            let (whole, behind) = (&number[..*at], number.len() - at - 1);
            let limit = if *mark == ',' { 3 } else { thousands };
            let groups = behind == limit && !whole.is_empty() && whole.len() <= 3 && !whole.starts_with('0');
            (!groups).then_some(*at)
        }
        [.., (at, mark @ ('.' | ',' | '٫'))] => {
            // The last separator begins the decimals if it is the only one of its kind.
            let is_only = marks.iter().filter(|(_, other)| other == mark).count() == 1;
            is_only.then_some(*at)
        }
        _ => None,
    };
    let (whole, decimals) = match decimal {
        Some(at) => (&number[..at], number[at..].chars().skip(1).collect::<String>()),
        None => (number, String::new()),
    };
    let groups: Vec<&str> = whole.split(|c: char| !c.is_ascii_digit()).collect();
    let separators: Vec<char> = whole.chars().filter(|c| !c.is_ascii_digit()).collect();
    let is_grouped = match groups.as_slice() {
        [_] => true,
        // In India, groups before the last one have two digits.
        [first, inner @ .., last] => {
            (1..=3).contains(&first.len())
                && last.len() == 3
                && (inner.iter().all(|group| group.len() == 3) || inner.iter().all(|group| group.len() == 2))
                && separators.windows(2).all(|pair| pair[0] == pair[1] || is_space(pair[0]) && is_space(pair[1]))
        }
        [] => false,
    };
    let digits = groups.concat();
    if !is_grouped || digits.is_empty() || digits.len() + decimals.len() > DIGITS_MAX {
        return None;
    }
    let digits = digits.trim_start_matches('0');
    let digits = if digits.is_empty() { "0" } else { digits };
    Some(if decimals.is_empty() { digits.to_owned() } else { format!("{digits}.{decimals}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_read_in_every_usual_spelling() {
        for (text, amount, code, why) in [
            ("1.299,00 €", "1299", Some("EUR"), "German"),
            ("$1,299.00", "1299", None, "dollars are those of several countries"),
            ("US$1,299.50", "1299.5", Some("USD"), "these are not"),
            ("US $ 20", "20", Some("USD"), "with spaces"),
            ("1 299,00", "1299", None, "French, without a currency"),
            ("1\u{202f}299,00\u{a0}€", "1299", Some("EUR"), "with the spaces that typographers use"),
            ("CHF 1'299.-", "1299", Some("CHF"), "Swiss"),
            ("CHF 1’299.50", "1299.5", Some("CHF"), "with a typographer's apostrophe"),
            ("1299,- Kč", "1299", Some("CZK"), "no decimals"),
            ("19.99", "19.99", None, "as schema.org has it"),
            ("1.299", "1.299", None, "the same: no currency stands beside it"),
            ("1.299 €", "1299", Some("EUR"), "a shop groups digits"),
            ("€1,299", "1299", Some("EUR"), "commas do, too"),
            ("KWD 1.250", "1.25", Some("KWD"), "a currency with three places"),
            ("₹1,29,999.00", "129999", Some("INR"), "Indian groups"),
            ("1.234.567,89 €", "1234567.89", Some("EUR"), "several groups"),
            ("EUR 5", "5", Some("EUR"), "a code"),
            ("5EUR", "5", Some("EUR"), "without a space"),
            ("Price: 12.50 GBP", "12.5", Some("GBP"), "with words around it"),
            ("0.99", "0.99", None, "less than one"),
            ("0,125 €", "0.125", Some("EUR"), "nobody groups after a nought"),
            ("£.99", "0.99", Some("GBP"), "no nought"),
            ("-5,00 €", "-5", Some("EUR"), "a discount"),
            ("R$ 10,00", "10", Some("BRL"), "reais"),
            ("100 kr", "100", None, "crowns are those of several countries"),
            ("49 zł", "49", Some("PLN"), "letters that are a sign"),
            ("12,50 Euro", "12.5", Some("EUR"), "a word"),
            ("007", "7", None, "noughts in front"),
        ] {
            let found = money(text).unwrap_or_else(|| panic!("{text}: {why}"));
            assert_eq!((found.amount.to_string().as_str(), found.currency.as_deref()), (amount, code), "{text}: {why}");
        }
        for (text, why) in [
            ("", "nothing"),
            ("free", "a word"),
            ("10–20 €", "two prices"),
            ("2 for 10 €", "an offer"),
            ("20%", "a share"),
            ("1.2.3", "a version"),
            ("1,23,45", "no groups"),
            ("12345678901234567890", "too many digits"),
            ("2021-03-03", "a date"),
            (&"1".repeat(200), "not a price"),
        ] {
            assert_eq!(money(text), None, "{text}: {why}");
        }
    }
}
