//! Labels of encodings: those of the standard, and others in use.

use encoding_rs::Encoding;

/// Returns the encoding of a label; `None` if it is unknown, or if browsers refuse to decode it.
pub(super) fn find_encoding(label: &[u8]) -> Option<&'static Encoding> {
    if Encoding::for_label(label).is_some() {
        return Encoding::for_label_no_replacement(label);
    }
    // A value with a missing quote: browsers do not accept it as a label either.
    if label.iter().any(|byte| matches!(byte, b'"' | b'\'')) {
        return None;
    }
    let bare: String = label
        .iter()
        .filter(|byte| byte.is_ascii_alphanumeric())
        .map(|byte| char::from(byte.to_ascii_lowercase()))
        .collect();
    Encoding::for_label_no_replacement(standard_name(&bare)?.as_bytes())
}

/// Returns the standard's label for another spelling; `bare` has only its letters and digits.
fn standard_name(bare: &str) -> Option<String> {
    let code_page =
        ["windows", "win", "xcp", "mscp", "cp", "ansi", "ms"].iter().find_map(|start| bare.strip_prefix(start));
    if let Some(page) = code_page.filter(|page| page.bytes().all(|byte| byte.is_ascii_digit())) {
        return match page {
            "932" => Some("shift_jis".to_owned()),
            "936" => Some("gbk".to_owned()),
            "949" => Some("euc-kr".to_owned()),
            "950" => Some("big5".to_owned()),
            "866" => Some("ibm866".to_owned()),
            "65001" => Some("utf-8".to_owned()),
            "28591" => Some("iso-8859-1".to_owned()),
            page => Some(format!("windows-{page}")),
        };
    }
    if let Some(part) = bare.strip_prefix("iso8859").or_else(|| bare.strip_prefix("8859")) {
        return Some(format!("iso-8859-{part}"));
    }
    let name = match bare {
        "maccyrillic" | "macukraine" | "macukrainian" | "xmaccyrillic" => "x-mac-cyrillic",
        "macroman" | "applemacintosh" | "xmacroman" | "macos" => "macintosh",
        "utf8mb3" | "utf8mb4" | "utf8bom" | "utf8n" | "utf8" | "unicodeutf8" => "utf-8",
        "koi8r" | "koir" | "koi8" => "koi8-r",
        "koi8u" => "koi8-u",
        "eucjp" | "ujis" => "euc-jp",
        "euckr" | "ksc5601" | "ksc56011987" | "uhc" => "euc-kr",
        "shiftjis" | "sjis" | "xsjis" => "shift_jis",
        "gb2312" | "gb23121980" | "euccn" => "gb2312",
        "gb18030" | "gb180302000" => "gb18030",
        "big5hkscs" | "big5eten" => "big5",
        "latin1" | "isolatin1" | "usascii" => "iso-8859-1",
        "tis620" => "tis-620",
        _ => return None,
    };
    Some(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_in_common_use_are_known() {
        for (label, expected, why) in [
            ("MacCyrillic", Some("x-mac-cyrillic"), "Java's name"),
            ("windows1251", Some("windows-1251"), "without the hyphen"),
            ("Win-1251", Some("windows-1251"), "short"),
            ("CP_1252", Some("windows-1252"), "a code page"),
            ("cp932", Some("Shift_JIS"), "that has another name in the standard"),
            ("ISO8859_2", Some("ISO-8859-2"), "Java's again"),
            ("utf8mb4", Some("UTF-8"), "a database's"),
            ("x-mac-cyrillic", Some("x-mac-cyrillic"), "the standard's name"),
            ("macintosh", Some("macintosh"), "the standard's name"),
            ("iso8859-1", Some("windows-1252"), "one hyphen too few"),
            ("iso 8859-15", Some("ISO-8859-15"), "a space for it"),
            ("ISO_8859_9", Some("windows-1254"), "underscores for it"),
            (" windows-1250 ", Some("windows-1250"), "blanks around it"),
            ("cp1251", Some("windows-1251"), "a code page of the standard"),
            ("win1251", Some("windows-1251"), "shorter"),
            ("UTF8", Some("UTF-8"), "without the hyphen"),
            ("utf_8", Some("UTF-8"), "with another sign"),
            ("SJIS", Some("Shift_JIS"), "short"),
            ("eucJP", Some("EUC-JP"), "another system's"),
            ("ks_c_5601-1987", Some("EUC-KR"), "the standard's own number"),
            ("\u{201c}utf-8\u{201d}", Some("UTF-8"), "in the quotes of a word processor"),
            ("utf-8", Some("UTF-8"), "as it should be"),
            ("iso8859-2\"", None, "a quote that was forgotten before it"),
            ("hz-gb-2312", None, "browsers refuse to decode it"),
            ("iso-2022-kr", None, "and this"),
            ("cp99999", None, "there is none"),
            ("none", None, "a word"),
            ("", None, "nothing"),
        ] {
            assert_eq!(find_encoding(label.as_bytes()).map(Encoding::name), expected, "{label}: {why}");
        }
    }
}
