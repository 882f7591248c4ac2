//! Hints of refusals name nothing that the caller cannot call.

use std::{fs, path::Path};

use newtype_uuid::GenericUuid;
use uuid::Uuid;
use wh_domain::{Credential, Operation, Principal, SessionRole, UserRole, fit_hint, operations_in};

/// Collects the texts that follow `.hint(` in the sources below a directory.
fn hints_below(dir: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            hints_below(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs") {
            let source = fs::read_to_string(&path).unwrap();
            for call in source.split(".hint(").skip(1) {
                found.extend(texts(call.split(')').next().unwrap_or_default()));
            }
        }
    }
}

/// Returns the string literals of a piece of source.
fn texts(source: &str) -> Vec<String> {
    let source = source.replace("\\\"", "\u{1}");
    let parts = source.split('"').skip(1).step_by(2);
    parts.map(|text| text.replace('\u{1}', "\"")).collect()
}

fn callers() -> Vec<Principal> {
    let id = Uuid::from_u128(1);
    let (key, session) = (
        GenericUuid::from_untyped_uuid(id),
        GenericUuid::from_untyped_uuid(id),
    );
    let mut credentials = vec![
        Credential::Local,
        Credential::Browser { key },
        Credential::Full { key },
        Credential::Read { key },
        Credential::Client { key },
        Credential::SessionInternal { key, session },
    ];
    credentials.extend(SessionRole::ALL.map(|role| Credential::Session {
        key,
        session,
        role,
        lineage: wh_domain::RoleSet::default(),
        epoch: 1,
    }));
    let with_role = |role| {
        credentials.iter().map(move |credential| Principal {
            user: GenericUuid::from_untyped_uuid(id),
            role,
            credential: credential.clone(),
        })
    };
    with_role(UserRole::Admin)
        .chain(with_role(UserRole::Member))
        .collect()
}

#[test]
fn hints_are_fitted_to_every_caller() {
    let mut hints = Vec::new();
    hints_below(
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")),
        &mut hints,
    );
    hints.retain(|hint| operations_in(hint).next().is_some());
    assert!(hints.len() >= 20, "{hints:?}");
    let mut left_out = 0;
    for hint in &hints {
        for caller in callers() {
            let may = |operation: Operation| caller.authorize(operation).is_ok();
            let fitted = fit_hint(hint, may);
            left_out += usize::from(fitted.as_ref() != Some(hint));
            let named = fitted.iter().flat_map(|hint| operations_in(hint));
            for operation in named {
                assert!(
                    may(operation),
                    "{hint:?} names {} to {caller:?}",
                    operation.name()
                );
            }
        }
    }
    println!(
        "{} hints, each fitted to {} callers; {left_out} times something was left out",
        hints.len(),
        callers().len()
    );
}
