use super::*;

/// Formats a parsed query.
fn shown(node: &Node) -> String {
    let list = |nodes: &[Node]| nodes.iter().map(shown).collect::<Vec<_>>().join(" ");
    match node {
        Node::All(nodes) => format!("(all {})", list(nodes)),
        Node::Any(nodes) => format!("(any {})", list(nodes)),
        Node::Not(node) => format!("(not {})", shown(node)),
        Node::Words(WordRun { part, text, form }) => {
            let part = part.map_or_else(String::new, |part| format!("{}=", part.name()));
            match form {
                Form::Word => format!("{part}{text}"),
                Form::Prefix => format!("{part}{text}…"),
                Form::Phrase => format!("{part}[{text}]"),
            }
        }
        Node::Condition(condition) => format!("{condition:?}"),
    }
}

#[test]
fn queries_are_parsed() {
    for (query, expected, reason) in [
        ("one", "one", "a word"),
        (
            r#"words "a phrase" title:x site:Y.example -z"#,
            r#"(all words [a phrase] title=x Site("y.example") (not z))"#,
            "all at once",
        ),
        ("a OR b c", "(any a (all b c))", "OR binds less than words side by side"),
        ("(a OR b) c", "(all (any a b) c)", "parentheses group"),
        ("a AND NOT b", "(all a (not b))", "other engines' words"),
        ("-(a OR b)", "(not (any a b))", "groups are excluded, too"),
        ("ORACLE NOTE ANDy", "(all ORACLE NOTE ANDy)", "words that begin like those"),
        ("or and not", "(all or and not)", "words in lower case are words"),
        ("sort* title:sort*", "(all sort… title=sort…)", "beginnings"),
        ("--verbose a-b", "(all --verbose a-b)", "hyphens in words"),
        (
            "std::path https://x.example/a 10:30",
            "(all std::path https://x.example/a 10:30)",
            "colons that name no field",
        ),
        ("main() f(x, y)", "(all main() f(x, y))", "parentheses in words"),
        ("(main())", "main()", "and in a group"),
        ("title:“two words” „x y“", "(all title=[two words] [x y])", "other quotation marks"),
        ("after:2026 before:2026-05-17", "(all After(2026-01-01) Before(2026-05-17))", "dates"),
        ("lang:en-GB type:Product", r#"(all Language("en") Type("Product"))"#, "conditions"),
        ("use:ai-train -use:Search", "(all Use(AiTrain) (not Use(Search)))", "what sites reserve"),
        ("字*", "字…", "one character may be a word"),
        ("  a  ", "a", "space around it"),
    ] {
        assert_eq!(parse(query).map(|node| shown(&node)).unwrap(), expected, "{reason}: {query}");
    }
}

#[test]
fn syntax_errors_are_reported_with_their_place() {
    for (query, at, problem) in [
        ("", 0..0, QueryProblem::Empty),
        ("  ", 0..2, QueryProblem::Empty),
        (r#"a "b c"#, 2..3, QueryProblem::OpenQuote),
        (r#"a "" b"#, 2..4, QueryProblem::Nothing),
        ("a (b c", 2..3, QueryProblem::OpenParenthesis),
        ("a (", 2..3, QueryProblem::OpenParenthesis),
        ("a ) b", 2..3, QueryProblem::StrayParenthesis),
        (") b", 0..1, QueryProblem::StrayParenthesis),
        ("a () b", 3..4, QueryProblem::Nothing),
        ("a OR", 4..4, QueryProblem::Nothing),
        ("OR a", 0..1, QueryProblem::Nothing),
        ("a - b", 2..3, QueryProblem::Nothing),
        ("titel:x", 0..5, QueryProblem::NoField("titel".to_owned())),
        ("a title:", 2..8, QueryProblem::NoValue("title".to_owned())),
        ("after:may", 6..9, QueryProblem::NotADate("may".to_owned())),
        ("after:2026-02-30", 6..16, QueryProblem::NotADate("2026-02-30".to_owned())),
        ("use:training", 4..12, QueryProblem::NotAPurpose("training".to_owned())),
        ("site:x.example/a", 5..16, QueryProblem::NotASite("x.example/a".to_owned())),
        ("a*", 0..2, QueryProblem::ShortPrefix("a".to_owned())),
    ] {
        assert_eq!(parse(query), Err(QueryError { problem, at }), "{query}");
    }
}

#[test]
fn a_query_is_of_bounded_size() {
    let problem = |query: &str| parse(query).unwrap_err().problem;
    assert_eq!(problem(&"x".repeat(QUERY_BYTES_MAX + 1)), QueryProblem::TooLong(QUERY_BYTES_MAX));
    assert_eq!(problem(&"x ".repeat(LEAVES_MAX + 1)), QueryProblem::TooManyWords(LEAVES_MAX));
    assert_eq!(problem(&"(".repeat(DEPTH_MAX + 1)), QueryProblem::TooDeep(DEPTH_MAX));
    // Negations are not parentheses, but nest as well.
    assert!(parse(&format!("{}x", "NOT ".repeat(400))).is_ok());
}
