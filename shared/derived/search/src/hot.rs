//! The hot blocks of an index, which every search reads. A program that reads a remote index
//! fetches them at once when it opens the index.
//!
//! The file is a line of JSON, `[[FILE, BLOCK], …]`, where `FILE` is a position in the edition,
//! followed by these blocks.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use data_encoding::HEXLOWER;
use sha1::{Digest as _, Sha1};
use tantivy::directory::OwnedBytes;
use tantivy::query::AllQuery;

use crate::blocks::{Blocks, Ranges, block_at, block_numbers, in_memory};
use crate::compile::Lookup;
use crate::edition::{Edition, IndexFile};
use crate::error::IndexError;
use crate::fields::Part;
use crate::index::Index;
use crate::search::best;

/// A reader of a folder's files that records which blocks were read.
struct RecordingRanges {
    folder: PathBuf,
    edition: Edition,
    asked: Mutex<BTreeSet<(usize, u64)>>,
}

impl Ranges for RecordingRanges {
    fn read(&self, file: &str, range: Range<u64>) -> io::Result<Vec<u8>> {
        if let Some(number) = self.edition.files.iter().position(|other| other.name == file) {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            asked.extend(block_numbers(&range).map(|block| (number, block)));
        }
        read_file(&self.folder.join(file), &range)
    }
}

/// Reads a range of a file.
pub(crate) fn read_file(path: &Path, range: &Range<u64>) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(range.start))?;
    let mut bytes = Vec::new();
    file.take(range.end - range.start).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Writes the hot blocks of an edition whose files are in this folder.
pub(crate) fn write(edition: &Edition, folder: &Path) -> Result<IndexFile, IndexError> {
    let noted =
        Arc::new(RecordingRanges { folder: folder.to_owned(), edition: edition.clone(), asked: Mutex::default() });
    let ranges: Arc<dyn Ranges> = Arc::clone(&noted) as _;
    let index = Index::open_remote(edition.clone(), ranges, Arc::new(Blocks::new(u64::MAX)))?;
    let lookup = index.lookup()?;
    what_every_search_reads(&lookup)?;
    let asked = noted.asked.lock().unwrap_or_else(PoisonError::into_inner).clone();

    let mut bytes = serde_json::to_vec(&asked)?;
    bytes.push(b'\n');
    for (number, block) in asked {
        let Some(file) = edition.files.get(number) else { continue };
        bytes.extend(read_file(&folder.join(&file.name), &block_at(block, file.bytes))?);
    }
    // Named after its content, so that two concurrent writers never use one name for different
    // files.
    let name = format!("{}.hot", HEXLOWER.encode(&Sha1::digest(&bytes)));
    fs::write(folder.join(&name), &bytes)?;
    Ok(IndexFile { name, bytes: bytes.len() as u64 })
}

fn what_every_search_reads(lookup: &Lookup) -> Result<(), IndexError> {
    for segment in lookup.searcher.segment_readers() {
        for part in Part::ALL {
            segment.inverted_index(lookup.fields.get(part))?;
        }
        segment.get_store_reader(0)?;
    }
    best(lookup, &AllQuery, 0, 1)?;
    Ok(())
}

/// Loads the hot blocks into the cache.
pub(crate) fn load(edition: &Edition, ranges: &dyn Ranges, blocks: &Blocks) -> io::Result<()> {
    let whole = edition.hot.iter().map(|hot| (0, hot));
    let parts = edition.hots.iter().map(|hot| (hot.first_file, &hot.file));
    whole.chain(parts).try_for_each(|(first_file, hot)| load_file(&edition.files, (first_file, hot), ranges, blocks))
}

fn load_file(
    files: &[IndexFile],
    (first_file, hot): (usize, &IndexFile),
    ranges: &dyn Ranges,
    blocks: &Blocks,
) -> io::Result<()> {
    let bytes = ranges.read(&hot.name, 0..hot.bytes)?;
    let head = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let places: Vec<(usize, u64)> = serde_json::from_slice(&bytes[..head])?;
    let mut rest = bytes.get(head + 1..).unwrap_or_default();
    for (number, block) in places {
        let Some(file) = first_file.checked_add(number).and_then(|number| files.get(number)) else { continue };
        let Range { start, end } = block_at(block, file.bytes);
        let Some((of_block, after)) = rest.split_at_checked(in_memory(end - start)) else { break };
        blocks.put((Arc::from(file.name.as_str()), block), OwnedBytes::new(of_block.to_vec()));
        rest = after;
    }
    Ok(())
}
