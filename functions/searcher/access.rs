//! Who may call the API of a stack, by its parameters.

use dragline_service::{Access, Role, Token};

/// Returns who may call. `search_access` says whether Lambda lets in those alone whom the account
/// lets invoke the function (`iam`), or `anyone`; `role` is the role of the former, and `tokens`
/// the JSON of the tokens that the latter need, or nothing.
///
/// Without tokens, anyone may search, as Lambda knows nobody of them.
///
/// # Errors
/// Returns what is wrong: nobody may call then.
pub(crate) fn access(search_access: &str, role: &str, tokens: &str) -> Result<Access, String> {
    match search_access {
        "iam" => {
            let role = serde_json::from_value(role.into()).map_err(|_| format!("`{}` is no role", role.escape_debug()));
            Ok(Access::everybody(role?))
        }
        "anyone" if tokens.is_empty() => Ok(Access::everybody(Role::Searcher)),
        "anyone" => {
            let tokens: Vec<Token> = serde_json::from_str(tokens).map_err(|error| format!("the tokens: {error}"))?;
            // An empty list is no permission either.
            Ok(if tokens.is_empty() { Access::everybody(Role::Searcher) } else { Access::with_tokens(tokens) })
        }
        other => Err(format!("`{}` is neither `iam` nor `anyone`", other.escape_debug())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_whom_lambda_does_not_know_changes_anything_without_a_token() {
        let token = Token::new("ada", Role::Owner, "secret").unwrap();
        let tokens = serde_json::to_string(&[token]).unwrap();
        let everybody = |role| format!("{:?}", Access::everybody(role));
        for (search_access, role, tokens, expected, why) in [
            ("iam", "owner", "", Some(everybody(Role::Owner)), "whom the account lets invoke it"),
            ("iam", "reader", &*tokens, Some(everybody(Role::Reader)), "a signature leaves no room for a token"),
            ("anyone", "owner", "", Some(everybody(Role::Searcher)), "whatever role others had"),
            ("anyone", "owner", "[]", Some(everybody(Role::Searcher)), "no token at all"),
            ("anyone", "owner", "{}", None, "no list of tokens"),
            ("anyone", "owner", "[{\"user\": \"ada\"}]", None, "no whole token"),
            ("iam", "king", "", None, "no role"),
            ("", "owner", "", None, "not said"),
        ] {
            let access = access(search_access, role, tokens).ok().map(|access| format!("{access:?}"));
            assert_eq!(access, expected, "{search_access}, {role}, {tokens}: {why}");
        }
        assert!(!access("anyone", "reader", &tokens).unwrap().is_open(), "only holders of a token may call");
    }
}
