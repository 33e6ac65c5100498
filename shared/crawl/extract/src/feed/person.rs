//! Authors given as one line.

use dragline_domain::feed::Person;

/// Reads a line with a person: `a@b.example (Name)` as in RSS, `Name (a@b.example)`, `Name
/// <a@b.example>`, or one of them alone. `None` if it is empty.
pub(super) fn person(line: &str) -> Option<Person> {
    let line = line.trim();
    let (before, inner) = [('(', ')'), ('<', '>')]
        .into_iter()
        .find_map(|(opens, closes)| {
            let (before, inner) = line.strip_suffix(closes)?.rsplit_once(opens)?;
            Some((before.trim(), inner.trim()))
        })
        .unwrap_or((line, ""));
    let (name, email) = match (email(before), email(inner)) {
        (Some(email), None) => (inner, Some(email)),
        (None, Some(email)) => (before, Some(email)),
        // An address twice, or a name followed by something else.
        (Some(email), Some(_)) => ("", Some(email)),
        (None, None) => (line, None),
    };
    let person = Person {
        name: Some(name.trim_matches(['"', ' ']).to_owned()).filter(|name| !name.is_empty()),
        email: email.map(str::to_owned),
        url: None,
    };
    (person != Person::default()).then_some(person)
}

/// Returns a text as an e-mail address; `None` if it is not one.
fn email(text: &str) -> Option<&str> {
    let text = text.strip_prefix("mailto:").unwrap_or(text);
    let (local, host) = text.rsplit_once('@')?;
    let is_word = |part: &str| !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || "<>()\"".contains(c));
    (is_word(local) && is_word(host)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_name_people() {
        for (line, name, address, why) in [
            ("a@b.example (Ann Bee)", Some("Ann Bee"), Some("a@b.example"), "RSS 2.0, author"),
            ("Ann Bee (a+c@b.example)", Some("Ann Bee"), Some("a+c@b.example"), "the other way round"),
            ("Ann Bee <a@b.example>", Some("Ann Bee"), Some("a@b.example"), "as in a message"),
            ("\"Bee, Ann\" <mailto:a@b.example>", Some("Bee, Ann"), Some("a@b.example"), "quoted, with a scheme"),
            ("a@b.example", None, Some("a@b.example"), "an address alone"),
            ("Ann Bee", Some("Ann Bee"), None, "a name alone"),
            ("Ann Bee (editor)", Some("Ann Bee (editor)"), None, "what stands behind it is not an address"),
            ("Ann @ Bee", Some("Ann @ Bee"), None, "no address"),
            ("a@b.example ()", None, Some("a@b.example"), "nobody is named"),
            ("a@b.example (a@b.example)", None, Some("a@b.example"), "the address twice"),
        ] {
            let found = person(line).unwrap();
            assert_eq!((found.name.as_deref(), found.email.as_deref()), (name, address), "{line}: {why}");
        }
        assert_eq!(person(" "), None, "nobody");
    }
}
