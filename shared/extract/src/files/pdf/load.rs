//! Loads a file's objects.
//!
//! lopdf reads all objects before anything else. What it inflates of one stream it bounds itself; how much it inflates and copies in all is bounded
//! here, by looking at each object before it does, and by refusing files whose cross-reference streams could be too many, or that are encrypted.

use std::cell::Cell;

use lopdf::{Document, LoadOptions, Object, ObjectId};

use super::limits::ENTRY_BYTES;

/// How many objects are kept, those within streams too.
const OBJECTS_MAX: usize = 500_000;

/// The most bytes that are inflated of one stream of objects, and of all.
const OBJECT_STREAM_BYTES_MAX: usize = 8 << 20;
const OBJECT_STREAMS_BYTES_MAX: usize = 64 << 20;

/// The most cross-reference streams. Each may be as long as a stream of objects.
const CROSS_REFERENCES_MAX: usize = 64;

/// The most bytes of streams that are kept, as they are in the file. Of a sound file, that is less than the file; damage makes them overlap.
const STREAMS_BYTES_MAX: usize = 32 << 20;

thread_local! {
    /// What may still be loaded. lopdf asks a function without a state of its own.
    static LEFT: Cell<Left> = const { Cell::new(Left { objects: 0, inflated_bytes: 0, streams_bytes: 0 }) };
}

/// How many objects, bytes of streams of objects, and bytes of streams may still be loaded.
#[derive(Clone, Copy, Debug)]
struct Left {
    objects: usize,
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
}

/// Loads a file. If what says where objects are leads to no page, it is made up for by a search for objects.
pub(super) fn load(bytes: &[u8]) -> Result<Loaded, NotLoaded> {
    let [encrypted, cross_references] = count_names(bytes, [b"Encrypt", b"W"]);
    if encrypted > 0 {
        return Err(NotLoaded::Encrypted);
    }
    // Fonts have widths of the same name, but not this long.
    let share = OBJECT_STREAMS_BYTES_MAX * 8 / cross_references.max(CROSS_REFERENCES_MAX);
    let loaded = |force_reconstruct| {
        let options = LoadOptions {
            filter: Some(keep),
            max_decompressed_size: Some(share.min(OBJECT_STREAM_BYTES_MAX)),
            force_reconstruct,
            ..LoadOptions::default()
        };
        LEFT.set(Left {
            objects: OBJECTS_MAX,
            inflated_bytes: OBJECT_STREAMS_BYTES_MAX,
            streams_bytes: STREAMS_BYTES_MAX,
        });
        let document = Document::load_mem_with_options(bytes, options).ok()?;
        let left = LEFT.get();
        let is_cut = left.objects == 0 || left.inflated_bytes == 0 || left.streams_bytes == 0;
        Some(Loaded { document, is_cut })
    };
    let has_pages = |loaded: &Loaded| loaded.document.page_iter().next().is_some();
    let first = loaded(false).filter(has_pages);
    first.or_else(|| loaded(true)).ok_or(NotLoaded::Damaged)
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
    left.objects = left.objects.checked_sub(1)?;
    LEFT.set(left);
    let Ok(stream) = object.as_stream() else {
        // lopdf takes an object within a stream of objects from what is returned.
        return Some((id, object.clone()));
    };
    let (streams_bytes, is_kept) = spent(left.streams_bytes, stream.content.len());
    left.streams_bytes = streams_bytes;
    LEFT.set(left);
    if !is_kept {
        return None;
    }
    if stream.dict.has_type(b"ObjStm") {
        let bytes_max = left.inflated_bytes.min(OBJECT_STREAM_BYTES_MAX);
        let inflated = stream.decompressed_content_with_limit(bytes_max).map_or(usize::MAX, |bytes| bytes.len());
        let (inflated_bytes, is_kept) = spent(left.inflated_bytes, inflated.max(ENTRY_BYTES));
        left.inflated_bytes = inflated_bytes;
        LEFT.set(left);
        if !is_kept {
            return None;
        }
    }
    // Of any other object, it takes only that it stays.
    Some((id, Object::Null))
}

/// What is left after bytes were spent, and whether there were enough.
fn spent(left: usize, bytes: usize) -> (usize, bool) {
    left.checked_sub(bytes).map_or((0, false), |left| (left, true))
}
