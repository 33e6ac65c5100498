//! The predefined CMaps of CID fonts (ISO 32000-1, table 118), and the characters of Adobe's glyph
//! collections.

use std::collections::HashMap;
use std::rc::Rc;

use hayro_cmap::{BfString, CMap, CMapName, CidFamily, load_embedded};

/// The CMaps and collections that a document needs, each read once.
#[derive(Debug, Default)]
pub(super) struct Collections {
    read: HashMap<Vec<u8>, Option<Rc<CMap>>>,
}

/// The characters of a collection.
#[derive(Clone, Debug)]
pub(super) struct Characters(Rc<CMap>);

/// A predefined CMap, which splits strings into codes and maps these to glyphs.
#[derive(Clone, Debug)]
pub(super) struct Codes {
    cmap: Rc<CMap>,
    /// The length of an unknown code, in bytes.
    unknown_bytes: usize,
}

impl Collections {
    fn read(&mut self, name: CMapName<'_>) -> Option<Rc<CMap>> {
        let read = || CMap::parse(load_embedded(name)?, load_embedded).map(Rc::new);
        self.read.entry(name.to_bytes().to_vec()).or_insert_with(read).clone()
    }

    /// Returns the predefined CMap of this name.
    pub(super) fn codes(&mut self, name: &[u8]) -> Option<Codes> {
        let name = CMapName::from_bytes(name);
        let is_known = !matches!(name, CMapName::Custom(_) | CMapName::IdentityH | CMapName::IdentityV);
        let cmap = is_known.then(|| self.read(name)).flatten()?;
        // All CMaps for Unicode have codes of at least two bytes.
        Some(Codes { cmap, unknown_bytes: if name.to_bytes().starts_with(b"Uni") { 2 } else { 1 } })
    }

    /// Returns the collection of this registry and ordering.
    pub(super) fn characters(&mut self, registry: &[u8], ordering: &[u8]) -> Option<Characters> {
        self.read(CidFamily::from_registry_ordering(registry, ordering).ucs2_cmap()?).map(Characters)
    }

    /// Returns the collection of the glyphs that the codes map to.
    pub(super) fn characters_for(&mut self, codes: &Codes) -> Option<Characters> {
        let collection = codes.cmap.metadata().character_collection.as_ref()?;
        self.read(collection.family.ucs2_cmap()?).map(Characters)
    }
}

impl Codes {
    /// Returns the length of the code at the start of a string, and the CID.
    pub(super) fn first(&self, bytes: &[u8]) -> (usize, Option<u32>) {
        let mut code = 0;
        for (length, byte) in (1..=4).zip(bytes) {
            code = code << 8 | u32::from(*byte);
            if let Some(cid) = self.cmap.lookup_cid_code(code, length) {
                return (usize::from(length), Some(cid));
            }
        }
        (self.unknown_bytes, None)
    }
}

impl Characters {
    pub(super) fn text(&self, cid: u32) -> Option<String> {
        Some(match self.0.lookup_bf_string(cid)? {
            BfString::Char(character) => character.to_string(),
            BfString::String(text) => text,
        })
    }
}
