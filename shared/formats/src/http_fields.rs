//! Values of HTTP header fields: dates, Retry-After, Content-Type, Link.
