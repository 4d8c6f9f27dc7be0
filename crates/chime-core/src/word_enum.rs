//! Enums whose variants are words in the database and in logs.

/// Implements `ALL`, `as_str` and `parse` for an enum, given the word of each variant.
#[macro_export]
macro_rules! words {
    ($name:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        impl $name {
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            pub fn parse(raw: &str) -> Option<Self> {
                match raw {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}
