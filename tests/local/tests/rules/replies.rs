//! Replies for test sites.

use dragline_testkit::site::Reply;

/// An answer with these header fields and this body.
pub(crate) fn reply(status: u16, fields: &[(&str, &str)], body: impl Into<Vec<u8>>) -> Reply {
    let fields = fields.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
    let empty = Reply::new(status.try_into().unwrap());
    fields.fold(empty, |reply, (name, value)| reply.header(name, value)).body(body.into())
}

/// A page.
pub(crate) fn html(body: &str) -> Reply {
    reply(200, &[("content-type", "text/html; charset=utf-8")], body)
}

/// A redirect.
pub(crate) fn redirect(status: u16, location: &str) -> Reply {
    reply(status, &[("location", location)], "")
}

/// A page of nothing but links.
pub(crate) fn links<'t>(targets: impl IntoIterator<Item = &'t str>) -> String {
    targets.into_iter().map(|target| format!("<p><a href=\"{target}\">{target}</a>\n")).collect()
}
