//! What is shown to people, or logged.

/// Checks that a text has at most `chars_max` characters, on one line, none of them a control
/// character.
pub(crate) fn assert_one_line(shown: &str, chars_max: usize) {
    assert!(!shown.contains(char::is_control), "a control character: {shown:?}");
    let chars = shown.chars().count();
    assert!(chars <= chars_max, "{chars} characters: {shown:?}");
}
