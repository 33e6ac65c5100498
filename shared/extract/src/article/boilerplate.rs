//! What is among the main part of a page without being of its content: captions, dates and names under the headline, credits, links to other pages.
//!
//! Each rule is about a block by itself, or by its place. Those with words know English ones alone.

use super::blocks::{Block, Kind};
use crate::tree::in_one_line;

/// What becomes of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is part of the text.
    Kept,
    /// It goes with a picture: no part of the text, but it stays beside its picture.
    Caption,
    /// It is dropped.
    Boilerplate,
}

/// What is known of the page, in lower case.
pub(super) struct About {
    title: String,
    byline: String,
}

impl About {
    pub(super) fn new(title: Option<&str>, byline: Option<&str>) -> Self {
        let lower = |value: Option<&str>| in_one_line(value.unwrap_or_default()).to_lowercase();
        Self { title: lower(title), byline: lower(byline) }
    }
}

/// How far from its beginning a part repeats the headline, and names its authors.
const HEADLINE_WITHIN: usize = 6;
const BYLINE_WITHIN: usize = 8;

/// A block with so many words is content, however it begins.
const REMARK_WORDS_MAX: usize = 14;
const CREDIT_WORDS_MAX: usize = 40;

/// A link with so many words may be a sentence.
const LINK_WORDS_MAX: usize = 40;
const LINK_WORDS_MIN: usize = 3;

/// A paragraph from which on a text goes on: it has so many bytes, and less than half of them in links.
const PARAGRAPH_BYTES_MIN: usize = 80;

/// How credits begin, and remarks of rights.
const CREDITS: &[&str] = &["photo", "image ", "image:", "(image", "(photo", "(ap photo", "©"];

/// How remarks begin that are about the page, the site or other pages.
const REMARKS: &[&str] = &[
    "advert",
    "all rights reserved",
    "also read",
    "article continues",
    "click here",
    "continue reading",
    "copyright",
    "credit:",
    "don't miss",
    "don’t miss",
    "download our",
    "follow her on",
    "follow him on",
    "follow us",
    "get the latest",
    "getty images",
    "last updated",
    "listen to this",
    "loading",
    "more from",
    "most read",
    "posted",
    "published",
    "read more",
    "recommended",
    "related articles",
    "related stories",
    "related:",
    "see more",
    "share this",
    "sign up",
    "sponsored",
    "(story continues",
    "story continues",
    "subscribe",
    "tags",
    "this document is subject to copyright",
    "top stories",
    "updated",
    "| updated",
    "want more stories",
    "watch live",
    "watch:",
    "you may also",
];

const MONTHS: &[&str] = &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

const WORDS_OF_DATES: &[&str] = &[
    "am",
    "at",
    "cst",
    "est",
    "et",
    "friday",
    "fri",
    "gmt",
    "monday",
    "mon",
    "on",
    "pm",
    "pst",
    "published",
    "saturday",
    "sat",
    "sunday",
    "sun",
    "thursday",
    "thu",
    "tuesday",
    "tue",
    "updated",
    "utc",
    "wednesday",
    "wed",
];

/// Says of each block what becomes of it.
pub(super) fn judge(blocks: &[Block], about: &About) -> Vec<Verdict> {
    let is_prose = |block: &Block| {
        block.kind == Kind::Paragraph
            && block.text.len() > PARAGRAPH_BYTES_MIN
            && block.linked_chars * 2 < block.text.chars().count()
    };
    let prose_ends = blocks.iter().rposition(is_prose).map_or(0, |last| last + 1);
    let judge_one = |(place, block): (usize, &Block)| {
        if block.kind == Kind::Caption {
            return Verdict::Caption;
        }
        let text = block.text.to_lowercase();
        let words = text.split_whitespace().count();
        let is_boilerplate = place < HEADLINE_WITHIN && repeats_headline(block.kind, &text, words, about)
            || is_remark(&text, words)
            || is_date(&text)
            || place < BYLINE_WITHIN && is_byline(&text, words, about)
            || leads_elsewhere(block, words, place >= prose_ends, blocks.len());
        if is_boilerplate { Verdict::Boilerplate } else { Verdict::Kept }
    };
    blocks.iter().enumerate().map(judge_one).collect()
}

fn repeats_headline(kind: Kind, text: &str, words: usize, about: &About) -> bool {
    text == about.title || kind == Kind::Heading && words > 3 && about.title.contains(text)
}

fn is_remark(text: &str, words: usize) -> bool {
    let begins = |with: &[&str]| with.iter().any(|&beginning| text.starts_with(beginning));
    words <= REMARK_WORDS_MAX && begins(REMARKS) || words <= CREDIT_WORDS_MAX && begins(CREDITS)
}

/// Whether a text is hardly more than a date with its year.
fn is_date(text: &str) -> bool {
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_number = |word: &&&str| word.bytes().all(|byte| byte.is_ascii_digit());
    let is_year =
        |word: &&str| word.len() == 4 && (word.starts_with("19") || word.starts_with("20")) && is_number(&word);
    let is_of_date = |word: &&&str| {
        is_number(word) || MONTHS.iter().any(|month| word.starts_with(month)) || WORDS_OF_DATES.contains(word)
    };
    words.len() <= REMARK_WORDS_MAX
        && words.iter().any(is_year)
        && words.iter().filter(is_of_date).count() * 3 >= words.len() * 2
}

fn is_byline(text: &str, words: usize, about: &About) -> bool {
    words <= 10 && (text.starts_with("by ") || !about.byline.is_empty() && words > 1 && about.byline.contains(text))
}

/// Whether a block is one link, and stands behind the text or is a paragraph of its own: then it is about another page.
fn leads_elsewhere(block: &Block, words: usize, is_behind_prose: bool, blocks: usize) -> bool {
    let is_link = block.linked_chars * 10 >= block.text.chars().count() * 9;
    let is_own_paragraph = block.kind == Kind::Paragraph && blocks > 3;
    is_link
        && matches!(block.kind, Kind::Paragraph | Kind::Item)
        && (LINK_WORDS_MIN..=LINK_WORDS_MAX).contains(&words)
        && (is_behind_prose || is_own_paragraph)
}
