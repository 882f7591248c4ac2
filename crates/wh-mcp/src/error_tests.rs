//! Every reason, for every kind of caller, in the terms of our tools.

use wh_app::samples::{callers, errors_for, has_command_syntax, operations_in};
use wh_domain::Operation;

use super::*;

#[test]
fn advice_names_tools_that_the_caller_can_call() {
    let (mut named, mut errors) = (0, 0);
    for caller in callers() {
        for error in errors_for(&caller) {
            errors += 1;
            let view = error_view(&error);
            let line = error_line(&view);
            assert!(!has_command_syntax(&line), "{line}");
            assert!(operations_in(&view.message).is_empty(), "{line}");
            for operation in operations_in(&line) {
                named += 1;
                assert!(CATALOGUE.get(operation.name()).is_some(), "{line}");
                let is_allowed = caller.authorize(operation).is_ok();
                assert!(is_allowed, "{caller:?}: {line}");
            }
        }
    }
    println!("{errors} errors name {named} tools");
    assert!(named > 1000, "{named}");
}

#[test]
fn advice_has_arguments_that_the_tools_take() {
    let advice = wh_app::samples::reasons();
    let advice = advice.iter().flat_map(Reason::advice);
    let mut any = serde_json::Map::new();
    for operation in Operation::ALL {
        if let Some(tool) = CATALOGUE.get(operation.name())
            && let Some(fields) = tool.model().input_schema.get("properties")
            && let Some(fields) = fields.as_object()
        {
            any.extend(fields.clone());
        }
    }
    for advice in advice {
        match advice {
            Advice::Call(suggestion) => {
                // What no tool does is left out for MCP clients.
                let Some(tool) = CATALOGUE.get(suggestion.operation.name()) else {
                    continue;
                };
                let fields = tool.model().input_schema.get("properties");
                for (name, _) in &suggestion.arguments {
                    let is_taken = fields.is_some_and(|fields| fields.get(name).is_some());
                    assert!(is_taken, "{suggestion:?}");
                }
            }
            // Credentials are stored by REST alone.
            Advice::Argument { name, .. } => {
                assert!(any.contains_key(name) || name == "usable_by", "{name}");
            }
            _ => {}
        }
    }
}

#[test]
fn calls_are_spelled_out() {
    let error = AppError::not_found(wh_app::Resource::Session);
    assert_eq!(
        error_line(&error_view(&error)),
        "NOT_FOUND: session not found (to list the sessions you can access, call session_list; an id can be shortened to its last 8 digits)"
    );
    let refused = AppError::from(wh_app::MergeReason::UsedByOthers);
    let hint = error_view(&refused).hint.unwrap();
    assert!(
        hint.ends_with("to merge and keep the worktree, omit remove_after"),
        "{hint}"
    );
    let spent = AppError::from(wh_app::SessionReason::BudgetSpent { by_agent: false });
    let hint = error_view(&spent).hint.unwrap();
    assert!(
        hint.starts_with(
            r#"to raise the budget, call session_update {"session": ID, "budget": BUDGET}"#
        ),
        "{hint}"
    );
}
