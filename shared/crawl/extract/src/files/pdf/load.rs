//! Loads a file's objects.
//!
//! lopdf reads all objects before anything else. It limits the inflated size of each stream itself;
//! the total that it inflates and copies is limited here: by counting each object, by refusing
//! encrypted files and files with too many cross-reference streams, and by searching for objects if
//! the cross-references would have them read again and again.

use std::cell::Cell;
use std::panic::catch_unwind;

use lopdf::{Document, LoadOptions, Object, ObjectId};

use super::limits::ENTRY_BYTES;
use super::references::Lookup;

/// The most objects kept, including those in object streams.
const OBJECTS_MAX: usize = 500_000;

/// The most values in all objects, such as elements of arrays: more than fit into the longest file
/// and its object streams.
const VALUES_MAX: usize = 20_000_000;

/// The most bytes inflated of one object stream, and of all.
const OBJECT_STREAM_BYTES_MAX: usize = 8 << 20;
const OBJECT_STREAMS_BYTES_MAX: usize = 64 << 20;

/// The most cross-reference streams. Each may be as long as an object stream.
const CROSS_REFERENCES_MAX: usize = 64;

/// The most bytes of streams copied, as in the file. In a sound file this is less than the file; in
/// others they may overlap.
const STREAMS_BYTES_MAX: usize = 32 << 20;

thread_local! {
    /// The remaining budget. lopdf calls back a plain function, which cannot have state of its own.
    static LEFT: Cell<LoadBudget> = const { Cell::new(LoadBudget { objects: 0, values: 0, inflated_bytes: 0, streams_bytes: 0 }) };
}

/// The remaining objects, values, bytes of object streams, and bytes of streams.
#[derive(Clone, Copy, Debug)]
struct LoadBudget {
    objects: usize,
    values: usize,
    inflated_bytes: usize,
    streams_bytes: usize,
}

/// A file's objects.
#[derive(Debug)]
pub(super) struct LoadedFile {
    pub(super) document: Document,
    /// Whether a limit left objects out.
    pub(super) is_cut: bool,
}

/// Why a file is not loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoadError {
    Encrypted,
    Damaged,
    /// It would exceed the limits.
    TooMuch,
}

/// Loads a file. If its cross-references lead to no page, objects are searched for.
pub(super) fn load(bytes: &[u8]) -> Result<LoadedFile, LoadError> {
    let [encrypted, cross_references, typed_references] = count_names(bytes, [b"Encrypt", b"W", b"XRef"]);
    if encrypted > 0 {
        return Err(LoadError::Encrypted);
    }
    // Fonts have a key of the same name for widths, but shorter arrays.
    let share = OBJECT_STREAMS_BYTES_MAX * 8 / cross_references.max(CROSS_REFERENCES_MAX);
    let lookup = Lookup::choose(bytes, typed_references, OBJECT_STREAMS_BYTES_MAX);
    let first = load_by(bytes, lookup, share)?;
    if lookup == Lookup::References && first.document.page_iter().next().is_none() {
        return load_by(bytes, Lookup::Search, share);
    }
    Ok(first)
}

fn load_by(bytes: &[u8], lookup: Lookup, stream_bytes_max: usize) -> Result<LoadedFile, LoadError> {
    let options = LoadOptions {
        filter: Some(keep),
        max_decompressed_size: Some(stream_bytes_max.min(OBJECT_STREAM_BYTES_MAX)),
        force_reconstruct: lookup == Lookup::Search,
        ..LoadOptions::default()
    };
    LEFT.set(LoadBudget {
        objects: OBJECTS_MAX,
        values: VALUES_MAX,
        inflated_bytes: OBJECT_STREAMS_BYTES_MAX,
        streams_bytes: STREAMS_BYTES_MAX,
    });
    let loaded = catch_unwind(|| Document::load_mem_with_options(bytes, options));
    let document = loaded.map_err(|why| why.downcast_ref().copied().unwrap_or(LoadError::Damaged))?;
    let left = LEFT.get();
    Ok(LoadedFile {
        document: document.map_err(|_| LoadError::Damaged)?,
        is_cut: left.objects == 0 || left.inflated_bytes == 0,
    })
}

