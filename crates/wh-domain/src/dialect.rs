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

    /// Returns the name of the MCP server, in `serverInfo` and in the configuration of agents.
    pub const fn server_name(self) -> &'static str {
        match self {
            Self::Agor => "agor",
            Self::ClawedAbode => "clawed-abode",
            Self::Iteratr => "iteratr-tools",
        }
    }
}

/// The tools that the agent of a session is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum McpDialect {
    /// Our own.
    #[default]
    Native,
    /// Tools of a dialect instead of the native ones.
    Of(Dialect),
}

impl McpDialect {
    /// Every choice.
    pub const ALL: [Self; 4] = [
        Self::Native,
        Self::Of(Dialect::Agor),
        Self::Of(Dialect::ClawedAbode),
        Self::Of(Dialect::Iteratr),
    ];

    /// The name of our own tools.
    const NATIVE: &'static str = "wheelhouse";

    /// Returns the name in the database and in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Native => Self::NATIVE,
            Self::Of(dialect) => dialect.as_str(),
        }
    }

    /// Reads a name; an error lists the names.
    pub fn parse(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|it| it.as_str() == text);
        let names = || Self::ALL.map(Self::as_str).join(", ");
        found.ok_or_else(|| format!("must be among {}", names()))
    }

    /// Returns the name of the MCP server in the configuration of the agent.
    pub fn server_name(self) -> &'static str {
        match self {
            Self::Native => Self::NATIVE,
            Self::Of(dialect) => dialect.server_name(),
        }
    }

    /// Returns the path of the MCP endpoint.
    pub fn path(self) -> String {
        match self {
            Self::Native => "/mcp".to_owned(),
            Self::Of(dialect) => format!("/mcp/{}", dialect.as_str()),
        }
    }

    /// Tells whether its tools include those that the iterations of a loop need.
    pub fn has_loop_tools(self) -> bool {
        matches!(self, Self::Native | Self::Of(Dialect::Iteratr))
    }

    /// Returns the tools of a new session: those that were asked for, or else the first that is configured.
    pub fn choose(asked: Option<Self>, configured: impl IntoIterator<Item = Option<Self>>) -> Self {
        asked
            .or_else(|| configured.into_iter().flatten().next())
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for it in McpDialect::ALL {
            assert_eq!(McpDialect::parse(it.as_str()), Ok(it));
        }
        let refused = McpDialect::parse("agor_").unwrap_err();
        let expected = "must be among wheelhouse, agor, clawed-abode, iteratr";
        assert_eq!(refused, expected);
    }

    #[test]
    fn the_request_comes_before_the_configuration() {
        let (native, agor) = (McpDialect::Native, McpDialect::Of(Dialect::Agor));
        let iteratr = McpDialect::Of(Dialect::Iteratr);
        assert_eq!(McpDialect::choose(None, [None, None]), native);
        assert_eq!(McpDialect::choose(None, [None, Some(agor)]), agor);
        assert_eq!(
            McpDialect::choose(None, [Some(iteratr), Some(agor)]),
            iteratr
        );
        assert_eq!(McpDialect::choose(Some(native), [Some(agor)]), native);
    }
}
