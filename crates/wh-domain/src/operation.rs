//! The permission table: every operation, what it does to the world, and who may call it.
//!
//! REST routes, MCP tools and CLI commands are translations of these; a test on each surface fails when one of them
//! has no row here, and the matrix test calls every row with every kind of credential.

use crate::{
    Board, Credential, CredentialKind, Denied, Principal, Reach, SessionRole, ShareLevel, UserRole,
};

/// What calling an operation does to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Changes nothing.
    Read,
    /// Adds or changes something; a repeat may do it again.
    Write,
    /// Sets something to a value; a repeat changes nothing more.
    Set,
    /// Ends or removes something.
    Destroy,
}

impl Effect {
    /// Tells whether it changes anything.
    pub fn changes(self) -> bool {
        self != Self::Read
    }
}

/// What a user must be to call an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Standing {
    /// Anyone signed in, for what lies within their reach.
    Anyone,
    /// Administrators.
    Admin,
}

/// One row of the permission table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    pub operation: Operation,
    /// The name under which every surface offers it, noun first.
    pub name: &'static str,
    pub effect: Effect,
    pub standing: Standing,
    /// May a `client` key call it?
    pub clients: bool,
    /// The roles whose session tokens may call it.
    pub roles: &'static [SessionRole],
    /// The level of sharing that opens it to users for what others own; nothing does unless given.
    pub shared: Option<ShareLevel>,
}

const EVERY_ROLE: &[SessionRole] = &SessionRole::ALL;
const NO_ROLE: &[SessionRole] = &[];
/// Those that may direct their descendants.
const DIRECTORS: &[SessionRole] = &[
    SessionRole::General,
    SessionRole::Planning,
    SessionRole::Coding,
    SessionRole::Lead,
];
/// Those that reach everything their user owns.
const LEADS: &[SessionRole] = &[SessionRole::Lead];

/// For what is one's own alone.
const OWN: Option<ShareLevel> = None;
const READ: Option<ShareLevel> = Some(ShareLevel::Read);
const PROMPT: Option<ShareLevel> = Some(ShareLevel::Prompt);

/// What a key for a session's name alone may call; on its own session only.
const OF_SESSION_INTERNAL: &[Operation] = &[Operation::SessionUpdate];

macro_rules! operations {
    ($($operation:ident, $name:literal, $effect:ident, $standing:ident, $clients:literal, $roles:ident, $shared:ident;)+) => {
        /// Something a caller can ask the application to do. Each exists once, in `wh-app`, under this name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Operation {
            $(#[doc = concat!("`", $name, "`")] $operation,)+
        }

        impl Operation {
            /// Every operation, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$operation,)+];

            /// Returns the operation's row.
            pub fn rule(self) -> &'static Rule {
                &RULES[self as usize]
            }
        }

        /// Who may do what.
        const RULES: &[Rule] = &[$(Rule {
            operation: Operation::$operation,
            name: $name,
            effect: Effect::$effect,
            standing: Standing::$standing,
            clients: $clients,
            roles: $roles,
            shared: $shared,
        },)+];
    };
}