/// Counts names, with or without escaped characters.
fn count_names<const N: usize>(bytes: &[u8], names: [&[u8]; N]) -> [usize; N] {
    let mut counts = [0; N];
    for slash in memchr::memchr_iter(b'/', bytes) {
        let mut written = bytes[slash + 1..].iter().copied().take(3 * 8);
        let mut name = Vec::with_capacity(8);
        while let Some(byte) = written.next() {
            match byte {
                b'#' => {
                    let digits = [written.next().unwrap_or(0), written.next().unwrap_or(0)];
                    let number = str::from_utf8(&digits).ok().and_then(|digits| u8::from_str_radix(digits, 16).ok());
                    name.push(number.unwrap_or(0));
                }
                byte if byte.is_ascii_alphanumeric() => name.push(byte),
                _ => break,
            }
        }
        for (count, wanted) in counts.iter_mut().zip(names) {
            *count += usize::from(name == wanted);
        }
    }
    counts
}

/// Decides whether an object is kept, before lopdf inflates the objects within it.
fn keep(id: ObjectId, object: &mut Object) -> Option<(ObjectId, Object)> {
    let mut left = LEFT.get();
    let spent = left.spend(object);
    LEFT.set(left);
    match spent {
        ObjectAction::Kept => {}
        ObjectAction::LeftOut => return None,
        // lopdf would read everything that follows before it calls again. There is no other way to
        // stop it.
        ObjectAction::TooMuch => std::panic::resume_unwind(Box::new(LoadError::TooMuch)),
    }
    // For an object in an object stream, lopdf takes the returned value; for any other, only the
    // fact that it stays. Streams are never in object streams.
    Some((id, if object.as_stream().is_ok() { Object::Null } else { object.clone() }))
}

/// What to do with an object after counting its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ObjectAction {
    Kept,
    LeftOut,
    TooMuch,
}

impl LoadBudget {
    fn spend(&mut self, object: &Object) -> ObjectAction {
        let Some(objects) = self.objects.checked_sub(1) else { return ObjectAction::TooMuch };
        self.objects = objects;
        let copied_bytes = object.as_stream().map_or(0, |stream| stream.content.len());
        let Some(values) = self.values.checked_sub(count_values(object, self.values)) else {
            return ObjectAction::TooMuch;
        };
        self.values = values;
        let Some(streams_bytes) = self.streams_bytes.checked_sub(copied_bytes) else { return ObjectAction::TooMuch };
        self.streams_bytes = streams_bytes;
        if let Ok(stream) = object.as_stream()
            && stream.dict.has_type(b"ObjStm")
        {
            let bytes_max = self.inflated_bytes.min(OBJECT_STREAM_BYTES_MAX);
            let inflated = stream.decompressed_content_with_limit(bytes_max).map_or(usize::MAX, |bytes| bytes.len());
            let left = self.inflated_bytes.checked_sub(inflated.max(ENTRY_BYTES));
            self.inflated_bytes = left.unwrap_or(0);
            if left.is_none() {
                return ObjectAction::LeftOut;
            }
        }
        ObjectAction::Kept
    }
}

/// Counts an object's values, up to one more than a limit.
fn count_values(object: &Object, max: usize) -> usize {
    let (mut count, mut open) = (0, vec![object]);
    while let Some(object) = open.pop() {
        count += 1;
        if count > max {
            break;
        }
        match object {
            Object::Array(values) => open.extend(values),
            Object::Dictionary(dictionary) => open.extend(dictionary.iter().map(|(_, value)| value)),
            Object::Stream(stream) => open.extend(stream.dict.iter().map(|(_, value)| value)),
            _ => {}
        }
    }
    count
}
