//! The links of the current site as a graph, in the formats of graph programs.

use std::fmt::Write as _;
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;

use dragline_graph::{Edge, Graph, Node};

use crate::error::{Failure, while_writing};
use crate::terminal::{unless_closed, xml_text};

/// A format for graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GraphFormat {
    /// GraphML (graphml.graphdrawing.org), which Gephi, yEd, igraph and NetworkX read.
    Graphml,
    /// DOT, the language of Graphviz.
    Dot,
}

/// The attributes of a URL, with their GraphML types.
const OF_NODE: [(&str, &str); 7] = [
    ("url", "string"),
    ("state", "string"),
    ("title", "string"),
    ("status", "int"),
    ("depth", "int"),
    ("rank", "double"),
    ("linked_from", "long"),
];

/// The attributes of a link.
const OF_EDGE: [&str; 2] = ["kind", "anchor"];

/// Writes the graph to standard output.
///
/// # Errors
/// The graph cannot be read or written.
pub(super) fn write(graph: &Graph, format: GraphFormat) -> Result<(), Failure> {
    let mut out = Out::new(BufWriter::new(io::stdout().lock()), format);
    out.put(&out.head());
    graph.each_node(|id, node| out.node(id, &node))?;
    graph.each_edge(|edge| out.edge(&edge))?;
    out.put(out.tail());
    unless_closed(out.failed.and_then(|()| out.out.flush())).map_err(while_writing)
}

struct Out<W: Write> {
    out: W,
    format: GraphFormat,
    failed: io::Result<()>,
    /// The written number of each URL, by its number in the graph. The latter depends on the order
    /// of discovery.
    numbers: Vec<u32>,
    /// How many URLs were written.
    nodes: u32,
}

impl<W: Write> Out<W> {
    const fn new(out: W, format: GraphFormat) -> Self {
        Self { out, format, failed: Ok(()), numbers: Vec::new(), nodes: 0 }
    }

    /// Gives a URL the next number.
    fn add(&mut self, id: i64) -> u32 {
        self.nodes += 1;
        if let Ok(place) = usize::try_from(id) {
            self.numbers.resize(self.numbers.len().max(place + 1), 0);
            self.numbers[place] = self.nodes;
        }
        self.nodes
    }

    /// Returns the number of a URL; 0 if it was not written, but then no link refers to it.
    fn number(&self, id: i64) -> u32 {
        usize::try_from(id).ok().and_then(|place| self.numbers.get(place)).copied().unwrap_or_default()
    }

    fn put(&mut self, text: &str) {
        if self.failed.is_ok() {
            self.failed = self.out.write_all(text.as_bytes());
        }
    }

    /// Writes a line, and returns whether to go on.
    fn line(&mut self, text: &str) -> ControlFlow<()> {
        self.put(text);
        if self.failed.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn head(&self) -> String {
        match self.format {
            GraphFormat::Dot => "digraph site {\n".to_owned(),
            GraphFormat::Graphml => {
                let mut head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n".to_owned();
                let nodes = OF_NODE.iter().map(|(name, kind)| ("node", *name, *kind));
                for (of, name, kind) in nodes.chain(OF_EDGE.iter().map(|name| ("edge", *name, "string"))) {
                    let _ =
                        writeln!(head, "<key id=\"{name}\" for=\"{of}\" attr.name=\"{name}\" attr.type=\"{kind}\"/>");
                }
                head + "<graph edgedefault=\"directed\">\n"
            }
        }
    }

    const fn tail(&self) -> &'static str {
        match self.format {
            GraphFormat::Dot => "}\n",
            GraphFormat::Graphml => "</graph>\n</graphml>\n",
        }
    }

    fn node(&mut self, id: i64, node: &Node) -> ControlFlow<()> {
        let id = self.add(id);
        let text = |value: Option<String>| value.unwrap_or_default();
        let values: [String; 7] = [
            node.url.clone(),
            node.state.clone(),
            text(node.title.clone()),
            text(node.status.map(|status| status.to_string())),
            text(node.depth.map(|depth| depth.to_string())),
            text(node.rank.map(|rank| format!("{rank:.6}"))),
            node.linked_from.to_string(),
        ];
        let values = OF_NODE.iter().map(|(name, _)| *name).zip(values.iter().map(String::as_str));
        let line = match self.format {
            GraphFormat::Graphml => format!("<node id=\"n{id}\">{}</node>\n", data(values)),
            GraphFormat::Dot => format!("n{id} [label={}{}];\n", quoted(&node.url), attributes(values.skip(1))),
        };
        self.line(&line)
    }

    fn edge(&mut self, edge: &Edge) -> ControlFlow<()> {
        let Edge { from, to, kind, anchor } = edge;
        let (from, to) = (self.number(*from), self.number(*to));
        let values = OF_EDGE.into_iter().zip([kind.as_str(), anchor.as_deref().unwrap_or_default()]);
        let line = match self.format {
            GraphFormat::Graphml => format!("<edge source=\"n{from}\" target=\"n{to}\">{}</edge>\n", data(values)),
            GraphFormat::Dot => format!("n{from} -> n{to} [kind={}{}];\n", quoted(kind), attributes(values.skip(1))),
        };
        self.line(&line)
    }
}

/// Returns elements for the non-empty values.
fn data<'v>(values: impl Iterator<Item = (&'v str, &'v str)>) -> String {
    let values = values.filter(|(_, value)| !value.is_empty());
    values.map(|(name, value)| format!("<data key=\"{name}\">{}</data>", xml_text(value))).collect()
}

/// Returns attributes for the non-empty values.
fn attributes<'v>(values: impl Iterator<Item = (&'v str, &'v str)>) -> String {
    let values = values.filter(|(_, value)| !value.is_empty());
    values.map(|(name, value)| format!(" {name}={}", quoted(value))).collect()
}

/// Quotes a text for Graphviz, on one line and without control characters. A backslash would begin
/// an escape sequence.
fn quoted(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    format!("\"{}\"", text.replace('\\', r"\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn out(format: GraphFormat) -> String {
        let mut out = Out::new(Vec::new(), format);
        let node = |url: &str, title: Option<&str>| Node {
            url: url.to_owned(),
            state: "page".to_owned(),
            outcome_name: None,
            status: Some(200),
            title: title.map(str::to_owned),
            depth: None,
            rank: Some(1.5),
            linked_from: 2,
            links_to: 0,
            lands_on: url.to_owned(),
        };
        let hostile = "\"]; n1 [shape=none] </data><script>\\ \u{1b}\u{0}&amp;\n";
        out.put(&out.head());
        let _ = out.node(1, &node("https://a.example/?a&b", Some(hostile)));
        let _ = out.node(2, &node("https://a.example/2", None));
        let _ = out.edge(&Edge { from: 1, to: 2, kind: "a".to_owned(), anchor: Some(hostile.to_owned()) });
        out.put(out.tail());
        String::from_utf8(out.out).unwrap()
    }

    #[test]
    fn hostile_titles_are_texts_in_both_formats() {
        insta::assert_snapshot!(out(GraphFormat::Dot));
        insta::assert_snapshot!(out(GraphFormat::Graphml));
    }
}
