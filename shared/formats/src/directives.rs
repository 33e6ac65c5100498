//! `X-Robots-Tag` and `<meta name=robots>`.
