//! Every reason, for every kind of caller: its words fit every surface, and its advice names nothing that the caller cannot call.

use std::{collections::HashSet, mem::discriminant};

use wh_app::samples::{
    callers, errors_for, has_call_syntax, has_command_syntax, operations_in, reasons,
};
use wh_domain::{Advice, Operation};

/// Returns the words of advice that every surface shows.
fn words(advice: &Advice) -> String {
    advice.text().into_owned()
}

#[test]
fn words_fit_every_surface() {
    for reason in reasons() {
        let message = reason.to_string();
        assert!(!message.is_empty(), "{reason:?}");
        let advice = reason.advice();
        let texts = advice.iter().map(words);
        for text in texts.chain([message]) {
            let is_foreign = has_call_syntax(&text)
                || has_command_syntax(&text)
                || !operations_in(&text).is_empty();
            assert!(!is_foreign, "{reason:?}: {text:?}");
            assert!(!text.ends_with('.'), "{reason:?}: {text:?}");
        }
    }
}

#[test]
fn advice_is_fitted_to_every_caller() {
    let (mut given, mut left_out) = (0, 0);
    let whole: usize = reasons().iter().map(|reason| reason.advice().len()).sum();
    for caller in callers() {
        let may = |operation: Operation| caller.authorize(operation).is_ok();
        let errors = errors_for(&caller);
        let advice = errors.iter().flat_map(|error| &error.hint);
        let mut kept = 0;
        for advice in advice {
            kept += 1;
            assert!(advice.is_available_to(may), "{caller:?}: {advice:?}");
        }
        given += kept;
        left_out += whole - kept;
    }
    assert!(left_out > 0 && given > 1000, "{given}, {left_out}");
}

#[test]
fn every_kind_of_reason_has_a_sample() {
    let reasons = reasons();
    let kinds: HashSet<_> = reasons.iter().map(discriminant).collect();
    println!("{} reasons of {} kinds", reasons.len(), kinds.len());
    assert!(reasons.len() > 200 && kinds.len() > 35);
}

#[test]
fn absent_and_inaccessible_read_the_same() {
    let reason = wh_app::Reason::NotFound(wh_app::Resource::Session);
    assert_eq!(reason.to_string(), "session not found");
}
