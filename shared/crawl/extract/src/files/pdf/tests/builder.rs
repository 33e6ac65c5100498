//! Builds PDFs for tests, object by object.

use std::collections::BTreeMap;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;

/// A PDF under construction. Objects 1 to 3 are the catalog, the page tree and its only page.
#[derive(Clone, Debug, Default)]
pub(super) struct Pdf {
    objects: Vec<(u32, Vec<u8>)>,
    fonts: String,
    resources: String,
    trailer: String,
}

/// How objects are written into the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// One after the other, with a cross-reference table.
    Plain,
    /// In an object stream, as far as allowed, with a cross-reference stream (ISO 32000-1, sections
    /// 7.5.7 and 7.5.8).
    ObjectStream,
}

impl Pdf {
    /// Returns a file whose page has this content.
    pub(super) fn showing(content: &str) -> Self {
        Self::default().stream(4, "", content.as_bytes())
    }

    /// Adds an object.
    pub(super) fn object(mut self, number: u32, object: &str) -> Self {
        self.objects.push((number, object.as_bytes().to_vec()));
        self
    }

    /// Adds a stream, with further entries in its dictionary.
    pub(super) fn stream(mut self, number: u32, entries: &str, bytes: &[u8]) -> Self {
        self.objects.push((number, stream(entries, bytes)));
        self
    }

    /// Adds a deflated stream.
    pub(super) fn deflated(self, number: u32, entries: &str, bytes: &[u8]) -> Self {
        self.stream(number, &format!("/Filter/FlateDecode{entries}"), &deflate(bytes))
    }

    /// Adds a font to the page's resources, such as `/F`.
    pub(super) fn font(mut self, name: &str, entries: &str) -> Self {
        self.fonts += &format!("/{name}<</Type/Font{entries}>>");
        self
    }

    /// Adds other entries to the page's resources.
    pub(super) fn resources(mut self, entries: &str) -> Self {
        self.resources += entries;
        self
    }

    /// Adds entries to the trailer.
    pub(super) fn trailer(mut self, entries: &str) -> Self {
        self.trailer += entries;
        self
    }

    pub(super) fn write(&self, form: Form) -> Vec<u8> {
        let (fonts, resources) = (&self.fonts, &self.resources);
        let page = format!(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<<{fonts}>>{resources}>>>>"
        );
        let usual = [
            (1, b"<</Type/Catalog/Pages 2 0 R>>".to_vec()),
            (2, b"<</Type/Pages/Kids[3 0 R]/Count 1>>".to_vec()),
            (3, page.into_bytes()),
        ];
        let objects: BTreeMap<_, _> = usual.into_iter().chain(self.objects.iter().cloned()).collect();
        match form {
            Form::Plain => self.write_plain(&objects),
            Form::ObjectStream => self.write_packed(&objects),
        }
    }

    fn write_plain(&self, objects: &BTreeMap<u32, Vec<u8>>) -> Vec<u8> {
        let mut file = b"%PDF-1.7\n".to_vec();
        let mut table = String::new();
        for (number, object) in objects {
            table += &format!("{number} 1\n{:010} 00000 n \n", file.len());
            write_object(&mut file, *number, object);
        }
        let (start, trailer) = (file.len(), &self.trailer);
        let size = 1 + objects.keys().max().unwrap();
        let end = format!(
            "xref\n0 1\n0000000000 65535 f \n{table}trailer<</Size {size}/Root 1 0 R{trailer}>>\nstartxref\n{start}\n%%EOF"
        );
        file.extend(end.as_bytes());
        file
    }

    fn write_packed(&self, objects: &BTreeMap<u32, Vec<u8>>) -> Vec<u8> {
        let last = objects.keys().max().unwrap();
        let (container, references) = (last + 1, last + 2);
        // Type, place and index of each object, in 1, 4 and 2 bytes.
        let mut entries = vec![[0_u8; 7]; usize::try_from(references).unwrap() + 1];
        let entry = |kind: u8, place: usize, index: u16| {
            let place = u32::try_from(place).unwrap().to_be_bytes();
            let index = index.to_be_bytes();
            [kind, place[0], place[1], place[2], place[3], index[0], index[1]]
        };
        let mut file = b"%PDF-1.7\n".to_vec();
        let (mut index, mut packed, mut count) = (String::new(), Vec::new(), 0);
        for (number, object) in objects {
            let slot = usize::try_from(*number).unwrap();
            if object.windows(6).any(|window| window == b"stream") {
                entries[slot] = entry(1, file.len(), 0);
                write_object(&mut file, *number, object);
            } else {
                entries[slot] = entry(2, usize::try_from(container).unwrap(), count);
                index += &format!("{number} {} ", packed.len());
                packed.extend(object);
                packed.push(b'\n');
                count += 1;
            }
        }
        entries[usize::try_from(container).unwrap()] = entry(1, file.len(), 0);
        let head = format!("/Type/ObjStm/N {count}/First {}/Filter/FlateDecode", index.len());
        write_object(&mut file, container, &stream(&head, &deflate(&[index.as_bytes(), &packed].concat())));
        let start = file.len();
        entries[usize::try_from(references).unwrap()] = entry(1, start, 0);
        let head = format!("/Type/XRef/W[1 4 2]/Size {}/Root 1 0 R{}", references + 1, self.trailer);
        write_object(&mut file, references, &stream(&head, &entries.concat()));
        file.extend(format!("startxref\n{start}\n%%EOF").as_bytes());
        file
    }
}

fn stream(entries: &str, bytes: &[u8]) -> Vec<u8> {
    let head = format!("<<{entries}/Length {}>>stream\n", bytes.len());
    [head.as_bytes(), bytes, b"\nendstream"].concat()
}

fn write_object(file: &mut Vec<u8>, number: u32, object: &[u8]) {
    file.extend(format!("{number} 0 obj\n").as_bytes());
    file.extend(object);
    file.extend(b"\nendobj\n");
}

pub(super) fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}
