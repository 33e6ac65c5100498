//! The page's metadata, as far as it helps to recognise bylines beside the headline.

use dom_smoothie::Metadata;
use dragline_domain::words::count_words;

use super::layout::{Element, Layout};

/// A line with more words is more than names and a date.
const REMARK_WORDS_MAX: usize = 14;

/// The most words beside a date that are not names: "published", "updated", a month, a weekday.
const WORDS_BESIDE_DATE_MAX: usize = 6;

/// The most words beside a name: "by".
const WORDS_BESIDE_NAME_MAX: usize = 1;

/// A page's metadata.
#[derive(Debug, Default)]
pub(super) struct PageMetadata {
    /// Whether the page declares itself an article, by an author or a date.
    pub(super) is_article: bool,
    /// The words of the headline, of its authors and of the site, in lower case.
    headline: Vec<String>,
    names: Vec<String>,
    /// The days of its publication and last change.
    days: Vec<Day>,
}

/// The kind of page, by its own declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Article,
    /// Posts of several people, or a list. Whatever its author and date, the rest is content too.
    Many,
    /// Not declared.
    Unsaid,
}

impl Kind {
    /// Decides by the schema.org types of the page's main things, and by its Open Graph type.
    pub(super) fn new(types: &[String], og_type: Option<&str>) -> Self {
        const MANY: [&str; 4] = ["DiscussionForumPosting", "QAPage", "CollectionPage", "SearchResultsPage"];
        let is_article = |name: &String| name.ends_with("Article") || name == "BlogPosting";
        if types.iter().any(|name| MANY.contains(&name.as_str())) && !types.iter().any(is_article) {
            Self::Many
        } else if og_type.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("article")) {
            Self::Article
        } else {
            Self::Unsaid
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Day {
    year: u32,
    day: u32,
}

/// A line, and how much of it the markup marks as a date or an author.
#[derive(Debug, Default)]
pub(super) struct Remark {
    pub(super) marked: String,
    pub(super) other: String,
}

impl PageMetadata {
    /// Takes the metadata, and the kind of page.
    pub(super) fn new(metadata: &Metadata, kind: Kind) -> Self {
        let dates = [&metadata.published_time, &metadata.modified_time];
        let names = [&metadata.byline, &metadata.site_name];
        Self {
            is_article: match kind {
                Kind::Article => true,
                Kind::Many => false,
                Kind::Unsaid => metadata.published_time.is_some() || metadata.byline.is_some(),
            },
            headline: words(&metadata.title).collect(),
            names: names.into_iter().flatten().flat_map(|name| words(name)).collect(),
            days: dates.into_iter().flatten().filter_map(|date| day(date)).collect(),
        }
    }

    /// Whether an element contains the headline.
    pub(super) fn is_headline(&self, layout: &Layout<'_>, element: &Element<'_>) -> bool {
        let mut said = String::new();
        for text in layout.texts.get(element.texts.clone()).unwrap_or_default() {
            layout.read(text, |text| said.push_str(text));
            said.push(' ');
        }
        words(&said).eq(self.headline.iter().cloned())
    }

    /// Whether a line contains hardly more than known names and days, or text that its markup marks
    /// as such.
    pub(super) fn says(&self, line: &Remark) -> bool {
        let other: Vec<String> = words(&line.other).collect();
        let marked = count_words(&line.marked);
        let all = count_words(&line.other) + marked;
        if all > REMARK_WORDS_MAX || all == 0 {
            return false;
        }
        let numbers: Vec<u32> = other.iter().filter_map(|word| leading_number(word)).collect();
        let has = |number: u32| numbers.contains(&number);
        // In the reader's time zone it may be another day.
        let is_day =
            |day: &Day| (has(day.year) || has(day.year % 100)) && (day.day.saturating_sub(1)..=day.day + 1).any(has);
        let has_day = self.days.iter().any(is_day);
        let has_name = other.iter().any(|word| self.names.contains(word));
        let is_more = |word: &&String| !(has_day && leading_number(word).is_some() || self.names.contains(*word));
        let more = other.iter().filter(is_more).count();
        if has_day || marked > 0 { more <= WORDS_BESIDE_DATE_MAX } else { has_name && more <= WORDS_BESIDE_NAME_MAX }
    }
}

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Returns the number that a word begins with: 5 of `5th`.
fn leading_number(word: &str) -> Option<u32> {
    word.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Reads the day at the beginning of an ISO 8601 date.
fn day(date: &str) -> Option<Day> {
    let mut parts = date.get(..10)?.split('-').map(|part| part.parse().ok());
    let (year, _, day) = (parts.next()??, parts.next()??, parts.next()??);
    let day: u32 = day;
    Some(Day { year, day })
}
