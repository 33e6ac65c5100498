//! The terms of a licence, and what they say together.

use dragline_domain::use_preferences::{Purpose, UseStand, UseStands};

use super::LICENSED;

/// A word for a use, and the purposes that it permits and prohibits (section 3.4.1.1).
///
/// `ai-index` is a part of a model's input: who has that alone may not use it, and who lacks it may
/// not either. The words of other vocabularies do not permit anything here.
const WORDS: [(&str, &[Purpose], &[Purpose]); 9] = [
    ("all", &LICENSED, &LICENSED),
    ("ai-all", &[Purpose::AiInput, Purpose::AiTrain], &[Purpose::AiInput, Purpose::AiTrain]),
    ("ai-train", &[Purpose::AiTrain], &[Purpose::AiTrain]),
    ("ai-input", &[Purpose::AiInput], &[Purpose::AiInput]),
    ("ai-index", &[], &[Purpose::AiInput]),
    ("search", &[Purpose::Search], &[Purpose::Search]),
    ("train-ai", &[], &[Purpose::AiTrain]),
    ("train-genai", &[], &[Purpose::AiTrain]),
    ("ai-use", &[], &[Purpose::AiInput]),
];

/// What a list is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListOf {
    /// What is permitted.
    Permitted,
    /// What is prohibited.
    Prohibited,
}

/// The kind of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListKind {
    /// Uses.
    Usage,
    /// Who may use it.
    User,
    /// Anything else: countries, or what a later version knows.
    Other,
}

impl ListKind {
    /// Returns the kind for the value of the attribute `type`.
    pub(super) fn from_type(value: Option<&str>) -> Self {
        match value.map(|value| value.trim().to_ascii_lowercase()).as_deref() {
            // Some leave it out.
            None | Some("" | "usage") => Self::Usage,
            Some("user") => Self::User,
            Some(_) => Self::Other,
        }
    }
}

/// A `<license>` as far as it was read.
#[derive(Clone, Debug, Default)]
pub(super) struct Terms {
    /// The purposes that it lists as permitted; `None` without a list, which permits all.
    permitted: Option<Vec<Purpose>>,
    prohibited: Vec<Purpose>,
    /// Whether it grants its uses on a condition: a price, credit, a report, only some users.
    has_condition: bool,
}

impl Terms {
    /// Notes that it has a condition.
    pub(super) const fn add_condition(&mut self) {
        self.has_condition = true;
    }

    /// Adds a list of words.
    pub(super) fn add_list(&mut self, of: ListOf, kind: ListKind, text: &str) {
        let words: Vec<String> = text
            .split([' ', '\t', '\r', '\n', ','])
            .filter(|word| !word.is_empty())
            .map(str::to_ascii_lowercase)
            .collect();
        let known: Vec<_> = WORDS.iter().filter(|known| words.iter().any(|word| word == known.0)).collect();
        match (kind, of) {
            (ListKind::Usage, ListOf::Permitted) => {
                self.permitted.get_or_insert_default().extend(known.iter().flat_map(|known| known.1));
            }
            (ListKind::Usage, ListOf::Prohibited) => {
                self.prohibited.extend(known.iter().flat_map(|known| known.2));
                // It prohibits something that is not known.
                self.has_condition |= known.is_empty() && !words.is_empty();
            }
            (ListKind::User, ListOf::Permitted) => {
                let names = |name: &str| words.iter().any(|word| word == name);
                self.has_condition |= !(names("commercial") && names("non-commercial"));
            }
            (ListKind::User | ListKind::Other, _) => self.has_condition = true,
        }
    }

    /// Returns what it says of a purpose; `None` if it does not grant it.
    fn stand(&self, purpose: Purpose) -> Option<UseStand> {
        if self.prohibited.contains(&purpose) {
            return Some(UseStand::Reserved);
        }
        let is_granted = self.permitted.as_ref().is_none_or(|permitted| permitted.contains(&purpose));
        is_granted.then_some(if self.has_condition { UseStand::Reserved } else { UseStand::Allowed })
    }
}

/// Whether a token of a server is wanted before anything is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// Yes, even for what is free.
    Wanted,
    /// No.
    NotWanted,
}

/// Returns what the licences of a content say together: the most restrictive stand of each purpose,
/// and that what none of them grants is reserved (section 3.5).
pub(super) fn together(licences: &[Terms], token: Token) -> UseStands {
    if token == Token::Wanted {
        return LICENSED.into_iter().fold(UseStands::NOTHING, |says, purpose| says.with(purpose, UseStand::Reserved));
    }
    if licences.is_empty() {
        // A mistake, which says as much as the line of robots.txt.
        return UseStands::of_mining(UseStand::Reserved);
    }
    LICENSED.into_iter().fold(UseStands::NOTHING, |says, purpose| {
        let stand = licences.iter().filter_map(|terms| terms.stand(purpose)).max();
        says.with(purpose, stand.unwrap_or(UseStand::Reserved))
    })
}
