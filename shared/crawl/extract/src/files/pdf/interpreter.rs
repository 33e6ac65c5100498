//! Interprets the operators of pages and of the forms that they draw (ISO 32000-1, sections 8 and
//! 9), and places their glyphs.

use std::rc::Rc;

use lopdf::{Dictionary, Document, Object};

use super::content::{Operand, Operations, Operator};
use super::fonts::{Direction, DrawnGlyph, Font, Fonts, inflate};
use super::layout::{Layout, PlacedGlyph};
use super::limits::{Budget, ENTRY_BYTES, Exhausted, FORMS_DEPTH_MAX, STATES_MAX};
use super::matrix::{Matrix, Point};
use crate::files::Text;

/// Totals of a page.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    /// The number of glyphs.
    pub(super) glyphs: usize,
    /// The number of glyphs with unknown text.
    pub(super) unknown: usize,
    /// The total area of its pictures.
    pub(super) pictures_area: f32,
    /// Whether a part of it could not be read.
    pub(super) is_damaged: bool,
}

/// The fewest bytes of a string of spaced-out letters. In a shorter one, the spacing is a space
/// between words, as Ghostscript writes it.
const SPACED_OUT_BYTES_MIN: usize = 4;

/// Interprets content, with the necessary parts of the document.
#[derive(Debug)]
pub(super) struct Interpreter<'d> {
    document: &'d Document,
    fonts: Fonts<'d>,
    pub(super) budget: Budget,
    pub(super) text: Text,
    layout: Layout,
    pub(super) tally: Tally,
}

/// The state that `q` saves.
#[derive(Clone, Debug)]
struct State {
    matrix: Matrix,
    font: Option<Rc<Font>>,
    size: f32,
    character_spacing: f32,
    word_spacing: f32,
    scale: f32,
    leading: f32,
    rise: f32,
}

/// A stream being read: of a page, or of a form.
#[derive(Debug)]
struct Frame<'d> {
    operations: Operations,
    resources: Option<&'d Dictionary>,
    state: State,
    saved: Vec<State>,
    /// The number of `q` operators that could not be saved for lack of room.
    unsaved: usize,
    /// The positions of the next glyph and of the line's start.
    place: Matrix,
    line: Matrix,
}

impl<'d> Frame<'d> {
    fn new(content: Vec<u8>, resources: Option<&'d Dictionary>, state: State) -> Self {
        Self {
            operations: Operations::new(content),
            resources,
            state,
            saved: Vec::new(),
            unsaved: 0,
            place: Matrix::IDENTITY,
            line: Matrix::IDENTITY,
        }
    }

    fn move_line(&mut self, x: f32, y: f32) {
        self.line = Matrix::translation(x, y).then(self.line);
        self.place = self.line;
    }

    fn move_place(&mut self, x: f32, y: f32) {
        self.place = Matrix::translation(x, y).then(self.place);
    }
}

impl<'d> Interpreter<'d> {
    pub(super) fn new(document: &'d Document) -> Self {
        Self {
            document,
            fonts: Fonts::new(document),
            budget: Budget::FULL,
            text: Text::default(),
            layout: Layout::default(),
            tally: Tally::default(),
        }
    }

    /// Reads the content of a page.
    ///
    /// # Errors
    /// Fails if the file's budget is exhausted. The text keeps what was read before.
    pub(super) fn read(&mut self, content: Vec<u8>, resources: Option<&'d Dictionary>) -> Result<(), Exhausted> {
        self.tally = Tally::default();
        let state = State {
            matrix: Matrix::IDENTITY,
            font: None,
            size: 0.0,
            character_spacing: 0.0,
            word_spacing: 0.0,
            scale: 1.0,
            leading: 0.0,
            rise: 0.0,
        };
        let mut frames = vec![Frame::new(content, resources, state)];
        let read = self.read_frames(&mut frames);
        self.layout.end_line(&mut self.text);
        read
    }

    fn read_frames(&mut self, frames: &mut Vec<Frame<'d>>) -> Result<(), Exhausted> {
        while let Some(frame) = frames.last_mut() {
            let Some(operator) = frame.operations.read_next() else {
                frames.pop();
                continue;
            };
            self.budget.spend_step()?;
            if self.text.is_full() {
                return Err(Exhausted);
            }
            if operator == Operator::Draw {
                if let Some(form) = self.draw(frame)? {
                    if frames.len() < FORMS_DEPTH_MAX {
                        frames.push(form);
                    } else {
                        self.tally.is_damaged = true;
                    }
                }
            } else {
                self.operate(operator, frame)?;
            }
        }
        Ok(())
    }