operations! {
    // operation,       name,                effect,  standing, clients, roles,      shared
    SessionCurrent,     "session_current",   Read,    Anyone,   false,   EVERY_ROLE, OWN;
    SessionList,        "session_list",      Read,    Anyone,   true,    EVERY_ROLE, READ;
    SessionGet,         "session_get",       Read,    Anyone,   true,    EVERY_ROLE, READ;
    SessionCreate,      "session_create",    Write,   Anyone,   true,    LEADS,      OWN;
    SessionSpawn,       "session_spawn",     Write,   Anyone,   true,    DIRECTORS,  OWN;
    SessionFork,        "session_fork",      Write,   Anyone,   true,    DIRECTORS,  OWN;
    SessionPrompt,      "session_prompt",    Write,   Anyone,   true,    DIRECTORS,  PROMPT;
    SessionWait,        "session_wait",      Read,    Anyone,   true,    EVERY_ROLE, READ;
    SessionInterrupt,   "session_interrupt", Set,     Anyone,   true,    DIRECTORS,  OWN;
    SessionManage,      "session_manage",    Destroy, Anyone,   true,    DIRECTORS,  OWN;
    SessionUpdate,      "session_update",    Set,     Anyone,   true,    EVERY_ROLE, OWN;
    SessionTree,        "session_tree",      Read,    Anyone,   true,    EVERY_ROLE, READ;
    BoardList,          "board_list",        Read,    Anyone,   true,    EVERY_ROLE, READ;
    BoardGet,           "board_get",         Read,    Anyone,   true,    EVERY_ROLE, READ;
    BoardCreate,        "board_create",      Write,   Anyone,   true,    LEADS,      OWN;
    BoardUpdate,        "board_update",      Set,     Anyone,   true,    LEADS,      OWN;
    BoardDuplicate,     "board_duplicate",   Write,   Anyone,   true,    LEADS,      OWN;
    BoardShare,         "board_share",       Set,     Anyone,   false,   NO_ROLE,    OWN;
    BoardDelete,        "board_delete",      Destroy, Anyone,   true,    NO_ROLE,    OWN;
    SessionSearch,      "session_search",    Read,    Anyone,   true,    EVERY_ROLE, OWN;
    MessageList,        "message_list",      Read,    Anyone,   true,    EVERY_ROLE, READ;
    MessageGet,         "message_get",       Read,    Anyone,   true,    EVERY_ROLE, READ;
    TurnList,           "turn_list",         Read,    Anyone,   true,    EVERY_ROLE, READ;
    TurnGet,            "turn_get",          Read,    Anyone,   true,    EVERY_ROLE, READ;
    RunList,            "run_list",          Read,    Anyone,   true,    EVERY_ROLE, OWN;
    TurnFile,           "turn_file",         Read,    Anyone,   true,    EVERY_ROLE, READ;
    ApprovalList,       "approval_list",     Read,    Anyone,   true,    EVERY_ROLE, OWN;
    ApprovalAnswer,     "approval_answer",   Set,     Anyone,   true,    DIRECTORS,  OWN;
    AgentList,          "agent_list",        Read,    Anyone,   true,    EVERY_ROLE, OWN;
    AgentGet,           "agent_get",         Read,    Anyone,   true,    EVERY_ROLE, OWN;
    RepoList,           "repo_list",         Read,    Anyone,   true,    EVERY_ROLE, OWN;
    RepoAdd,            "repo_add",          Write,   Anyone,   true,    NO_ROLE,    OWN;
    RepoCheck,          "repo_check",        Read,    Anyone,   true,    NO_ROLE,    OWN;
    RepoDelete,         "repo_delete",       Destroy, Anyone,   true,    NO_ROLE,    OWN;
    RepoTrust,          "repo_trust",        Set,     Anyone,   false,   NO_ROLE,    OWN;
    WorktreeList,       "worktree_list",     Read,    Anyone,   true,    EVERY_ROLE, OWN;
    WorktreeGet,        "worktree_get",      Read,    Anyone,   true,    EVERY_ROLE, OWN;
    WorktreeCreate,     "worktree_create",   Write,   Anyone,   true,    LEADS,      OWN;
    WorktreeDiff,       "worktree_diff",     Read,    Anyone,   true,    EVERY_ROLE, OWN;
    WorktreeMerge,      "worktree_merge",    Set,     Anyone,   true,    LEADS,      OWN;
    WorktreeRemove,     "worktree_remove",   Destroy, Anyone,   true,    LEADS,      OWN;
    TaskAdd,            "task_add",          Write,   Anyone,   true,    EVERY_ROLE, OWN;
    TaskUpdate,         "task_update",       Set,     Anyone,   true,    EVERY_ROLE, OWN;
    TaskList,           "task_list",         Read,    Anyone,   true,    EVERY_ROLE, OWN;
    TaskNext,           "task_next",         Write,   Anyone,   true,    EVERY_ROLE, OWN;
    NoteAdd,            "note_add",          Write,   Anyone,   true,    EVERY_ROLE, OWN;
    NoteList,           "note_list",         Read,    Anyone,   true,    EVERY_ROLE, OWN;
    IterationSummary,   "iteration_summary", Set,     Anyone,   true,    EVERY_ROLE, OWN;
    LoopComplete,       "loop_complete",     Set,     Anyone,   true,    EVERY_ROLE, OWN;
    LoopStart,          "loop_start",        Write,   Anyone,   true,    LEADS,      OWN;
    LoopGet,            "loop_get",          Read,    Anyone,   true,    EVERY_ROLE, OWN;
    LoopList,           "loop_list",         Read,    Anyone,   true,    EVERY_ROLE, OWN;
    LoopLog,            "loop_log",          Read,    Anyone,   true,    EVERY_ROLE, OWN;
    LoopPause,          "loop_pause",        Set,     Anyone,   true,    LEADS,      OWN;
    LoopResume,         "loop_resume",       Set,     Anyone,   true,    LEADS,      OWN;
    LoopStop,           "loop_stop",         Destroy, Anyone,   true,    LEADS,      OWN;
    UsageReport,        "usage_report",      Read,    Anyone,   true,    EVERY_ROLE, OWN;
    UserCreate,         "user_create",       Write,   Admin,    false,   NO_ROLE,    OWN;
    UserGet,            "user_get",          Read,    Anyone,   false,   NO_ROLE,    OWN;
    UserList,           "user_list",         Read,    Anyone,   false,   NO_ROLE,    OWN;
    UserUpdate,         "user_update",       Set,     Admin,    false,   NO_ROLE,    OWN;
    UserDelete,         "user_delete",       Destroy, Admin,    false,   NO_ROLE,    OWN;
    KeyCreate,          "key_create",        Write,   Anyone,   false,   NO_ROLE,    OWN;
    KeyList,            "key_list",          Read,    Anyone,   false,   NO_ROLE,    OWN;
    KeyRevoke,          "key_revoke",        Destroy, Anyone,   false,   NO_ROLE,    OWN;
    WebhookCreate,      "webhook_create",    Write,   Anyone,   false,   NO_ROLE,    OWN;
    WebhookList,        "webhook_list",      Read,    Anyone,   false,   NO_ROLE,    OWN;
    WebhookUpdate,      "webhook_update",    Set,     Anyone,   false,   NO_ROLE,    OWN;
    WebhookDelete,      "webhook_delete",    Destroy, Anyone,   false,   NO_ROLE,    OWN;
    CredentialSet,      "credential_set",    Set,     Anyone,   false,   NO_ROLE,    OWN;
    CredentialList,     "credential_list",   Read,    Anyone,   false,   NO_ROLE,    OWN;
    CredentialDelete,   "credential_delete", Destroy, Anyone,   false,   NO_ROLE,    OWN;
    ConfigGet,          "config_get",        Read,    Anyone,   false,   NO_ROLE,    OWN;
    ConfigSet,          "config_set",        Set,     Admin,    false,   NO_ROLE,    OWN;
    ServerConfigGet,    "server_config_get", Read,    Admin,    false,   NO_ROLE,    OWN;
    AuditList,          "audit_list",        Read,    Anyone,   false,   NO_ROLE,    OWN;
    EventList,          "event_list",        Read,    Anyone,   true,    EVERY_ROLE, READ;
    BackupCreate,       "backup_create",     Write,   Admin,    false,   NO_ROLE,    OWN;
    LoginLinkCreate,    "login_link_create", Write,   Admin,    false,   NO_ROLE,    OWN;
    LoginRedeem,        "login_redeem",      Write,   Anyone,   false,   NO_ROLE,    OWN;
    Logout,             "logout",            Destroy, Anyone,   false,   NO_ROLE,    OWN;
    WhoAmI,             "whoami",            Read,    Anyone,   true,    EVERY_ROLE, OWN;
}

