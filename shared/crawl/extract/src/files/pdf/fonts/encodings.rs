//! The characters of a simple font's codes: predefined encodings (ISO 32000-1, annex D), and glyph
//! names.

use read_fonts::ps::PredefinedEncoding;
use read_fonts::ps::agl;

/// The longest glyph name looked up, in bytes; the list's own have at most 31 characters, those of
/// ligatures combine several.
const NAME_BYTES_MAX: usize = 256;

/// Characters 32 to 254 of the font Symbol; NUL for gaps.
const SYMBOL: &str = " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_\0αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼\
    \0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\
    €ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…\0\0↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑\0\0\0\0\0\0\0\0\0\0\0〉∫⌠\0⌡";

/// Characters 32 to 254 of the font Zapf Dingbats; NUL for gaps.
const DINGBATS: &str = " ✁✂✃✄☎✆✇✈✉☛☞✌✍✎✏✐✑✒✓✔✕✖✗✘✙✚✛✜✝✞✟✠✡✢✣✤✥✦✧★✩✪✫✬✭✮✯✰✱✲✳✴✵✶✷✸✹✺✻✼✽✾✿❀❁❂❃❄❅❆❇❈❉❊❋●❍■❏❐❑❒▲▼◆❖◗❘❙❚❛❜❝❞\
    \0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\
    ❡❢❣❤❥❦❧♣♦♥♠①②③④⑤⑥⑦⑧⑨⑩❶❷❸❹❺❻❼❽❾❿➀➁➂➃➄➅➆➇➈➉➊➋➌➍➎➏➐➑➒➓➔→↔↕➘➙➚➛➜➝➞➟➠➡➢➣➤➥➦➧➨➩➪➫➬➭➮➯\0➱➲➳➴➵➶➷➸➹➺➻➼➽➾";

/// A predefined encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NamedEncoding {
    Standard,
    WinAnsi,
    MacRoman,
    MacExpert,
    Symbol,
    Dingbats,
}

impl NamedEncoding {
    /// Returns the encoding of this name.
    pub(super) fn from_name(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"StandardEncoding" => Self::Standard,
            b"WinAnsiEncoding" => Self::WinAnsi,
            b"MacRomanEncoding" => Self::MacRoman,
            b"MacExpertEncoding" => Self::MacExpert,
            _ => return None,
        })
    }

    /// Returns the built-in encoding of a standard font of this name.
    pub(super) fn built_in(font: &[u8]) -> Option<Self> {
        let contains = |part: &[u8]| memchr::memmem::find(font, part).is_some();
        if contains(b"ZapfDingbats") || contains(b"Dingbats") {
            Some(Self::Dingbats)
        } else if contains(b"Symbol") {
            Some(Self::Symbol)
        } else {
            None
        }
    }

    /// Returns the text of a code; `None` if it has none.
    pub(super) fn text(self, code: u8) -> Option<String> {
        let nth = |table: &str| table.chars().nth(usize::from(code.checked_sub(32)?)).filter(|c| *c != '\0');
        let character = match self {
            Self::Standard => return text_of_name(PredefinedEncoding::Standard.name(code)),
            Self::MacExpert => return text_of_name(PredefinedEncoding::Expert.name(code)),
            Self::WinAnsi | Self::MacRoman if code < 32 => None,
            Self::WinAnsi => Some(match code {
                // The table's notes 3, 5 and 6.
                0x7F | 0x81 | 0x8D | 0x8F | 0x90 | 0x9D => '\u{2022}',
                0xA0 => ' ',
                0xAD => '-',
                _ => decoded(encoding_rs::WINDOWS_1252, code)?,
            }),
            Self::MacRoman => Some(if code == 0xCA { ' ' } else { decoded(encoding_rs::MACINTOSH, code)? }),
            Self::Symbol => nth(SYMBOL),
            Self::Dingbats => nth(DINGBATS),
        };
        character.map(String::from)
    }
}

fn decoded(encoding: &'static encoding_rs::Encoding, code: u8) -> Option<char> {
    let code = [code];
    let text = encoding.decode_without_bom_handling(&code).0;
    text.chars().next().filter(|c| *c != char::REPLACEMENT_CHARACTER)
}

/// Whether a glyph name has the form of those of Zapf Dingbats, `a` and a number. In other fonts
/// such names have no meaning.
pub(super) fn is_dingbat(name: &str) -> bool {
    name.strip_prefix('a').is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns the text of a glyph name by the specification of Adobe's glyph list; `None` if it has
/// none.
pub(super) fn text_of_name(name: &str) -> Option<String> {
    if name.len() > NAME_BYTES_MAX {
        return None;
    }
    let text: String = agl::name_to_chars(name).collect();
    if text.is_empty() {
        // TeX's bitmap fonts name a character by itself.
        return (name.len() == 1).then(|| name.to_owned());
    }
    Some(text)
}
