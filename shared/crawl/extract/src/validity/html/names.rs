//! Which elements have which place in the rules of the HTML standard for building a tree.

pub(super) fn is_void(name: &str) -> bool {
    matches!(
        name,
        "area"
            | "base"
            | "basefont"
            | "bgsound"
            | "br"
            | "col"
            | "embed"
            | "frame"
            | "hr"
            | "img"
            | "input"
            | "keygen"
            | "link"
            | "meta"
            | "param"
            | "source"
            | "track"
            | "wbr"
            | "image"
    )
}

/// Elements whose end tags other tags imply.
pub(super) fn is_implied_end(name: &str) -> bool {
    matches!(name, "dd" | "dt" | "li" | "optgroup" | "option" | "p" | "rb" | "rp" | "rt" | "rtc")
}

/// Elements that may be open when the page ends.
pub(super) fn may_stay_open(name: &str) -> bool {
    is_implied_end(name) || matches!(name, "body" | "html" | "tbody" | "td" | "tfoot" | "th" | "thead" | "tr")
}

pub(super) fn is_heading(name: &str) -> bool {
    matches!(name, "h1" | "h2" | "h3" | "h4" | "h5" | "h6")
}

pub(super) fn is_formatting(name: &str) -> bool {
    matches!(
        name,
        "a" | "b" | "big" | "code" | "em" | "font" | "i" | "nobr" | "s" | "small" | "strike" | "strong" | "tt" | "u"
    )
}

/// Start tags that end a paragraph.
pub(super) fn closes_paragraph(name: &str) -> bool {
    is_heading(name)
        || matches!(
            name,
            "address"
                | "article"
                | "aside"
                | "blockquote"
                | "center"
                | "details"
                | "dialog"
                | "dir"
                | "div"
                | "dl"
                | "fieldset"
                | "figcaption"
                | "figure"
                | "footer"
                | "form"
                | "header"
                | "hgroup"
                | "hr"
                | "listing"
                | "main"
                | "menu"
                | "nav"
                | "ol"
                | "p"
                | "plaintext"
                | "pre"
                | "search"
                | "section"
                | "summary"
                | "ul"
                | "xmp"
        )
}

/// Elements whose end tag ends what is implied, and is an error if something else is open.
pub(super) fn is_block(name: &str) -> bool {
    matches!(name, "applet" | "button" | "marquee" | "object" | "select" | "template")
        || closes_paragraph(name) && !is_heading(name) && !matches!(name, "p" | "hr" | "plaintext" | "xmp")
}

/// The category "special" of the standard.
pub(super) fn is_special(name: &str) -> bool {
    is_block(name)
        || is_heading(name)
        || is_void(name) && name != "image"
        || matches!(
            name,
            "body"
                | "caption"
                | "colgroup"
                | "dd"
                | "dt"
                | "frameset"
                | "head"
                | "html"
                | "iframe"
                | "li"
                | "noembed"
                | "noframes"
                | "noscript"
                | "p"
                | "plaintext"
                | "script"
                | "source"
                | "style"
                | "table"
                | "tbody"
                | "td"
                | "textarea"
                | "tfoot"
                | "th"
                | "thead"
                | "title"
                | "tr"
                | "xmp"
        )
}

/// Elements outside of which nothing is in scope.
pub(super) fn ends_scope(name: &str) -> bool {
    matches!(name, "applet" | "caption" | "html" | "marquee" | "object" | "select" | "table" | "td" | "template" | "th")
}

/// Elements that may stand in a head without ending it.
pub(super) fn is_of_head(name: &str) -> bool {
    matches!(
        name,
        "base"
            | "basefont"
            | "bgsound"
            | "link"
            | "meta"
            | "noframes"
            | "noscript"
            | "script"
            | "style"
            | "template"
            | "title"
    )
}

/// The parts of a table.
pub(super) fn is_of_table(name: &str) -> bool {
    matches!(name, "caption" | "col" | "colgroup" | "tbody" | "td" | "tfoot" | "th" | "thead" | "tr")
}

/// Start tags that end SVG and `MathML`.
pub(super) fn breaks_out(name: &str) -> bool {
    is_heading(name)
        || matches!(
            name,
            "b" | "big"
                | "blockquote"
                | "body"
                | "br"
                | "center"
                | "code"
                | "dd"
                | "div"
                | "dl"
                | "dt"
                | "em"
                | "embed"
                | "head"
                | "hr"
                | "i"
                | "img"
                | "li"
                | "listing"
                | "menu"
                | "meta"
                | "nobr"
                | "ol"
                | "p"
                | "pre"
                | "ruby"
                | "s"
                | "small"
                | "span"
                | "strong"
                | "strike"
                | "sub"
                | "sup"
                | "table"
                | "tt"
                | "u"
                | "ul"
                | "var"
        )
}
