//! Renders errors in the terms of a contract: advice names its tools and their parameters, and what it has no tool for is left out.

use std::borrow::Cow;

use wh_api::ErrorView;
use wh_app::AppError;
use wh_domain::{Advice, Operation, Principal};

use super::tool::DialectTool;
use crate::error::{argument, call, view};

/// The tools of a contract, as one caller can use them.
pub(super) struct Terms<'a> {
    pub(super) tools: &'a [DialectTool],
    pub(super) principal: &'a Principal,
    /// The tool whose call was refused, if it was a call.
    pub(super) called: Option<&'a DialectTool>,
}

impl Terms<'_> {
    /// Renders an error.
    pub(super) fn view(&self, error: &AppError) -> ErrorView {
        let advice = error.hint.iter();
        view(
            error,
            Advice::join(advice.filter_map(|it| self.rendered(it))),
        )
    }

    /// Renders advice; `None` if the contract has no words for it.
    fn rendered<'a>(&self, advice: &'a Advice) -> Option<Cow<'a, str>> {
        match advice {
            Advice::Call(suggestion) => {
                let tool = self.tool_for(suggestion.operation)?;
                let mut known = Vec::new();
                for (name, value) in &suggestion.arguments {
                    match tool.parameter(name) {
                        Some(parameter) => known.push((parameter, *value)),
                        None if value.is_placeholder() => {}
                        // Without a value that matters, the call would do something else.
                        None => return None,
                    }
                }
                Some(call(&suggestion.purpose, tool.name(), known).into())
            }
            Advice::Argument {
                name,
                value,
                purpose,
            } => {
                let parameter = self.called?.parameter(name)?;
                Some(argument(purpose, parameter, *value).into())
            }
            advice => Some(advice.text()),
        }
    }

    /// Returns the tool that translates an operation and that the caller finds in the list of tools.
    fn tool_for(&self, operation: Operation) -> Option<&DialectTool> {
        let mut offered = self.tools.iter().filter(|tool| !tool.is_of_own_session());
        offered.find(|tool| tool.operation() == operation && tool.is_listed(self.principal))
    }
}

#[cfg(test)]
#[path = "hint_tests.rs"]
mod tests;
