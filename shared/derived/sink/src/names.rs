//! Names in the database: of schemas, roles and tables, and how SQL quotes them.

use std::fmt;
use std::str::FromStr;

use data_encoding::HEXLOWER;
use dragline_domain::shown::one_line;
use sha2::{Digest, Sha256};

/// The length of a name in bytes, beyond which PostgreSQL cuts it (`NAMEDATALEN - 1`).
pub(crate) const NAME_BYTES_MAX: usize = 63;

/// The length of the digest that makes a cut name unique, in hexadecimal digits.
const DIGEST_DIGITS: usize = 12;

/// The longest name in a message, in characters.
const SHOWN_CHARS_MAX: usize = 80;

/// The columns that every table of PostgreSQL has, whose names cannot be used again.
const SYSTEM_COLUMNS: [&str; 6] = ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"];

/// A name that PostgreSQL would not accept, or would cut.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a valid name: a name has 1 to 63 bytes, and none is NUL")]
pub struct NameError(String);

/// The schema that holds the tables. Names that begin with `pg_` belong to PostgreSQL, which
/// refuses to create them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaName(String);

impl Default for SchemaName {
    /// `dragline`.
    fn default() -> Self {
        Self("dragline".to_owned())
    }
}

/// A role that may read the tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleName(String);

/// Implements parsing, showing and quoting for names.
macro_rules! names {
    ($($name:ident),+) => {$(
        impl $name {
            /// Returns the name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// Returns the name as SQL.
            pub(crate) fn quoted(&self) -> String {
                quoted(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = NameError;

            fn from_str(text: &str) -> Result<Self, NameError> {
                if text.is_empty() || text.len() > NAME_BYTES_MAX || text.contains('\0') {
                    return Err(NameError(one_line(text, SHOWN_CHARS_MAX)));
                }
                Ok(Self(text.to_owned()))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&one_line(&self.0, SHOWN_CHARS_MAX))
            }
        }
    )+};
}

names!(SchemaName, RoleName);

/// Returns a name as SQL: quoted, whatever is in it.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Returns the names as SQL, separated by commas.
pub(crate) fn quoted_list<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    names.into_iter().map(quoted).collect::<Vec<_>>().join(", ")
}

/// Returns the table for items of a type, by [`Item::table`](dragline_domain::item::Item::table). A
/// name that is too long is cut, and a digest of all of it tells it from others.
pub(crate) fn item_table(type_table: &str) -> String {
    let name = format!("item_{type_table}");
    if name.len() <= NAME_BYTES_MAX {
        return name;
    }
    let digest = HEXLOWER.encode(&Sha256::digest(name.as_bytes()));
    let kept = name.floor_char_boundary(NAME_BYTES_MAX - DIGEST_DIGITS - 1);
    format!("{}_{}", &name[..kept], &digest[..DIGEST_DIGITS])
}

/// Returns the column for a property of an item. No property's column ends in an underscore, so
/// what is appended to PostgreSQL's own names makes no two the same.
pub(crate) fn item_column(name: String) -> String {
    if SYSTEM_COLUMNS.contains(&name.as_str()) { name + "_" } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_whatever_is_in_them() {
        for (name, expected) in
            [("page", "\"page\""), ("select", "\"select\""), ("a\"b", "\"a\"\"b\""), ("Ä b;--", "\"Ä b;--\"")]
        {
            assert_eq!(quoted(name), expected);
        }
        assert_eq!(quoted_list(["a", "b\""]), "\"a\", \"b\"\"\"");
    }

    #[test]
    fn a_name_that_postgresql_would_change_is_refused() {
        for (text, is_valid, why) in [
            ("dragline", true, "a word"),
            ("Crawl of \"us\"", true, "it is quoted"),
            ("", false, "it is empty"),
            ("a\0b", false, "SQL cannot contain it"),
            (&"x".repeat(63), true, "as long as may be"),
            (&"ä".repeat(32), false, "64 bytes would be cut"),
        ] {
            assert_eq!(text.parse::<SchemaName>().is_ok(), is_valid, "{text:?} because {why}");
        }
    }

    #[test]
    fn tables_of_items_have_short_names_of_their_own() {
        assert_eq!(item_table("product"), "item_product");
        let long = "x".repeat(63);
        let (one, other) = (item_table(&format!("{long}a")), item_table(&format!("{long}b")));
        assert!(one != other && one.len() == NAME_BYTES_MAX && other.len() == NAME_BYTES_MAX, "{one} {other}");
        assert_eq!(item_column("ctid".to_owned()), "ctid_");
        assert_eq!(item_column("price".to_owned()), "price");
    }
}
