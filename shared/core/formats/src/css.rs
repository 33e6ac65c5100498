//! The references of style sheets: other style sheets, pictures and fonts (CSS Syntax 3, CSS Values
//! 4 section 4.5, CSS Cascade 5 section 2).

use cssparser::{ParseError, Parser, Token};
use dragline_domain::document::LinkKind;
use memchr::memchr2_iter;

/// The depth up to which blocks are read. Deeper ones are skipped.
const DEPTH_MAX: usize = 64;

/// The context of the current tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CssContext {
    /// Rules, declarations and values: URLs are pictures.
    Anything,
    /// `@import`, before its URL.
    Import,
    /// `@import` after its URL, or `@namespace`, whose URL is only a name.
    Nothing,
    /// `@font-face`.
    Font,
    /// `image-set()`, where strings are URLs.
    ImageSet,
    /// `url()` with a string.
    Url(LinkKind),
}

impl CssContext {
    /// Returns the kind of a URL in this context; `None` if it is not loaded.
    const fn kind(self) -> Option<LinkKind> {
        match self {
            Self::Anything | Self::ImageSet => Some(LinkKind::Img),
            Self::Import => Some(LinkKind::Css),
            Self::Font => Some(LinkKind::Font),
            Self::Url(kind) => Some(kind),
            Self::Nothing => None,
        }
    }
}

/// Calls back with each reference of a style sheet, or of the declarations in a `style` attribute,
/// in order and as written, with escapes decoded.
///
/// ```
/// use dragline_domain::document::LinkKind;
/// use dragline_formats::css::references;
///
/// let mut found = Vec::new();
/// references("@import 'base.css'; p { background: url(paper.png) }", |kind, url| found.push((kind, url.to_owned())));
/// assert_eq!(found, [(LinkKind::Css, "base.css".to_owned()), (LinkKind::Img, "paper.png".to_owned())]);
/// ```
pub fn references(text: &str, mut found: impl FnMut(LinkKind, &str)) {
    if may_refer(text) {
        read(&mut Parser::new(text), CssContext::Anything, 0, &mut found);
    }
}

/// Whether there may be references: most attributes and many style sheets have none, and are not
/// parsed.
fn may_refer(text: &str) -> bool {
    let bytes = text.as_bytes();
    let ends_with = |at: usize, name: &[u8]| {
        at.checked_sub(name.len()).is_some_and(|start| bytes[start..at].eq_ignore_ascii_case(name))
    };
    memchr2_iter(b'(', b'@', bytes).any(|at| match bytes[at] {
        b'@' => bytes[at..].get(..7).is_some_and(|word| word.eq_ignore_ascii_case(b"@import")),
        _ => [&b"url"[..], b"src", b"image-set"].iter().any(|name| ends_with(at, name)),
    }) || (bytes.contains(&b'\\') && (bytes.contains(&b'(') || bytes.contains(&b'@')))
}

/// Reads to the end of the parser's input.
fn read<'t>(parser: &mut Parser<'t>, around: CssContext, depth: usize, found: &mut dyn FnMut(LinkKind, &str)) {
    let mut inside = around;
    while let Ok(token) = parser.next().cloned() {
        match token {
            Token::AtKeyword(name) => {
                inside = match_name(
                    &name,
                    &[
                        ("import", CssContext::Import),
                        ("namespace", CssContext::Nothing),
                        ("font-face", CssContext::Font),
                    ],
                )
                .unwrap_or(around);
            }
            Token::Semicolon => inside = around,
            Token::UnquotedUrl(url) => {
                tell(inside, &url, found);
                inside = after_url(inside);
            }
            Token::QuotedString(url)
                if matches!(inside, CssContext::Import | CssContext::ImageSet | CssContext::Url(_)) =>
            {
                tell(inside, &url, found);
                inside = after_url(inside);
            }
            Token::Function(name) => {
                let url = inside.kind().map_or(CssContext::Nothing, CssContext::Url);
                let functions = [
                    ("url", url),
                    ("src", url),
                    ("image-set", CssContext::ImageSet),
                    ("-webkit-image-set", CssContext::ImageSet),
                ];
                let of_function = match_name(&name, &functions);
                // The condition of an import and the type of an image are not URLs.
                let others = if matches!(inside, CssContext::Import | CssContext::ImageSet) {
                    CssContext::Nothing
                } else {
                    inside
                };
                nested(parser, of_function.unwrap_or(others), depth, found);
                if of_function == Some(url) {
                    inside = after_url(inside);
                }
            }
            Token::CurlyBracketBlock => {
                nested(parser, inside, depth, found);
                inside = around;
            }
            Token::ParenthesisBlock | Token::SquareBracketBlock => nested(parser, inside, depth, found),
            _ => {}
        }
    }
}

