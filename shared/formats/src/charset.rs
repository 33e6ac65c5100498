//! From bytes to text: BOM, header, meta, then detection.
