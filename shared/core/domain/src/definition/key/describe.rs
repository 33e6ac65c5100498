//! The macro that generates the functions of [`Key`](super::Key) from the descriptions in `table`.

macro_rules! keys {
    (@amount Count $field:expr) => { Number::get(&$field).map(Quantity::Count) };
    (@amount Size $field:expr) => { Number::get(&$field).map(Quantity::Bytes) };
    (@amount Time $field:expr) => { Length::get(&$field).map(Quantity::Time) };
    (@amount $other:ident $field:expr) => { None };
    (@entries Seeds $field:expr) => { Some($field.len()) };
    (@entries Patterns $field:expr) => { Some($field.len()) };
    (@entries Blocks $field:expr) => { Some($field.len()) };
    (@entries QueryRules $field:expr) => { Some($field.len()) };
    (@entries ItemTypes $field:expr) => { Some($field.len()) };
    (@entries MainRules $field:expr) => { Some($field.len()) };
    (@entries RecrawlRules $field:expr) => { Some($field.len()) };
    (@entries AccessRules $field:expr) => { Some($field.len()) };
    (@entries NotifyRules $field:expr) => { Some($field.len()) };
    (@entries $other:ident $field:expr) => { None };
    (@flag) => { None };
    (@flag $name:literal $help:literal) => { Some(KeyFlag { name: $name, help: $help }) };
    ($(
        $(#[doc = $meaning:literal])+
        $variant:ident = $name:literal {
            field: $($field:ident).+,
            kind: $kind:ident $(($bounds:expr))?,
            default: $default:ident $(($said:literal))?,
            example: $example:literal,
            effect: $effect:ident,
            $(flag: $flag:literal $help:literal,)?
        }
    )*) => {
        /// A key of a definition. [`Key::name`] is its path as the user writes it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Key { $($(#[doc = $meaning])+ $variant,)* }

        impl Key {
            /// All keys, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the path in YAML, such as `budget.pages`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns its documentation, in Markdown, line by line.
            pub fn meaning(self) -> impl Iterator<Item = &'static str> {
                let lines: &[&str] = match self { $(Self::$variant => &[$($meaning),+],)* };
                lines.iter().map(|line| line.strip_prefix(' ').unwrap_or(line))
            }

            /// Returns the kind of its value.
            #[must_use]
            pub const fn kind(self) -> ValueKind {
                match self { $(Self::$variant => ValueKind::$kind $(($bounds))?,)* }
            }

            /// Returns the value that applies if it is left out.
            #[must_use]
            pub const fn default(self) -> KeyDefault {
                match self { $(Self::$variant => KeyDefault::$default $(($said))?,)* }
            }

            /// Returns an example value as written in YAML. The examples of all keys together are a
            /// valid definition.
            #[must_use]
            pub const fn example(self) -> &'static str {
                match self { $(Self::$variant => $example,)* }
            }

            /// Returns the effect of a change of it on an iteration that is not finished.
            #[must_use]
            pub const fn effect(self) -> Effect {
                match self { $(Self::$variant => Effect::$effect,)* }
            }

            /// Returns the flag of `dragline crawl` that takes precedence over it.
            #[must_use]
            pub const fn flag(self) -> Option<KeyFlag> {
                match self { $(Self::$variant => keys!(@flag $($flag $help)?),)* }
            }

            /// Returns its field in a draft, to be filled.
            pub fn slot(self, draft: &mut Draft) -> Slot<'_> {
                match self { $(Self::$variant => Slot::$kind(&mut draft.$($field).+),)* }
            }

            /// Returns its number, size or time in a draft; `None` if it has none.
            #[must_use]
            pub fn amount(self, draft: &Draft) -> Option<Quantity> {
                match self { $(Self::$variant => keys!(@amount $kind draft.$($field).+),)* }
            }

            /// Returns the number of entries of its list in a draft; `None` if it has no list, or
            /// one that enforces its own limit.
            #[must_use]
            pub fn entries(self, draft: &Draft) -> Option<usize> {
                match self { $(Self::$variant => keys!(@entries $kind draft.$($field).+),)* }
            }

            /// Whether its field differs between two drafts.
            pub(in crate::definition) fn has_changed(self, old: &Draft, new: &Draft) -> bool {
                match self { $(Self::$variant => old.$($field).+ != new.$($field).+,)* }
            }
        }
    };
}
