//! The limits of the work for one file. Work is counted, never timed, so that the same bytes give
//! the same text.

/// The most pages read.
pub(super) const PAGES_MAX: usize = 2_000;

/// The most bytes inflated of the content of one page, form or font, and of all together.
pub(super) const STREAM_BYTES_MAX: usize = 4 << 20;
const STREAMS_BYTES_MAX: usize = 64 << 20;

/// The most operators and glyphs processed.
const STEPS_MAX: usize = 10_000_000;

/// The maximum nesting of forms.
pub(super) const FORMS_DEPTH_MAX: usize = 16;

/// The most graphics states saved at once in one stream; readers must allow for 28 (ISO 32000-1,
/// table C.1).
pub(super) const STATES_MAX: usize = 256;

/// The most fonts read.
pub(super) const FONTS_MAX: usize = 512;

/// How many references are followed from one object to the next, and how many parents are searched
/// for resources.
pub(super) const PARENTS_MAX: usize = 64;

/// The cost of examining an entry of a dictionary or an array, in bytes.
pub(super) const ENTRY_BYTES: usize = 64;

/// The budget for the file is exhausted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exhausted;

/// The remaining budget for the file.
#[derive(Debug)]
pub(super) struct Budget {
    bytes: usize,
    steps: usize,
}

impl Budget {
    pub(super) const FULL: Self = Self { bytes: STREAMS_BYTES_MAX, steps: STEPS_MAX };

    /// Returns the most bytes that may be inflated of the next stream.
    pub(super) fn stream_bytes_max(&self) -> usize {
        self.bytes.min(STREAM_BYTES_MAX)
    }

    /// Counts bytes inflated or examined.
    pub(super) fn spend_bytes(&mut self, bytes: usize) -> Result<(), Exhausted> {
        let left = self.bytes.checked_sub(bytes);
        self.bytes = left.unwrap_or(0);
        left.map(drop).ok_or(Exhausted)
    }

    /// Counts an operator or a glyph.
    pub(super) fn spend_step(&mut self) -> Result<(), Exhausted> {
        self.steps = self.steps.checked_sub(1).ok_or(Exhausted)?;
        Ok(())
    }
}
