//! What must hold for any bytes, one function a format: each panics where it does not.
//!
//! libFuzzer runs them on bytes of its own (`libfuzzer/`), and an ordinary test on those in `corpus/`.

mod charset;
mod definition;
mod html;
mod robots;
mod shown;
mod todo;
mod url;
mod warc;

pub use charset::charset;
pub use definition::definition;
pub use html::html;
pub use robots::robots;
pub use todo::todo;
pub use url::url;
pub use warc::warc;

/// A function that panics if bytes break what must hold.
pub type Target = fn(&[u8]);

/// Every target by its name, which its corpus and its binary have, too.
pub const TARGETS: &[(&str, Target)] = &[
    ("charset", charset),
    ("definition", definition),
    ("html", html),
    ("robots", robots),
    ("todo", todo),
    ("url", url),
    ("warc", warc),
];