    fn operate(&mut self, operator: Operator, frame: &mut Frame<'d>) -> Result<(), Exhausted> {
        let operands = frame.operations.operands();
        let number = |at: usize| match operands.get(at) {
            Some(Operand::Number(number)) => *number,
            _ => 0.0,
        };
        let matrix = || Matrix([number(0), number(1), number(2), number(3), number(4), number(5)]);
        match operator {
            Operator::Save if frame.saved.len() < STATES_MAX => frame.saved.push(frame.state.clone()),
            Operator::Save => frame.unsaved += 1,
            Operator::Restore if frame.unsaved > 0 => frame.unsaved -= 1,
            Operator::Restore => frame.state = frame.saved.pop().unwrap_or_else(|| frame.state.clone()),
            Operator::Transform => frame.state.matrix = matrix().then(frame.state.matrix),
            Operator::BeginText => (frame.place, frame.line) = (Matrix::IDENTITY, Matrix::IDENTITY),
            Operator::SetFont => {
                if let [.., Operand::Name(name), Operand::Number(size)] = operands {
                    let (name, size) = (name.clone(), *size);
                    frame.state.font = self.font(frame.resources, &name)?;
                    frame.state.size = size;
                }
            }
            Operator::SetState => self.set_state(frame)?,
            Operator::SetCharacterSpacing => frame.state.character_spacing = number(0),
            Operator::SetWordSpacing => frame.state.word_spacing = number(0),
            Operator::SetScale => frame.state.scale = number(0) / 100.0,
            Operator::SetLeading => frame.state.leading = number(0),
            Operator::SetRise => frame.state.rise = number(0),
            Operator::Move => {
                let (x, y) = (number(0), number(1));
                frame.move_line(x, y);
            }
            Operator::MoveAndSetLeading => {
                let (x, y) = (number(0), number(1));
                frame.state.leading = -y;
                frame.move_line(x, y);
            }
            Operator::SetMatrix => (frame.place, frame.line) = (matrix(), matrix()),
            Operator::NextLine => frame.move_line(0.0, -frame.state.leading),
            Operator::Show | Operator::ShowAdjusted => {
                let shown = operands.last().cloned();
                self.show(frame, shown.as_ref())?;
            }
            Operator::ShowOnNextLine => {
                let shown = operands.last().cloned();
                frame.move_line(0.0, -frame.state.leading);
                self.show(frame, shown.as_ref())?;
            }
            Operator::ShowSpacedOnNextLine => {
                let (words, characters, shown) = (number(0), number(1), operands.last().cloned());
                (frame.state.word_spacing, frame.state.character_spacing) = (words, characters);
                frame.move_line(0.0, -frame.state.leading);
                self.show(frame, shown.as_ref())?;
            }
            Operator::InlineImage => self.tally.pictures_area += frame.state.matrix.area(),
            _ => {}
        }
        Ok(())
    }

