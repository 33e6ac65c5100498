//! Loads a file's objects.
//!
//! lopdf reads all objects before anything else. What it inflates of one stream it bounds itself; how much it inflates and copies in all is bounded
//! here: by looking at each object, by refusing files whose cross-reference streams could be too many, or that are encrypted, and by searching for
//! objects where the cross-references would have them read again and again.

use std::cell::Cell;
use std::panic::catch_unwind;

use lopdf::{Document, LoadOptions, Object, ObjectId};

use super::limits::ENTRY_BYTES;
use super::references::Lookup;

/// How many objects are kept, those within streams too.
const OBJECTS_MAX: usize = 500_000;

/// How many values objects have together, such as the elements of arrays: more than fit into the longest file, and into its streams of objects.
const VALUES_MAX: usize = 20_000_000;

/// The most bytes that are inflated of one stream of objects, and of all.
const OBJECT_STREAM_BYTES_MAX: usize = 8 << 20;
const OBJECT_STREAMS_BYTES_MAX: usize = 64 << 20;

/// The most cross-reference streams. Each may be as long as a stream of objects.
const CROSS_REFERENCES_MAX: usize = 64;

/// The most bytes of streams that are copied, as they are in the file. Of a sound file, that is less than the file; of another one they may overlap.
const STREAMS_BYTES_MAX: usize = 32 << 20;

thread_local! {
    /// What may still be loaded. lopdf asks a function without a state of its own.
    static LEFT: Cell<Left> = const { Cell::new(Left { objects: 0, values: 0, inflated_bytes: 0, streams_bytes: 0 }) };
}

/// How many objects, values in them, bytes of streams of objects, and bytes of streams may still be loaded.
#[derive(Clone, Copy, Debug)]
struct Left {
    objects: usize,
    values: usize,
    inflated_bytes: usize,
    streams_bytes: usize,
}

/// A file's objects.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) document: Document,
    /// Whether objects are missing because of a limit.
    pub(super) is_cut: bool,
}

/// Why a file is not loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotLoaded {
    Encrypted,
    Damaged,
    /// It would take too much.
    TooMuch,
}

/// Loads a file. If what says where objects are leads to no page, it is made up for by a search for objects.
pub(super) fn load(bytes: &[u8]) -> Result<Loaded, NotLoaded> {
    let [encrypted, cross_references, typed_references] = count_names(bytes, [b"Encrypt", b"W", b"XRef"]);
    if encrypted > 0 {
        return Err(NotLoaded::Encrypted);
    }
    // Fonts have widths of the same name, but not this long.
    let share = OBJECT_STREAMS_BYTES_MAX * 8 / cross_references.max(CROSS_REFERENCES_MAX);
    let lookup = Lookup::choose(bytes, typed_references, OBJECT_STREAMS_BYTES_MAX);
    let first = load_by(bytes, lookup, share)?;
    if lookup == Lookup::References && first.document.page_iter().next().is_none() {
        return load_by(bytes, Lookup::Search, share);
    }
    Ok(first)
}

fn load_by(bytes: &[u8], lookup: Lookup, stream_bytes_max: usize) -> Result<Loaded, NotLoaded> {
    let options = LoadOptions {
        filter: Some(keep),
        max_decompressed_size: Some(stream_bytes_max.min(OBJECT_STREAM_BYTES_MAX)),
        force_reconstruct: lookup == Lookup::Search,
        ..LoadOptions::default()
    };
    LEFT.set(Left {
        objects: OBJECTS_MAX,
        values: VALUES_MAX,
        inflated_bytes: OBJECT_STREAMS_BYTES_MAX,
        streams_bytes: STREAMS_BYTES_MAX,
    });
    let loaded = catch_unwind(|| Document::load_mem_with_options(bytes, options));
    let document = loaded.map_err(|why| why.downcast_ref().copied().unwrap_or(NotLoaded::Damaged))?;
    let left = LEFT.get();
    Ok(Loaded {
        document: document.map_err(|_| NotLoaded::Damaged)?,
        is_cut: left.objects == 0 || left.inflated_bytes == 0,
    })
}

/// Counts names, with characters written by their numbers or not.
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

/// Says whether an object is kept, before lopdf inflates those within it.
fn keep(id: ObjectId, object: &mut Object) -> Option<(ObjectId, Object)> {
    let mut left = LEFT.get();
    let spent = left.spend(object);
    LEFT.set(left);
    match spent {
        Spent::Kept => {}
        Spent::LeftOut => return None,
        // lopdf would read all that follows before it asks again. There is no other way to end that.
        Spent::TooMuch => std::panic::resume_unwind(Box::new(NotLoaded::TooMuch)),
    }
    // lopdf takes an object within a stream of objects from what is returned, and of any other one only that it stays. Streams are never within.
    Some((id, if object.as_stream().is_ok() { Object::Null } else { object.clone() }))
}

/// What is done with an object after its size was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spent {
    Kept,
    LeftOut,
    TooMuch,
}

impl Left {
    fn spend(&mut self, object: &Object) -> Spent {
        let Some(objects) = self.objects.checked_sub(1) else { return Spent::TooMuch };
        self.objects = objects;
        let copied_bytes = object.as_stream().map_or(0, |stream| stream.content.len());
        let Some(values) = self.values.checked_sub(count_values(object, self.values)) else { return Spent::TooMuch };
        self.values = values;
        let Some(streams_bytes) = self.streams_bytes.checked_sub(copied_bytes) else { return Spent::TooMuch };
        self.streams_bytes = streams_bytes;
        if let Ok(stream) = object.as_stream()
            && stream.dict.has_type(b"ObjStm")
        {
            let bytes_max = self.inflated_bytes.min(OBJECT_STREAM_BYTES_MAX);
            let inflated = stream.decompressed_content_with_limit(bytes_max).map_or(usize::MAX, |bytes| bytes.len());
            let left = self.inflated_bytes.checked_sub(inflated.max(ENTRY_BYTES));
            self.inflated_bytes = left.unwrap_or(0);
            if left.is_none() {
                return Spent::LeftOut;
            }
        }
        Spent::Kept
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
