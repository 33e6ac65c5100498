//! How fast an origin may be asked, and when it is given up.