    /// Looks a resource up.
    fn resource(
        &mut self,
        resources: Option<&'d Dictionary>,
        kind: &[u8],
        name: &[u8],
    ) -> Result<Option<&'d Object>, Exhausted> {
        self.budget.spend_bytes(ENTRY_BYTES)?;
        let kinds = resources.and_then(|resources| resources.get_deref(kind, self.document).ok());
        Ok(kinds.and_then(|kinds| kinds.as_dict().ok()?.get_deref(name, self.document).ok()))
    }

    fn font(&mut self, resources: Option<&'d Dictionary>, name: &[u8]) -> Result<Option<Rc<Font>>, Exhausted> {
        let font = self.resource(resources, b"Font", name)?.and_then(|font| font.as_dict().ok());
        font.map_or(Ok(None), |font| self.fonts.font(font, &mut self.budget))
    }

    /// Applies a graphics state, which may set the font too (section 8.4.5).
    fn set_state(&mut self, frame: &mut Frame<'d>) -> Result<(), Exhausted> {
        let Some(Operand::Name(name)) = frame.operations.operands().last() else { return Ok(()) };
        let state = self.resource(frame.resources, b"ExtGState", name)?.and_then(|state| state.as_dict().ok());
        let font = state.and_then(|state| state.get_deref(b"Font", self.document).ok()?.as_array().ok());
        let Some([font, size]) = font.map(Vec::as_slice) else { return Ok(()) };
        let font = self.document.dereference(font).ok().and_then(|(_, font)| font.as_dict().ok());
        if let (Some(font), Ok(size)) = (font, size.as_float()) {
            frame.state.font = self.fonts.font(font, &mut self.budget)?;
            frame.state.size = size;
        }
        Ok(())
    }

    /// Draws a picture or a form; returns a form to be read next.
    fn draw(&mut self, frame: &Frame<'d>) -> Result<Option<Frame<'d>>, Exhausted> {
        let Some(Operand::Name(name)) = frame.operations.operands().last() else { return Ok(None) };
        let object = self.resource(frame.resources, b"XObject", name)?;
        let Some(stream) = object.and_then(|object| object.as_stream().ok()) else { return Ok(None) };
        match stream.dict.get_deref(b"Subtype", self.document).and_then(Object::as_name) {
            Ok(b"Image") => {
                self.tally.pictures_area += frame.state.matrix.area();
                Ok(None)
            }
            Ok(b"Form") => {
                let Some(content) = inflate(stream, &mut self.budget)? else {
                    self.tally.is_damaged = true;
                    return Ok(None);
                };
                let matrix = stream.dict.get_deref(b"Matrix", self.document).ok().and_then(Matrix::read);
                let resources = stream.dict.get_deref(b"Resources", self.document).and_then(Object::as_dict).ok();
                let matrix = matrix.unwrap_or(Matrix::IDENTITY).then(frame.state.matrix);
                // Forms in old files use the page's resources (section 7.8.3).
                let resources = resources.or(frame.resources);
                Ok(Some(Frame::new(content, resources, State { matrix, ..frame.state.clone() })))
            }
            _ => Ok(None),
        }
    }

    fn show(&mut self, frame: &mut Frame<'d>, shown: Option<&Operand>) -> Result<(), Exhausted> {
        match shown {
            Some(Operand::Text(bytes)) => self.show_text(frame, bytes),
            Some(Operand::Array(parts)) => {
                for part in parts {
                    match part {
                        Operand::Text(bytes) => self.show_text(frame, bytes)?,
                        Operand::Number(back) => {
                            let state = &frame.state;
                            let back = -back / 1000.0 * state.size;
                            match state.font.as_ref().map_or(Direction::Right, |font| font.direction()) {
                                Direction::Right => frame.move_place(back * state.scale, 0.0),
                                Direction::Down => frame.move_place(0.0, back),
                            }
                        }
                        _ => {}
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn show_text(&mut self, frame: &mut Frame<'d>, bytes: &[u8]) -> Result<(), Exhausted> {
        let Some(font) = frame.state.font.clone() else {
            self.tally.glyphs += bytes.len();
            self.tally.unknown += bytes.len();
            return Ok(());
        };
        let counts = if bytes.len() < SPACED_OUT_BYTES_MIN { Spacing::IsGap } else { Spacing::IsOfGlyph };
        font.show(bytes, |shown| {
            self.budget.spend_step()?;
            self.place(frame, &font, counts, shown);
            if self.text.is_full() { Err(Exhausted) } else { Ok(()) }
        })
    }

    /// Places a glyph at the pen, and advances the pen (section 9.4.4).
    fn place(&mut self, frame: &mut Frame<'d>, font: &Font, spacing: Spacing, shown: DrawnGlyph<'_>) {
        let state = &frame.state;
        let width = shown.width * state.size;
        let space = state.character_spacing + if shown.is_space { state.word_spacing } else { 0.0 };
        let drawn = if spacing == Spacing::IsGap { width } else { width + space };
        let way = |length: f32, space: f32| match font.direction() {
            Direction::Right => ((length + space) * state.scale, 0.0),
            Direction::Down => (0.0, space - length),
        };
        let to_page = frame.place.then(state.matrix);
        let tall = to_page.way(0.0, state.size * font.em());
        let wide = to_page.way(state.size * state.scale * font.em(), 0.0);
        self.tally.glyphs += 1;
        self.tally.unknown += usize::from(shown.text.is_none());
        let (drawn_x, drawn_y) = way(drawn, 0.0);
        let glyph = PlacedGlyph {
            text: shown.text.unwrap_or_default(),
            at: Matrix::translation(0.0, state.rise).then(to_page).origin(),
            way: to_page.way(drawn_x, drawn_y),
            forward: match font.direction() {
                Direction::Right => wide,
                Direction::Down => Point { x: -tall.x, y: -tall.y },
            },
            size: tall.length(),
            em: if font.direction() == Direction::Down { tall.length() } else { wide.length() },
        };
        self.layout.add(&glyph, &mut self.text);
        let (x, y) = way(width, space);
        frame.move_place(x, y);
    }
}

/// The purpose of character spacing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spacing {
    /// A gap after the glyph.
    IsGap,
    /// A glyph that takes more room than its width.
    IsOfGlyph,
}