impl Operation {
    /// Returns the name every surface offers it under.
    pub fn name(self) -> &'static str {
        self.rule().name
    }

    /// Finds an operation by its name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|op| op.name() == name)
    }
}

impl Principal {
    /// Decides whether this principal may call `operation` at all and, if so, on which part of the world.
    pub fn authorize(&self, operation: Operation) -> Result<Reach, Denied> {
        let rule = operation.rule();
        let kind = self.credential.kind();
        let allowed = match &self.credential {
            Credential::Local | Credential::Browser { .. } | Credential::Full { .. } => true,
            Credential::Read { .. } => !rule.effect.changes(),
            Credential::Client { .. } => rule.clients,
            Credential::Session { role, lineage, .. } => {
                rule.roles.contains(role) && lineage.iter().all(|role| rule.roles.contains(&role))
            }
            Credential::SessionInternal { .. } => OF_SESSION_INTERNAL.contains(&operation),
        };
        if !allowed {
            return Err(Denied::Scope { operation, kind });
        }
        if rule.standing == Standing::Admin && self.role != UserRole::Admin {
            return Err(Denied::Standing { operation });
        }
        if operation == Operation::SessionCurrent && kind != CredentialKind::Session {
            return Err(Denied::NoSession);
        }
        Ok(match (self.reach(), rule.shared) {
            (Reach::User(user), Some(level)) if !self.leads() => {
                Reach::UserAndGuest { user, level }
            }
            (reach, _) => reach,
        })
    }

