use super::*;

#[test]
fn every_state_has_one_status() {
    for state in SessionStateName::ALL {
        let rows = STATUSES.iter().filter(|(ours, _)| *ours == state);
        assert_eq!(rows.count(), 1, "{}", state.as_str());
    }
    for state in TurnState::ALL {
        let rows = SPAWNED_STATUSES.iter();
        let rows = rows.filter(|(ours, _)| *ours == Some(state));
        assert_eq!(rows.count(), 1, "{}", state.as_str());
        let rows = TASK_STATUSES.iter().filter(|(ours, _)| *ours == state);
        assert_eq!(rows.count(), 1, "{}", state.as_str());
    }
}

#[test]
fn every_tool_is_named_after_a_service() {
    for tool in tools() {
        let mut parts = tool.name().splitn(3, '_');
        assert_eq!(parts.next(), Some("agor"));
        assert!(SERVICES.contains(&parts.next().unwrap()), "{}", tool.name());
        assert!(parts.next().is_some());
    }
}

#[test]
fn only_what_is_missing_is_named() {
    let names = [session_named("parentId", "0123"), zone_named(None)];
    let missing = naming(names)(AppError::not_found(Resource::Session));
    assert_eq!(missing.to_string(), "Session not found: 0123");
    assert_eq!(missing.details["parentId"], "0123");
    let other = naming(names)(AppError::not_found(Resource::Zone));
    assert_eq!(other.to_string(), "zone not found");
}
