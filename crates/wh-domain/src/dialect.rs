//! Dialects: contracts of other systems, served at addresses of their own beside our tools.

/// A contract of another system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Agents that look at and direct sessions, as Agor designed it.
    Agor,
    /// Session orchestration as Clawed Abode designed it.
    ClawedAbode,
    /// Tasks and notes of an agent that works in iterations, as iteratr designed it.
    Iteratr,
}

impl Dialect {
    /// Every dialect.
    pub const ALL: [Self; 3] = [Self::Agor, Self::ClawedAbode, Self::Iteratr];

    /// Returns the name as stored and shown, and as its address ends: `/mcp/<name>`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agor => "agor",
            Self::ClawedAbode => "clawed-abode",
            Self::Iteratr => "iteratr",
        }
    }

    /// Reads a name back from its text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|dialect| dialect.as_str() == text)
    }
}
