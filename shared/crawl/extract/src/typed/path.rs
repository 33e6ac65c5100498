//! Evaluating paths.

use std::collections::{HashMap, HashSet};

use dom_query::{NodeId, NodeRef};
use dragline_definition::selectors::{Axis, NodeTest, Operand, Path, Predicate, Step};

use super::find::MATCHES_MAX;
use super::text::{self, SEARCHED_BYTES_MAX};
use super::work::Work;

/// The order of a page's nodes, computed when first needed.
#[derive(Default)]
pub(super) struct Order(HashMap<NodeId, usize>);

impl Order {
    fn sort(&mut self, nodes: &mut [NodeRef<'_>], work: &mut Work) {
        let Some(first) = nodes.first().filter(|_| nodes.len() > 1) else { return };
        if self.0.is_empty() {
            let mut root = *first;
            while let Some(parent) = root.parent() {
                root = parent;
            }
            for (place, node) in root.descendants_it().enumerate() {
                if !work.spend(1) {
                    break;
                }
                self.0.insert(node.id, place);
            }
        }
        nodes.sort_by_key(|node| self.0.get(&node.id).copied().unwrap_or(usize::MAX));
    }
}

/// Returns the elements that a path selects from a node, in page order.
pub(super) fn walk<'p>(root: NodeRef<'p>, path: &Path, order: &mut Order, work: &mut Work) -> Vec<NodeRef<'p>> {
    let mut nodes = vec![root];
    for step in &path.steps {
        nodes = take(&nodes, step, work);
        order.sort(&mut nodes, work);
        if nodes.len() > MATCHES_MAX {
            work.cut();
            nodes.truncate(MATCHES_MAX);
        }
    }
    nodes
}

fn take<'p>(from: &[NodeRef<'p>], step: &Step, work: &mut Work) -> Vec<NodeRef<'p>> {
    let mut taken = StepMatches { step, seen: HashSet::new(), nodes: Vec::new() };
    let mut walked = HashSet::new();
    for &node in from {
        match step.axis {
            Axis::Itself => taken.group(vec![node], work),
            Axis::Parent => taken.group(node.parent().into_iter().collect(), work),
            Axis::Child => taken.group(row(node.first_child(), NodeRef::next_sibling, work), work),
            Axis::FollowingSibling => {
                taken.group(row(node.next_sibling(), NodeRef::next_sibling, work), work);
            }
            Axis::PrecedingSibling => {
                taken.group(row(node.prev_sibling(), NodeRef::prev_sibling, work), work);
            }
            Axis::Descendant => {
                // Positions count among the children of one parent. Descendants shared by several
                // nodes are walked once.
                let mut parents = vec![node];
                while let Some(parent) = parents.pop() {
                    if !walked.insert(parent.id) || !work.spend(1) {
                        continue;
                    }
                    let children = row(parent.first_child(), NodeRef::next_sibling, work);
                    parents.extend(children.iter().rev());
                    taken.group(children, work);
                }
            }
        }
    }
    taken.nodes
}

/// Returns the elements in a row of siblings.
fn row<'p>(
    first: Option<NodeRef<'p>>,
    next: fn(&NodeRef<'p>) -> Option<NodeRef<'p>>,
    work: &mut Work,
) -> Vec<NodeRef<'p>> {
    let nodes = std::iter::successors(first, next).take_while(|_| work.spend(1));
    nodes.filter(NodeRef::is_element).collect()
}

struct StepMatches<'s, 'p> {
    step: &'s Step,
    seen: HashSet<NodeId>,
    nodes: Vec<NodeRef<'p>>,
}

impl<'p> StepMatches<'_, 'p> {
    /// Takes the nodes of a group that the step selects.
    fn group(&mut self, mut group: Vec<NodeRef<'p>>, work: &mut Work) {
        if let NodeTest::Name(name) = &self.step.test {
            group.retain(|node| is_named(node, name));
        }
        for predicate in &self.step.predicates {
            let last = group.len();
            let mut position = 0;
            group.retain(|node| {
                position += 1;
                holds(predicate, *node, position, last, work)
            });
        }
        let seen = &mut self.seen;
        self.nodes.extend(group.into_iter().filter(|node| seen.insert(node.id)));
    }
}

fn is_named(node: &NodeRef<'_>, name: &str) -> bool {
    node.qual_name_ref().is_some_and(|own| str::eq_ignore_ascii_case(&own.local, name))
}

/// Whether a predicate holds. The parser has limited the nesting of predicates.
fn holds(predicate: &Predicate, node: NodeRef<'_>, position: usize, last: usize, work: &mut Work) -> bool {
    let mut is =
        |operand: &Operand, test: &dyn Fn(&str) -> bool| values(operand, node, work).iter().any(|value| test(value));
    match predicate {
        Predicate::Position(wanted) => position == *wanted,
        Predicate::Last => position == last,
        Predicate::Has(operand @ Operand::Attribute(_)) => is(operand, &|_| true),
        Predicate::Has(operand) => is(operand, &|value| !value.is_empty()),
        Predicate::Equals(operand, text) => is(operand, &|value| value == text),
        Predicate::Differs(operand, text) => is(operand, &|value| value != text),
        Predicate::Contains(operand, text) => is(operand, &|value| value.contains(&**text)),
        Predicate::StartsWith(operand, text) => is(operand, &|value| value.starts_with(&**text)),
        Predicate::All(parts) => parts.iter().all(|part| holds(part, node, position, last, work)),
        Predicate::Any(parts) => parts.iter().any(|part| holds(part, node, position, last, work)),
        Predicate::Not(part) => !holds(part, node, position, last, work),
    }
}

fn values(operand: &Operand, node: NodeRef<'_>, work: &mut Work) -> Vec<String> {
    match operand {
        Operand::Text => vec![text::collect(node, SEARCHED_BYTES_MAX, work)],
        Operand::Attribute(name) => node.attr(name).map(|value| value.to_string()).into_iter().collect(),
        Operand::Child(name) => {
            let children = row(node.first_child(), NodeRef::next_sibling, work).into_iter();
            children
                .filter(|child| is_named(child, name))
                .map(|child| text::collect(child, SEARCHED_BYTES_MAX, work))
                .collect()
        }
    }
}
