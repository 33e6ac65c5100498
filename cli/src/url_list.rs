//! A file with one URL per line, of any length.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::definition_source::cannot_read;
use crate::error::Failure;

/// The longest line that is read, in bytes. A URL is shorter.
const LINE_BYTES_MAX: usize = 16 << 10;

/// A file of URLs, which can be read repeatedly.
pub(crate) struct Input {
    file: File,
    path: PathBuf,
}

/// A non-empty line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// Its place, for messages; `None` for an argument.
    pub(crate) place: Option<String>,
    /// The trimmed text, or why it cannot be read.
    pub(crate) text: Result<String, String>,
}

impl Line {
    /// Returns its text if it is a URL, or a message with its place and error.
    #[cfg(feature = "stack")]
    pub(crate) fn into_url(self) -> Result<String, String> {
        let place = self.place.map_or_else(String::new, |place| format!("{place}: "));
        let text = self.text.map_err(|why| format!("{place}{why}"))?;
        match crate::definition_source::parse_url(&text) {
            Ok(_) => Ok(text),
            Err(failure) => Err(format!("{place}{}", failure.message)),
        }
    }
}

impl Input {
    /// Opens a file. `-` is standard input, which is copied to a temporary file first.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let is_stdin = path == Path::new("-");
        let path = if is_stdin { PathBuf::from("standard input") } else { path.to_owned() };
        let file = if is_stdin { spool(io::stdin().lock()) } else { File::open(&path) };
        Ok(Self { file: file.map_err(cannot_read(&path))?, path })
    }

    /// Returns its lines from the beginning, without empty ones and comments (`#`).
    ///
    /// # Errors
    /// The file cannot be read, here and for each line.
    pub(crate) fn lines(&mut self) -> Result<impl Iterator<Item = Result<Line, Failure>>, Failure> {
        let failed = cannot_read(&self.path);
        self.file.seek(SeekFrom::Start(0)).map_err(&failed)?;
        let (name, mut reader) = (self.path.display().to_string(), BufReader::new(&self.file));
        let mut number = 0_u64;
        Ok(std::iter::from_fn(move || {
            loop {
                number += 1;
                let text = match line(&mut reader) {
                    Ok(None) => return None,
                    Ok(Some(Ok(text))) if text.is_empty() || text.starts_with('#') => continue,
                    Ok(Some(text)) => text,
                    Err(error) => return Some(Err(failed(error))),
                };
                return Some(Ok(Line { place: Some(format!("{name}:{number}")), text }));
            }
        }))
    }
}

fn spool(mut from: impl Read) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    io::copy(&mut from, &mut file)?;
    Ok(file)
}

/// Reads a line; `None` at the end. A line that is too long is skipped, whatever its length.
fn line(reader: &mut impl BufRead) -> io::Result<Option<Result<String, String>>> {
    let mut bytes = Vec::new();
    let limit = LINE_BYTES_MAX as u64 + 1;
    if reader.by_ref().take(limit).read_until(b'\n', &mut bytes)? == 0 {
        return Ok(None);
    }
    if bytes.len() > LINE_BYTES_MAX && bytes.last() != Some(&b'\n') {
        reader.skip_until(b'\n')?;
        return Ok(Some(Err(format!("the line has more than {LINE_BYTES_MAX} bytes"))));
    }
    let text = String::from_utf8(bytes).map_err(|_| "the line is not UTF-8".to_owned());
    Ok(Some(text.map(|text| text.trim_start_matches('\u{feff}').trim().to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_one_by_one_and_repeatedly() {
        let long = "x".repeat(3 * LINE_BYTES_MAX);
        let text = format!("\u{feff}https://a.example/\r\n\n # no\n#no\n  b  \n{long}\nc\n");
        let mut bytes = text.into_bytes();
        bytes.extend_from_slice(b"\xff\nlast");
        let mut input = Input { file: spool(&*bytes).unwrap(), path: "urls.txt".into() };
        for _ in 0..2 {
            let lines: Vec<Line> = input.lines().unwrap().map(Result::unwrap).collect();
            let texts: Vec<_> =
                lines.iter().map(|line| (line.place.as_deref().unwrap(), line.text.as_deref())).collect();
            let expected = [
                ("urls.txt:1", Ok("https://a.example/")),
                ("urls.txt:5", Ok("b")),
                ("urls.txt:6", Err(&"the line has more than 16384 bytes".to_owned())),
                ("urls.txt:7", Ok("c")),
                ("urls.txt:8", Err(&"the line is not UTF-8".to_owned())),
                ("urls.txt:9", Ok("last")),
            ];
            assert_eq!(texts, expected);
        }
    }
}
