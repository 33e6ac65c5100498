//! Feeds the page's text to the tokenizer, without what would overflow its stack.
//!
//! html5gum 0.9 makes nested calls for the attributes of a tag, several frames for each: a tag with some thousand attributes would end the process,
//! without a panic that could be caught.

use std::cell::Cell;
use std::convert::Infallible;

use html5gum::{Readable, Reader, StringReader};

/// The most attributes of one tag that are read. Pages have some tens at most.
const ATTRIBUTES_MAX: usize = 256;

/// Counts the attributes of the tag being read.
#[derive(Debug, Default)]
pub(super) struct AttributeCount(Cell<usize>);

impl AttributeCount {
    /// Notes that a tag begins.
    pub(super) fn begin_tag(&self) {
        self.0.set(0);
    }

    /// Notes that an attribute begins.
    pub(super) fn begin_attribute(&self) {
        self.0.set(self.0.get() + 1);
    }

    fn is_excessive(&self) -> bool {
        self.0.get() > ATTRIBUTES_MAX
    }
}

/// Reads a page; in a tag with too many attributes, everything up to the next `>` is skipped.
#[derive(Debug)]
pub(super) struct PageReader<'h, 'c> {
    text: StringReader<'h>,
    attributes: &'c AttributeCount,
}

impl<'h, 'c> PageReader<'h, 'c> {
    pub(super) fn new(html: &'h str, attributes: &'c AttributeCount) -> Self {
        Self { text: html.to_reader(), attributes }
    }

    /// Returns the `>` that ends the tag; `None` at the end of the page.
    fn end_of_tag(&mut self) -> Option<&'static [u8]> {
        self.attributes.begin_tag();
        let mut buffer = [0; 4];
        loop {
            let Ok::<_, Infallible>(piece) = self.text.read_until(b">", &mut buffer);
            if piece? == b">" {
                return Some(b">");
            }
        }
    }
}

impl Reader for PageReader<'_, '_> {
    type Error = Infallible;

    fn read_byte(&mut self) -> Result<Option<u8>, Infallible> {
        if self.attributes.is_excessive() {
            return Ok(self.end_of_tag().map(|end| end[0]));
        }
        self.text.read_byte()
    }

    fn try_read_string(&mut self, text: &[u8], case_sensitive: bool) -> Result<bool, Infallible> {
        self.text.try_read_string(text, case_sensitive)
    }

    fn read_until<'b>(&'b mut self, needle: &[u8], buffer: &'b mut [u8; 4]) -> Result<Option<&'b [u8]>, Infallible> {
        if self.attributes.is_excessive() {
            return Ok(self.end_of_tag());
        }
        self.text.read_until(needle, buffer)
    }
}