/// Reads the contents of brackets that were just opened.
fn nested(parser: &mut Parser<'_>, inside: CssContext, depth: usize, found: &mut dyn FnMut(LinkKind, &str)) {
    if depth < DEPTH_MAX {
        let _ = parser.parse_nested_block(|block| {
            read(block, inside, depth + 1, found);
            Ok::<(), ParseError<()>>(())
        });
    }
}

fn match_name<T: Copy>(name: &str, known: &[(&str, T)]) -> Option<T> {
    known.iter().find(|(known, _)| name.eq_ignore_ascii_case(known)).map(|(_, value)| *value)
}

fn tell(inside: CssContext, url: &str, found: &mut dyn FnMut(LinkKind, &str)) {
    if let Some(kind) = inside.kind() {
        found(kind, url);
    }
}

/// Returns the context after a URL: an import has only one, and so has `url()`.
const fn after_url(inside: CssContext) -> CssContext {
    match inside {
        CssContext::Import | CssContext::Url(_) => CssContext::Nothing,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collect_references(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        references(text, |kind, url| found.push(format!("{kind} {url}")));
        found
    }

    #[test]
    fn references_of_style_sheets_are_found() {
        for (text, expected, why) in [
            ("p { color: red }", &[][..], "nothing"),
            ("p{background:url(a.png)}", &["img a.png"], "as it is"),
            ("p { background: URL( 'a b.png' ) }", &["img a b.png"], "quoted, with other letters"),
            (r"p { background: url(a\29 b.png) } q { background: u\72l(c) }", &["img a)b.png", "img c"], "escaped"),
            ("background: url(a.png), url(\"b.png\")", &["img a.png", "img b.png"], "an attribute"),
            (
                "@import 'a.css'; @IMPORT url(b.css) screen; @import url('c.css') layer(x) supports(d: url(e));",
                &["css a.css", "css b.css", "css c.css"],
                "imports",
            ),
            ("@import 'a.css' 'b.css' url(c);", &["css a.css"], "one each"),
            (
                "@namespace svg url(http://www.w3.org/2000/svg); @charset 'utf-8'; p::before { content: 'x.png' }",
                &[],
                "names and texts",
            ),
            (
                "@font-face { font-family: 'F'; src: local('x'), url(f.woff2) format('woff2'), url('f.woff') } p { background: url(a) }",
                &["font f.woff2", "font f.woff", "img a"],
                "fonts, and what follows them",
            ),
            (
                "p { background: image-set('a.png' 1x, url(b.png) 2x, 'c.avif' type('image/avif')); cursor: -webkit-image-set(url('d') 1x) }",
                &["img a.png", "img b.png", "img c.avif", "img d"],
                "pictures by resolution",
            ),
            (
                "@media print { @supports (a: url(no)) { p { background: url(a) } } }",
                &["img no", "img a"],
                "deep in rules",
            ),
            (
                "p { --x: url(a); mask: var(--y, url(b)) ; filter: url(#c) }",
                &["img a", "img b", "img #c"],
                "in variables",
            ),
            (
                "/* url(a) */ p { content: 'url(b)'; background: url(c",
                &["img c"],
                "not in comments and texts; up to the end",
            ),
            ("p { background: url(a b) } q { background: url(c) }", &["img c"], "not what is no URL"),
            ("@import url(a.css)", &["css a.css"], "without an end"),
            ("} p { background: url(a) } @import 'late.css';", &["img a", "css late.css"], "in the wrong place"),
        ] {
            assert_eq!(collect_references(text), expected, "{why}: {text}");
        }
    }

    #[test]
    fn deep_blocks_are_skipped() {
        let deep = "{".repeat(1_000_000) + "url(a)";
        assert_eq!(collect_references(&deep), Vec::<String>::new());
        let many = "url(a)".repeat(100_000);
        assert_eq!(collect_references(&many).len(), 100_000);
    }
}
