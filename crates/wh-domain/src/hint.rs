//! Advice on what to do after a refusal, as values. Each surface renders it in its own terms.

use std::borrow::Cow;

use crate::Operation;

/// One thing that a caller can do about a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Advice {
    /// A clause that reads the same on every surface: it names no operation, argument, flag or command.
    Note(Cow<'static, str>),
    /// Call an operation.
    Call(Suggestion),
    /// Repeat the refused call with one argument set or left out.
    Argument {
        name: &'static str,
        /// The value to set; `None` leaves the argument out.
        value: Option<ArgumentValue>,
        /// An infinitive clause, such as "queue the prompt".
        purpose: Cow<'static, str>,
    },
    /// Have an administrator change a setting.
    Setting {
        name: &'static str,
        purpose: Cow<'static, str>,
    },
    /// Have an administrator change a key of the configuration file.
    ConfigFile {
        table: Cow<'static, str>,
        key: Cow<'static, str>,
        purpose: Cow<'static, str>,
    },
    /// Run a command of the `wheelhouse` program, without the program's name.
    Command {
        command: Cow<'static, str>,
        purpose: Cow<'static, str>,
    },
}

/// An operation to call, with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    pub operation: Operation,
    pub arguments: Vec<(&'static str, ArgumentValue)>,
    /// An infinitive clause, such as "list the sessions you can access".
    pub purpose: Cow<'static, str>,
}

/// The value of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentValue {
    Flag(bool),
    Text(&'static str),
    /// A value that the caller fills in, in capitals, such as `ID`.
    Placeholder(&'static str),
    /// A list of such values.
    Placeholders(&'static str),
}

impl ArgumentValue {
    /// The id of the thing that an operation is about.
    pub const ID: Self = Self::Placeholder("ID");

    /// Returns whether the caller fills in the value.
    pub fn is_placeholder(self) -> bool {
        matches!(self, Self::Placeholder(_) | Self::Placeholders(_))
    }
}

impl Advice {
    /// Returns a clause that reads the same on every surface.
    pub fn note(text: impl Into<Cow<'static, str>>) -> Self {
        Self::Note(text.into())
    }

    /// Returns the advice to call an operation without arguments.
    pub fn call(operation: Operation, purpose: impl Into<Cow<'static, str>>) -> Self {
        Self::call_with(operation, [], purpose)
    }

    /// Returns the advice to call an operation with arguments.
    pub fn call_with<const N: usize>(
        operation: Operation,
        arguments: [(&'static str, ArgumentValue); N],
        purpose: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::Call(Suggestion {
            operation,
            arguments: arguments.into(),
            purpose: purpose.into(),
        })
    }

    /// Returns the advice to repeat the call with an argument.
    pub fn set(
        name: &'static str,
        value: ArgumentValue,
        purpose: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::Argument {
            name,
            value: Some(value),
            purpose: purpose.into(),
        }
    }

    /// Returns the advice to repeat the call without an argument.
    pub fn omit(name: &'static str, purpose: impl Into<Cow<'static, str>>) -> Self {
        Self::Argument {
            name,
            value: None,
            purpose: purpose.into(),
        }
    }

    /// Returns the advice to have an administrator change a setting.
    pub fn setting(name: &'static str, purpose: impl Into<Cow<'static, str>>) -> Self {
        Self::Setting {
            name,
            purpose: purpose.into(),
        }
    }

    /// Returns the advice to have an administrator change a key of the configuration file.
    pub fn config_file(
        table: impl Into<Cow<'static, str>>,
        key: impl Into<Cow<'static, str>>,
        purpose: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::ConfigFile {
            table: table.into(),
            key: key.into(),
            purpose: purpose.into(),
        }
    }

    /// Returns the advice to run a command of the `wheelhouse` program.
    pub fn command(
        command: impl Into<Cow<'static, str>>,
        purpose: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::Command {
            command: command.into(),
            purpose: purpose.into(),
        }
    }

    /// Returns whether the caller can follow the advice: false if it names an operation that `may` denies.
    pub fn is_available_to(&self, may: impl Fn(Operation) -> bool) -> bool {
        match self {
            Self::Call(suggestion) => may(suggestion.operation),
            Self::Note(_)
            | Self::Argument { .. }
            | Self::Setting { .. }
            | Self::ConfigFile { .. }
            | Self::Command { .. } => true,
        }
    }

    /// Renders the advice in words that fit every surface: no call, argument or command is spelled out.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Note(text) => Cow::Borrowed(text),
            Self::Call(Suggestion { purpose, .. }) | Self::Argument { purpose, .. } => {
                Cow::Borrowed(purpose)
            }
            Self::Setting { name, purpose } => Cow::Owned(format!(
                "to {purpose}, an administrator can change the setting {name}"
            )),
            Self::ConfigFile {
                table,
                key,
                purpose,
            } => Cow::Owned(format!(
                "to {purpose}, an administrator can set {key} of [{table}] in the configuration file"
            )),
            Self::Command { purpose, .. } => Cow::Owned(format!("{purpose} on the command line")),
        }
    }

    /// Joins several pieces of advice; `None` if there are none.
    pub fn join<'a>(texts: impl IntoIterator<Item = Cow<'a, str>>) -> Option<String> {
        let texts: Vec<_> = texts.into_iter().collect();
        (!texts.is_empty()).then(|| texts.join("; "))
    }

    /// Renders advice in words that fit every surface; `None` if there is none.
    pub fn sentence(advice: &[Self]) -> Option<String> {
        Self::join(advice.iter().map(Self::text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_available_to_whoever_may_call_the_operation() {
        let call = Advice::call(Operation::TaskList, "list the tasks");
        assert!(call.is_available_to(|_| true));
        assert!(!call.is_available_to(|operation| operation != Operation::TaskList));
        assert!(Advice::note("ask an administrator").is_available_to(|_| false));
    }

    #[test]
    fn the_common_rendering_spells_out_no_call() {
        let advice = [
            Advice::call_with(
                Operation::SessionUpdate,
                [("session", ArgumentValue::ID)],
                "raise the budget",
            ),
            Advice::set(
                "force",
                ArgumentValue::Flag(true),
                "delete everything in it",
            ),
            Advice::setting("budget.session.turns", "raise the limit"),
            Advice::command("doctor", "check the installation"),
        ];
        assert_eq!(
            Advice::sentence(&advice).as_deref(),
            Some(
                "raise the budget; delete everything in it; to raise the limit, an administrator can change the setting \
                 budget.session.turns; check the installation on the command line"
            )
        );
        assert_eq!(Advice::sentence(&[]), None);
    }
}
