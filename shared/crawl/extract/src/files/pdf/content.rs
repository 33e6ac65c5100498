//! Reads content streams (ISO 32000-1, section 7.8.2) and CMaps, which share a syntax: operands
//! followed by an operator. Malformed parts are skipped.

/// The longest name of an operator.
const OPERATOR_BYTES_MAX: usize = 3;

/// The most operands kept of one operator, and the most elements of an array.
const OPERANDS_MAX: usize = 1 << 16;

/// How many bytes after the end of an inline image must be text, as the end marker may occur in its
/// data too.
const IMAGE_END_LOOK_BYTES: usize = 12;

/// An operand.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operand {
    Number(f32),
    Name(Vec<u8>),
    Text(Vec<u8>),
    Array(Vec<Operand>),
}

/// The operators of content streams and CMaps that matter for text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    BeginText,
    EndText,
    Save,
    Restore,
    Transform,
    SetFont,
    SetCharacterSpacing,
    SetWordSpacing,
    SetScale,
    SetLeading,
    SetRise,
    Move,
    MoveAndSetLeading,
    SetMatrix,
    NextLine,
    Show,
    ShowAdjusted,
    ShowOnNextLine,
    ShowSpacedOnNextLine,
    Draw,
    InlineImage,
    SetState,
    /// The ends of lists in a CMap, whose entries are the operands.
    CodespaceRanges,
    TextsOfCodes,
    TextsOfRanges,
    CidsOfCodes,
    CidsOfRanges,
    Define,
    Other,
}

impl Operator {
    fn from_name(name: &[u8]) -> Self {
        match name {
            b"BT" => Self::BeginText,
            b"ET" => Self::EndText,
            b"q" => Self::Save,
            b"Q" => Self::Restore,
            b"cm" => Self::Transform,
            b"Tf" => Self::SetFont,
            b"Tc" => Self::SetCharacterSpacing,
            b"Tw" => Self::SetWordSpacing,
            b"Tz" => Self::SetScale,
            b"TL" => Self::SetLeading,
            b"Ts" => Self::SetRise,
            b"Td" => Self::Move,
            b"TD" => Self::MoveAndSetLeading,
            b"Tm" => Self::SetMatrix,
            b"T*" => Self::NextLine,
            b"Tj" => Self::Show,
            b"TJ" => Self::ShowAdjusted,
            b"'" => Self::ShowOnNextLine,
            b"\"" => Self::ShowSpacedOnNextLine,
            b"Do" => Self::Draw,
            b"gs" => Self::SetState,
            b"endcodespacerange" => Self::CodespaceRanges,
            b"endbfchar" => Self::TextsOfCodes,
            b"endbfrange" => Self::TextsOfRanges,
            b"endcidchar" => Self::CidsOfCodes,
            b"endcidrange" => Self::CidsOfRanges,
            b"def" => Self::Define,
            _ => Self::Other,
        }
    }
}

/// A content stream, operator by operator.
#[derive(Debug)]
pub(super) struct Operations {
    bytes: Vec<u8>,
    at: usize,
    operands: Vec<Operand>,
}

