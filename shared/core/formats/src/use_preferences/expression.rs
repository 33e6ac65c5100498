//! Preferences as a list of uses: the vocabulary of the IETF, and Cloudflare's content signals.

use dragline_domain::use_preferences::{Purpose, UseStand, UseStands};

/// Reads a preference in the vocabulary of draft-ietf-aipref-vocab-06: a dictionary of Structured
/// Fields (RFC 9651 section 3.2) with `y` or `n` for each category.
///
/// Earlier drafts had other categories, which sites may still write: `bots` for all automated
/// processing, which applies where nothing narrower is said, `train-genai`, and `ai-output`.
///
/// By the RFC a dictionary with a mistake says nothing, and the last of several values counts. Here
/// what can be read counts, and of several values the most restrictive: a mistake must not become a
/// permission. Letter case does not matter, either.
#[must_use]
pub fn content_usage(expression: &str) -> UseStands {
    let mut said = UseStands::NOTHING;
    let mut of_bots = None;
    for (label, value) in members(expression) {
        let stand = match value {
            "y" | "Y" => UseStand::Allowed,
            "n" | "N" => UseStand::Reserved,
            _ => continue,
        };
        match label.to_ascii_lowercase().as_str() {
            "search" => said = said.with(Purpose::Search, stand),
            "ai-use" | "ai-output" => said = said.with(Purpose::AiInput, stand),
            "train-ai" | "train-genai" => said = said.with(Purpose::AiTrain, stand),
            "bots" => of_bots = of_bots.max(Some(stand)),
            _ => {}
        }
    }
    UseStands {
        search: said.search.or(of_bots),
        ai_input: said.ai_input.or(of_bots),
        ai_train: said.ai_train.or(of_bots),
        archive: said.archive,
    }
}

/// Reads content signals, as Cloudflare describes them: `search`, `ai-input` and `ai-train`, each
/// with `yes` or `no`. Of several values the most restrictive counts.
#[must_use]
pub fn content_signal(expression: &str) -> UseStands {
    members(expression).fold(UseStands::NOTHING, |said, (label, value)| {
        let purpose = [Purpose::Search, Purpose::AiInput, Purpose::AiTrain]
            .into_iter()
            .find(|purpose| label.eq_ignore_ascii_case(purpose.name()));
        let stand = match value {
            _ if value.eq_ignore_ascii_case("yes") => UseStand::Allowed,
            _ if value.eq_ignore_ascii_case("no") => UseStand::Reserved,
            _ => return said,
        };
        purpose.map_or(said, |purpose| said.with(purpose, stand))
    })
}

/// Returns the members of a dictionary with a value, without their parameters: commas and
/// semicolons in quoted strings and in parentheses are not separators.
fn members(expression: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = expression;
    let members = std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = end_of_member(rest);
        let (member, behind) = rest.split_at(end);
        rest = behind.strip_prefix(',').unwrap_or(behind);
        Some(member)
    });
    members.filter_map(|member| {
        let (label, value) = member.split_once('=')?;
        let value = value.split(';').next().unwrap_or_default();
        // `label;parameter=value` has no value of its own.
        (!label.contains(';')).then_some((label.trim(), value.trim()))
    })
}

/// Returns where a member ends: at the next comma outside quoted strings and parentheses. If one of
/// these is never closed, it is none.
fn end_of_member(text: &str) -> usize {
    let plain = text.find(',').unwrap_or(text.len());
    let (mut is_quoted, mut is_escaped, mut depth) = (false, false, 0_usize);
    for (at, octet) in text.bytes().enumerate() {
        match octet {
            _ if std::mem::take(&mut is_escaped) => {}
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            b'(' if !is_quoted => depth += 1,
            b')' if !is_quoted => depth = depth.saturating_sub(1),
            b',' if !is_quoted && depth == 0 => return at,
            _ => {}
        }
    }
    if is_quoted || depth > 0 { plain } else { text.len() }
}

#[cfg(test)]
mod tests {
    use super::UseStand::{Allowed, Reserved};
    use super::*;

    /// What is said of search, input and training.
    type Said = (Option<UseStand>, Option<UseStand>, Option<UseStand>);

    fn said(stands: UseStands) -> Said {
        assert_eq!(stands.archive, None, "no form speaks of archives");
        (stands.search, stands.ai_input, stands.ai_train)
    }

    #[test]
    fn usage_preferences_are_read() {
        let (y, n) = (Some(Allowed), Some(Reserved));
        let table: [(&str, Said, &str); 24] = [
            ("", (None, None, None), "nothing"),
            ("train-ai=n", (None, None, n), "one"),
            ("train-ai=y, search=n", (n, None, y), "two"),
            ("ai-use=n", (None, n, None), "input of a model"),
            ("ai-output=n", (None, n, None), "as an earlier draft called it"),
            ("train-genai=n", (None, None, n), "an earlier draft's narrower training"),
            ("train-ai=y, train-genai=n", (None, None, n), "the more restrictive of both"),
            ("bots=n", (n, n, n), "all automated processing"),
            ("bots=n, search=y", (y, n, n), "except what is said of by name"),
            ("search=y,bots=n", (y, n, n), "in any order"),
            ("bots=y, train-ai=n", (y, y, n), "the other way round"),
            ("Train-AI=N", (None, None, n), "letter case is no mistake that allows"),
            (" train-ai = n ", (None, None, n), "nor are blanks"),
            ("train-ai=n;exceptions=3", (None, None, n), "parameters do not matter"),
            ("train-ai;x=n", (None, None, None), "nor do they count as values"),
            ("train-ai", (None, None, None), "true is neither"),
            ("train-ai=\"n\"", (None, None, None), "nor is a string"),
            ("train-ai=?0", (None, None, None), "nor a boolean"),
            ("x=\"a, train-ai=n\"", (None, None, None), "within a string"),
            ("x=(a, train-ai=n), search=n", (n, None, None), "within a list"),
            ("x=\"a, train-ai=n", (None, None, n), "a string without end is none"),
            ("train-ai=y, train-ai=n", (None, None, n), "the more restrictive of two"),
            ("train-ai=n, train-ai=y", (None, None, n), "in any order"),
            ("=,;, train-ai=n", (None, None, n), "a mistake does not spoil the rest"),
        ];
        for (expression, expected, why) in table {
            assert_eq!(said(content_usage(expression)), expected, "{expression:?}: {why}");
        }
    }

    #[test]
    fn content_signals_are_read() {
        let (y, n) = (Some(Allowed), Some(Reserved));
        let table: [(&str, Said, &str); 7] = [
            ("search=yes, ai-input=no, ai-train=no", (y, n, n), "all three"),
            ("search=yes,ai-train=no", (y, None, n), "what is left out is not said"),
            ("Search=YES", (y, None, None), "in any case"),
            ("ai-train=n", (None, None, None), "a value of the other form"),
            ("use=no", (None, None, None), "a signal that nobody knows"),
            ("ai-train=yes, ai-train=no", (None, None, n), "the more restrictive of two"),
            ("archive=no", (None, None, None), "no signal speaks of archives"),
        ];
        for (expression, expected, why) in table {
            assert_eq!(said(content_signal(expression)), expected, "{expression:?}: {why}");
        }
    }
}
