//! Every reason, for every kind of caller, in the terms of every contract.

use wh_app::samples::{callers, errors_for, has_command_syntax, operations_in};

use super::{super::CONTRACTS, *};
use crate::error::error_line;

/// Returns the names in a text that tools of a contract could have.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'));
    words.filter(|word| !word.is_empty())
}

#[test]
fn advice_names_tools_of_the_contract_that_the_caller_is_shown() {
    for contract in CONTRACTS {
        let tools = (contract.tools)();
        let (mut named, mut errors) = (0, 0);
        for principal in &callers() {
            for error in errors_for(principal) {
                // The words of a refusal do not depend on which tool was called, but for its parameters.
                for called in &tools {
                    errors += 1;
                    let terms = Terms {
                        tools: &tools,
                        principal,
                        called: Some(called),
                    };
                    let line = error_line(&terms.view(&error));
                    assert!(!has_command_syntax(&line), "{line}");
                    // A contract may have called a tool of its own as ours is called.
                    let is_ours = |operation: &Operation| {
                        tools.iter().all(|tool| tool.name() != operation.name())
                    };
                    let ours: Vec<_> = operations_in(&line).into_iter().filter(is_ours).collect();
                    assert!(ours.is_empty(), "{line}");
                    let callable = |name: &&str| tools.iter().any(|tool| tool.name() == *name);
                    for name in names(&line).filter(callable) {
                        named += 1;
                        let tool = tools.iter().find(|tool| tool.name() == name);
                        assert!(tool.is_some_and(|tool| tool.is_shown(principal)), "{line}");
                    }
                }
            }
        }
        println!(
            "{}: {errors} errors name {named} tools",
            contract.server_name
        );
        assert!(errors > 10_000);
    }
}