    /// Returns whether this principal is a session that leads. One that was created by another session never does.
    pub fn leads(&self) -> bool {
        match &self.credential {
            Credential::Session { role, lineage, .. } => {
                *role == SessionRole::Lead && lineage.is_empty()
            }
            _ => false,
        }
    }

    /// Returns whether this principal may create a session that leads: people may, and no agent and no key that sees less than
    /// its user.
    pub fn may_appoint_leads(&self) -> bool {
        matches!(
            self.credential,
            Credential::Local | Credential::Browser { .. } | Credential::Full { .. }
        )
    }

    /// Returns whether this principal may choose the container image of a repository. Every image of the server's user can be named,
    /// and images may hold what not every member should read.
    pub fn may_choose_image(&self) -> bool {
        let is_client = self.credential.kind() == CredentialKind::Client;
        self.role == UserRole::Admin && !is_client
    }

    /// Tells whether this principal may change a board that it was shown.
    pub fn may_change_board(&self, board: &Board) -> bool {
        let allowed = self.authorize(Operation::BoardUpdate);
        allowed.is_ok_and(|reach| reach.covers_board(board))
    }
}

#[cfg(test)]
mod tests {
    use newtype_uuid::GenericUuid;
    use uuid::Uuid;

    use super::*;
    use crate::{KeyId, SessionId, UserId};

    #[test]
    fn rows_are_in_the_order_of_the_enum_and_names_are_unique() {
        for (index, operation) in Operation::ALL.iter().enumerate() {
            assert_eq!(*operation as usize, index);
            assert_eq!(operation.rule().operation, *operation);
            assert_eq!(Operation::parse(operation.name()), Some(*operation));
        }
    }

    #[test]
    fn a_session_internal_key_may_rename_and_nothing_else() {
        let id = Uuid::from_u128(1);
        let principal = Principal {
            user: UserId::from_untyped_uuid(id),
            role: UserRole::Admin,
            credential: Credential::SessionInternal {
                key: KeyId::from_untyped_uuid(id),
                session: SessionId::from_untyped_uuid(id),
            },
        };
        for operation in Operation::ALL {
            let allowed = principal.authorize(*operation).is_ok();
            let renames = *operation == Operation::SessionUpdate;
            assert_eq!(allowed, renames, "{}", operation.name());
        }
        assert!(matches!(principal.reach(), Reach::Tree(_)));
    }

    #[test]
    fn sharing_opens_reads_and_prompts_and_nothing_else() {
        for operation in Operation::ALL {
            let rule = operation.rule();
            let expected = match (*operation, rule.effect.changes()) {
                (Operation::SessionPrompt, _) => Some(Some(ShareLevel::Prompt)),
                (_, true) => Some(None),
                (_, false) => None,
            };
            if let Some(expected) = expected {
                assert_eq!(rule.shared, expected, "{}", rule.name);
            }
            assert!(rule.shared.is_none() || rule.standing == Standing::Anyone);
        }
    }

