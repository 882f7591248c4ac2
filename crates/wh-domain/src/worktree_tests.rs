//! Every step from every state.

use newtype_uuid::GenericUuid;
use uuid::Uuid;

use super::*;
use crate::UserId;

fn worktree(state: WorktreeState) -> Worktree {
    Worktree {
        id: WorktreeId::from_untyped_uuid(Uuid::from_u128(1)),
        owner: Owner {
            user: UserId::from_untyped_uuid(Uuid::from_u128(2)),
            key: None,
        },
        repo: RepoId::from_untyped_uuid(Uuid::from_u128(3)),
        name: Name::parse("one").unwrap(),
        branch: BranchName::parse("one").unwrap(),
        base: None,
        base_sha: None,
        path: "/data/worktrees/1".into(),
        board: None,
        state,
        changes: None,
        created_at: Timestamp::UNIX_EPOCH,
    }
}

#[test]
fn only_known_steps_are_taken() {
    use WorktreeStateName as Name;
    let git_dir = || PathBuf::from("/repo/.git/worktrees/1");
    let (at, how) = (Timestamp::UNIX_EPOCH, WorktreeRemoval::Rescue);
    let states = [
        WorktreeState::Making,
        WorktreeState::Ready { git_dir: git_dir() },
        WorktreeState::Removing {
            git_dir: git_dir(),
            how,
        },
        WorktreeState::Removed { at },
    ];
    let made = WorktreeStep::Made {
        git_dir: git_dir(),
        base_sha: "0".repeat(40),
    };
    let removal = WorktreeStep::Remove { how };
    let table = [
        (made, [Some(Name::Ready), None, None, None]),
        (
            removal,
            [None, Some(Name::Removing), Some(Name::Removing), None],
        ),
        (WorktreeStep::Kept, [None, None, Some(Name::Ready), None]),
        (
            WorktreeStep::Gone { at },
            [Some(Name::Removed), None, Some(Name::Removed), None],
        ),
    ];
    for (step, ends) in table {
        for (state, end) in states.iter().zip(ends) {
            let mut worktree = worktree(state.clone());
            let before = worktree.clone();
            let went = worktree.apply(step.clone());
            assert_eq!(went.is_ok(), end.is_some(), "{step:?} from {state:?}");
            assert_eq!(worktree.state.name(), end.unwrap_or(state.name()));
            if went.is_err() {
                assert_eq!(worktree, before);
            }
        }
    }
}

#[test]
fn paths_are_known_while_it_is_there() {
    let git_dir = PathBuf::from("/repo/.git/worktrees/1");
    assert_eq!(worktree(WorktreeState::Making).paths(), None);
    let ready = worktree(WorktreeState::Ready {
        git_dir: git_dir.clone(),
    });
    assert_eq!(ready.paths().unwrap().git_dir, git_dir);
}
