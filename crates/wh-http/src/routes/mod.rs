//! The REST table, by resource. `/openapi.json` and the router are made from it.

mod agent;
mod audit;
mod board;
mod config;
mod event;
mod host_credential;
mod key;
mod loops;
mod message;
mod repo;
mod run;
mod server;
mod session;
mod session_life;
mod task;
mod usage;
mod user;
mod webhook;
mod worktree;

use crate::table::Route;

/// Every row of the table.
pub(crate) fn all() -> Vec<Route> {
    [
        server::routes(),
        user::routes(),
        key::routes(),
        repo::routes(),
        agent::routes(),
        board::routes(),
        config::routes(),
        audit::routes(),
        session::routes(),
        session_life::routes(),
        message::routes(),
        event::routes(),
        worktree::routes(),
        run::routes(),
        usage::routes(),
        webhook::routes(),
        host_credential::routes(),
        task::routes(),
        loops::routes(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use wh_domain::Operation;

    use super::*;

    /// Operations that have no row here, and why.
    const NOT_IN_THE_TABLE: &[Operation] = &[
        // Answers with a cookie and a redirect instead of JSON, and nobody is signed in yet: `GET /login`.
        Operation::LoginRedeem,
    ];

    #[test]
    fn every_operation_has_a_route() {
        let routed: BTreeSet<_> = all().iter().map(|route| route.operation).collect();
        for operation in Operation::ALL {
            assert_ne!(
                routed.contains(operation),
                NOT_IN_THE_TABLE.contains(operation),
                "{}",
                operation.name()
            );
        }
    }

    #[test]
    fn routes_are_distinct_and_fit_their_requests() {
        let (mut ids, mut paths) = (BTreeSet::new(), BTreeSet::new());
        for route in all() {
            assert!(ids.insert(route.id), "{} is named twice", route.id);
            assert!(
                paths.insert(format!("{} {}", route.method, route.path)),
                "{} is routed twice",
                route.path
            );
            for name in crate::openapi::path_parameters(route.path) {
                assert!(route.fields.contains(name), "{} {name}", route.path);
            }
        }
    }

    #[test]
    fn a_method_says_what_the_operation_does() {
        for route in all() {
            assert_eq!(
                route.method == http::Method::GET,
                !route.operation.rule().effect.changes(),
                "{}",
                route.id
            );
        }
    }
}