    #[test]
    fn only_users_are_given_what_is_shared() {
        let id = Uuid::from_u128(1);
        let (key, session) = (
            KeyId::from_untyped_uuid(id),
            SessionId::from_untyped_uuid(id),
        );
        let principal = |role, credential| Principal {
            user: UserId::from_untyped_uuid(id),
            role,
            credential,
        };
        let of_session = Credential::Session {
            key,
            session,
            role: SessionRole::General,
            lineage: crate::RoleSet::default(),
            epoch: 1,
        };
        use UserRole::{Admin, Member};
        for (role, credential, given) in [
            (Member, Credential::Full { key }, true),
            (Member, Credential::Read { key }, true),
            (Member, Credential::Browser { key }, true),
            (Member, Credential::Client { key }, false),
            (Member, of_session, false),
            (Admin, Credential::Full { key }, false),
            (Admin, Credential::Client { key }, false),
        ] {
            let caller = principal(role, credential);
            for operation in Operation::ALL {
                let Ok(reach) = caller.authorize(*operation) else {
                    continue;
                };
                let wide = matches!(reach, Reach::UserAndGuest { .. });
                let shared = operation.rule().shared.is_some();
                assert_eq!(wide, given && shared, "{} by {caller:?}", operation.name());
                assert_eq!(reach.own(), caller.reach());
            }
        }
    }

    fn session_of(role: SessionRole, lineage: &[SessionRole], user: UserRole) -> Principal {
        let id = Uuid::from_u128(1);
        Principal {
            user: UserId::from_untyped_uuid(id),
            role: user,
            credential: Credential::Session {
                key: KeyId::from_untyped_uuid(id),
                session: SessionId::from_untyped_uuid(id),
                role,
                lineage: lineage.iter().copied().collect(),
                epoch: 1,
            },
        }
    }

    #[test]
    fn a_lead_reaches_what_its_user_owns_and_no_more() {
        for user in [UserRole::Member, UserRole::Admin] {
            let lead = session_of(SessionRole::Lead, &[], user);
            assert_eq!(lead.reach(), Reach::User(lead.user));
            assert_eq!(lead.guest_reach(ShareLevel::Read), None);
            assert!(!lead.sees_events_of(crate::SubjectKind::Key));
            assert!(lead.sees_events_of(crate::SubjectKind::Session));
            for operation in Operation::ALL {
                if let Ok(reach) = lead.authorize(*operation) {
                    assert_eq!(reach, Reach::User(lead.user), "{}", operation.name());
                }
            }
        }
    }

    #[test]
    fn below_another_session_nothing_leads() {
        for above in SessionRole::ALL {
            let child = session_of(SessionRole::Lead, &[above], UserRole::Admin);
            assert!(!child.leads() && matches!(child.reach(), Reach::Tree(_)));
        }
        // A child of a lead may do what its own role may.
        let child = session_of(SessionRole::Coding, &[SessionRole::Lead], UserRole::Member);
        let alone = session_of(SessionRole::Coding, &[], UserRole::Member);
        for operation in Operation::ALL {
            assert_eq!(child.authorize(*operation), alone.authorize(*operation));
        }
    }

    #[test]
    fn a_lead_may_do_more_than_others_with_sessions_boards_worktrees_and_loops_alone() {
        let lead = session_of(SessionRole::Lead, &[], UserRole::Admin);
        let general = session_of(SessionRole::General, &[], UserRole::Admin);
        let may =
            |principal: &Principal, operation: Operation| principal.authorize(operation).is_ok();
        let more: Vec<_> = Operation::ALL
            .iter()
            .filter(|operation| may(&lead, **operation) && !may(&general, **operation))
            .map(|operation| operation.name())
            .collect();
        assert_eq!(
            more,
            [
                "session_create",
                "board_create",
                "board_update",
                "board_duplicate",
                "worktree_create",
                "worktree_merge",
                "worktree_remove",
                "loop_start",
                "loop_pause",
                "loop_resume",
                "loop_stop",
            ]
        );
        assert!(
            Operation::ALL
                .iter()
                .all(|it| may(&lead, *it) || !may(&general, *it))
        );
    }

    #[test]
    fn only_reads_are_open_to_every_role_but_for_a_sessions_own_name_and_list() {
        let own = [
            Operation::SessionUpdate,
            Operation::TaskAdd,
            Operation::TaskUpdate,
            Operation::TaskNext,
            Operation::NoteAdd,
            Operation::IterationSummary,
            Operation::LoopComplete,
        ];
        for operation in Operation::ALL {
            let rule = operation.rule();
            if rule.effect.changes() && !own.contains(operation) {
                assert_ne!(rule.roles, EVERY_ROLE, "{}", rule.name);
            }
        }
    }
}
