//! The elements of a page, as html5ever's tree builder makes them of tags.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::iter::successors;
use std::rc::Rc;

use html5ever::interface::{ElementFlags, NodeOrText};
use html5ever::tendril::StrTendril;
use html5ever::tree_builder::{QuirksMode, TreeSink};
use html5ever::{Attribute, QualName, local_name, ns};

/// An element, or the document.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) name: QualName,
    /// Where the tag is that made it.
    pub(super) at: usize,
    pub(super) parent: RefCell<Option<Rc<Self>>>,
    pub(super) depth: Cell<usize>,
    /// In a template or `noscript`.
    pub(super) is_apart: Cell<bool>,
    /// Whether it has a start tag whose end tag is missed. Elements that are implied have none, nor
    /// those that the tree builder repeats after an error.
    pub(super) needs_end: Cell<bool>,
    is_integration_point: bool,
}

impl Node {
    fn new(name: QualName, at: usize, is_integration_point: bool) -> Rc<Self> {
        Rc::new(Self {
            name,
            at,
            parent: RefCell::default(),
            depth: Cell::default(),
            is_apart: Cell::default(),
            needs_end: Cell::default(),
            is_integration_point,
        })
    }

    pub(super) fn is_foreign(&self) -> bool {
        self.name.ns != ns!(html) && self.name.ns != ns!()
    }

    /// Whether it is of this name, in lower case.
    pub(super) fn is(&self, name: &str) -> bool {
        str::eq_ignore_ascii_case(&self.name.local, name)
    }

    /// Returns it and what is around it, from inside.
    pub(super) fn and_around(self: &Rc<Self>) -> impl Iterator<Item = Rc<Self>> + use<> {
        successors(Some(Rc::clone(self)), |node| node.parent.borrow().clone())
    }

    fn put_into(&self, parent: &Rc<Self>) {
        let is_apart = !parent.is_foreign() && (parent.is("template") || parent.is("noscript"));
        self.is_apart.set(is_apart || parent.is_apart.get());
        self.depth.set(parent.depth.get() + 1);
        *self.parent.borrow_mut() = Some(Rc::clone(parent));
    }
}

/// What the tree builder made and said.
#[derive(Debug)]
pub(super) struct Page {
    document: Rc<Node>,
    /// Where the token is that is handled.
    pub(super) at: Cell<usize>,
    pub(super) errors: RefCell<Vec<Cow<'static, str>>>,
    /// The last element that was made.
    pub(super) made: RefCell<Option<Rc<Node>>>,
    /// The last element whose name was asked for.
    pub(super) asked: RefCell<Rc<Node>>,
}

impl Default for Page {
    fn default() -> Self {
        let document = Node::new(QualName::new(None, ns!(), local_name!("")), 0, false);
        Self {
            asked: RefCell::new(Rc::clone(&document)),
            document,
            at: Cell::default(),
            errors: RefCell::default(),
            made: RefCell::default(),
        }
    }
}

impl TreeSink for Page {
    type Handle = Rc<Node>;
    type Output = ();
    type ElemName<'a> = &'a QualName;

    fn finish(self) {}

    fn parse_error(&self, message: Cow<'static, str>) {
        self.errors.borrow_mut().push(message);
    }

    fn get_document(&self) -> Rc<Node> {
        Rc::clone(&self.document)
    }

    fn elem_name<'a>(&'a self, target: &'a Rc<Node>) -> &'a QualName {
        self.asked.borrow_mut().clone_from(target);
        &target.name
    }

    fn create_element(&self, name: QualName, _: Vec<Attribute>, flags: ElementFlags) -> Rc<Node> {
        let node = Node::new(name, self.at.get(), flags.mathml_annotation_xml_integration_point);
        *self.made.borrow_mut() = Some(Rc::clone(&node));
        node
    }

    fn create_comment(&self, _: StrTendril) -> Rc<Node> {
        self.get_document()
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> Rc<Node> {
        self.get_document()
    }

    fn append(&self, parent: &Rc<Node>, child: NodeOrText<Rc<Node>>) {
        match child {
            NodeOrText::AppendNode(node) if !Rc::ptr_eq(&node, &self.document) => node.put_into(parent),
            _ => {}
        }
    }

    /// What is misplaced in a table counts as in it: there it is closed.
    fn append_based_on_parent_node(&self, table: &Rc<Node>, _: &Rc<Node>, child: NodeOrText<Rc<Node>>) {
        self.append(table, child);
    }

    fn append_before_sibling(&self, sibling: &Rc<Node>, child: NodeOrText<Rc<Node>>) {
        self.append(sibling, child);
    }

    fn get_template_contents(&self, template: &Rc<Node>) -> Rc<Node> {
        Rc::clone(template)
    }

    fn same_node(&self, one: &Rc<Node>, other: &Rc<Node>) -> bool {
        Rc::ptr_eq(one, other)
    }

    fn is_mathml_annotation_xml_integration_point(&self, node: &Rc<Node>) -> bool {
        node.is_integration_point
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}
    fn set_quirks_mode(&self, _: QuirksMode) {}
    fn add_attrs_if_missing(&self, _: &Rc<Node>, _: Vec<Attribute>) {}
    fn remove_from_parent(&self, _: &Rc<Node>) {}
    fn reparent_children(&self, _: &Rc<Node>, _: &Rc<Node>) {}
}