impl Operations {
    pub(super) const fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, at: 0, operands: Vec::new() }
    }

    /// Returns the operands of the last operator.
    pub(super) fn operands(&self) -> &[Operand] {
        &self.operands
    }

    /// Reads operands up to the next operator, and returns that; `None` at the end.
    pub(super) fn read_next(&mut self) -> Option<Operator> {
        self.operands.clear();
        let (mut array, mut dictionaries) = (None::<Vec<Operand>>, 0_usize);
        loop {
            self.skip_space();
            let operand = match *self.bytes.get(self.at)? {
                b'(' => Some(Operand::Text(self.read_literal())),
                b'<' if self.peek(1) == Some(b'<') => {
                    self.at += 2;
                    dictionaries += 1;
                    None
                }
                b'<' => Some(Operand::Text(self.read_hexadecimal())),
                b'>' => {
                    self.at += if self.peek(1) == Some(b'>') { 2 } else { 1 };
                    dictionaries = dictionaries.saturating_sub(1);
                    None
                }
                b'/' => Some(Operand::Name(self.read_name())),
                b'[' => {
                    self.at += 1;
                    array.get_or_insert_default();
                    None
                }
                b']' => {
                    self.at += 1;
                    array.take().map(Operand::Array)
                }
                b'{' | b'}' | b')' => {
                    self.at += 1;
                    None
                }
                b'+' | b'-' | b'.' | b'0'..=b'9' => Some(Operand::Number(self.read_number())),
                _ => match self.read_word() {
                    b"true" | b"false" | b"null" => None,
                    // An unclosed array or dictionary ends here.
                    b"BI" => {
                        self.skip_image();
                        return Some(Operator::InlineImage);
                    }
                    word => {
                        let operator = Operator::from_name(word);
                        self.operands.extend(array.map(Operand::Array));
                        return Some(operator);
                    }
                },
            };
            let Some(operand) = operand.filter(|_| dictionaries == 0) else { continue };
            let operands = array.as_mut().unwrap_or(&mut self.operands);
            if operands.len() < OPERANDS_MAX {
                operands.push(operand);
            }
        }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn rest(&self) -> &[u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn skip_space(&mut self) {
        while let Some(byte) = self.peek(0) {
            if byte == b'%' {
                self.at += self.rest().iter().take_while(|byte| !matches!(byte, b'\r' | b'\n')).count();
            } else if is_space(byte) {
                self.at += 1;
            } else {
                break;
            }
        }
    }

    /// Reads a word, at least one byte.
    fn read_word(&mut self) -> &[u8] {
        let length = self.rest().iter().take_while(|byte| is_regular(**byte)).count().max(1);
        let start = self.at;
        self.at += length;
        let word = self.bytes.get(start..self.at).unwrap_or_default();
        // Some writers leave out the space after a one-letter operator.
        match word {
            [b'q' | b'Q', ..] if length > OPERATOR_BYTES_MAX => {
                self.at = start + 1;
                &word[..1]
            }
            _ => word,
        }
    }

    fn read_name(&mut self) -> Vec<u8> {
        self.at += 1;
        let length = self.rest().iter().take_while(|byte| is_regular(**byte)).count();
        let written = self.rest().get(..length).unwrap_or_default();
        let mut name = Vec::with_capacity(length);
        let mut bytes = written.iter();
        while let Some(byte) = bytes.next() {
            let digits = match (byte, bytes.as_slice()) {
                (b'#', &[high, low, ..]) => hexadecimal(high).zip(hexadecimal(low)),
                _ => None,
            };
            name.push(digits.map_or(*byte, |(high, low)| high << 4 | low));
            if digits.is_some() {
                bytes.nth(1);
            }
        }
        self.at += length;
        name
    }

    /// Reads a number as viewers do: a sign inside it, as some writers put there, ends it, but is
    /// skipped with it.
    fn read_number(&mut self) -> f32 {
        let length = self.rest().iter().take_while(|byte| matches!(byte, b'+' | b'-' | b'.' | b'0'..=b'9')).count();
        let written = self.rest().get(..length).unwrap_or_default();
        let is_negative = written.first() == Some(&b'-');
        let (mut number, mut unit, mut is_fraction) = (0.0_f64, 1.0_f64, false);
        for byte in written.iter().skip_while(|byte| matches!(byte, b'+' | b'-')) {
            match byte {
                b'.' if !is_fraction => is_fraction = true,
                b'0'..=b'9' => {
                    number = number * 10.0 + f64::from(byte - b'0');
                    unit *= if is_fraction { 10.0 } else { 1.0 };
                }
                _ => break,
            }
            if unit > 1e15 || number > 1e30 {
                break;
            }
        }
        self.at += length;
        let number = if is_negative { -number / unit } else { number / unit };
        #[expect(clippy::cast_possible_truncation, reason = "a place on a page is as exact as its unit")]
        let number = number as f32;
        number
    }

    /// Reads a string in parentheses (section 7.3.4.2).
    fn read_literal(&mut self) -> Vec<u8> {
        self.at += 1;
        let (mut text, mut depth) = (Vec::new(), 1_usize);
        while let Some(byte) = self.peek(0) {
            self.at += 1;
            match byte {
                b'(' => depth += 1,
                b')' => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                }
                b'\\' => {
                    text.extend(self.read_escaped());
                    continue;
                }
                b'\r' => {
                    self.at += usize::from(self.peek(0) == Some(b'\n'));
                    text.push(b'\n');
                    continue;
                }
                _ => {}
            }
            text.push(byte);
        }
        text
    }

    fn read_escaped(&mut self) -> Option<u8> {
        let byte = self.peek(0)?;
        self.at += 1;
        Some(match byte {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'b' => 8,
            b'f' => 12,
            b'\r' => {
                self.at += usize::from(self.peek(0) == Some(b'\n'));
                return None;
            }
            b'\n' => return None,
            b'0'..=b'7' => {
                let mut code = byte - b'0';
                for _ in 0..2 {
                    let Some(digit @ b'0'..=b'7') = self.peek(0) else { break };
                    self.at += 1;
                    code = code.wrapping_shl(3) | (digit - b'0');
                }
                code
            }
            other => other,
        })
    }

    /// Reads a string in angle brackets. A missing last digit is 0.
    fn read_hexadecimal(&mut self) -> Vec<u8> {
        self.at += 1;
        let length = self.rest().iter().take_while(|byte| **byte != b'>').count();
        let digits: Vec<u8> = self.rest().iter().take(length).filter_map(|byte| hexadecimal(*byte)).collect();
        self.at += length + 1;
        digits.chunks(2).map(|pair| pair[0] << 4 | pair.get(1).unwrap_or(&0)).collect()
    }

    /// Skips an inline image: its dictionary, `ID`, its data and `EI`.
    fn skip_image(&mut self) {
        let data = memchr::memmem::find(self.rest(), b"ID").map_or(self.bytes.len(), |data| self.at + data + 2);
        let byte_at = |at: usize| self.bytes.get(at).copied();
        let ends =
            memchr::memmem::find_iter(self.bytes.get(data..).unwrap_or_default(), b"EI").map(|end| data + end).filter(
                |end| byte_at(end - 1).is_some_and(is_space) && byte_at(end + 2).is_none_or(|byte| !is_regular(byte)),
            );
        let is_before_text = |end: &usize| {
            let after = self.bytes.get(end + 2..).unwrap_or_default();
            after.iter().take(IMAGE_END_LOOK_BYTES).all(|byte| is_space(*byte) || (32..127).contains(byte))
        };
        let mut first = None;
        let end = ends.inspect(|end| first = first.or(Some(*end))).find(is_before_text);
        self.at = end.or(first).map_or(self.bytes.len(), |end| end + 2);
    }
}

pub(super) const fn is_space(byte: u8) -> bool {
    matches!(byte, 0 | 9 | 10 | 12 | 13 | 32)
}

/// Whether a byte may be part of a name or of an operator (section 7.2.2).
pub(super) const fn is_regular(byte: u8) -> bool {
    !is_space(byte) && !matches!(byte, b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%')
}

const fn hexadecimal(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}
