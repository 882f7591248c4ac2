//! Rows for tests of lists: many of each kind, at rest, so that a server that starts has nothing to do about them.

use anyhow::{Context, Result};
use futures::future::try_join_all;
use jiff::Timestamp;
use newtype_uuid::GenericUuid;
use sha2::{Digest, Sha256};
use uuid::Uuid;
use wh_domain::{
    Abilities, AgentName, Approval, ApprovalKind, ApprovalState, BoardId, BranchName, Budget,
    CredentialId, CredentialUse, Facts, GitHost, HostCredential, Key, KeyBinding, KeyHash,
    KeyScope, ListOf, Loop, LoopId, LoopOutcome, LoopSpec, LoopState, LoopWish, McpDialect, Name,
    NewAuditEntry, NewLoopLogEntry, NewNote, NewTask, NewTurn, NoteKind, NoteText, Operation,
    Owner, Policy, Repo, RepoId, RepoSource, RepoState, Run, SealedCredential, Secret, SecretText,
    Sender, Session, TaskList, TaskListId, TaskPriority, TaskStatus, TaskText, Title, ToolsLink,
    TurnId, Usage, UserId, Webhook, WebhookKinds, WebhookState, Worktree, WorktreeId,
    WorktreeState,
};
use wh_store::{LoopSave, NewLoop, QueueRules, RunFact, RunStep};

use super::{Seed, some_id};

/// The most tasks or notes of one call.
const TOGETHER_MAX: usize = 50;

impl Seed {
    /// Adds `count` turns that were withdrawn before they began, and returns their ids.
    pub async fn turns(&self, session: &Session, count: usize) -> Result<Vec<TurnId>> {
        let withdrawn = (0..count).map(|n| async move {
            let turn = self.queued(session, &format!("prompt {n}")).await?;
            let (operation, id) = (Operation::SessionInterrupt, session.id);
            let commit = self.commit(operation, id.into(), session.owner, Some(id));
            let _applied = self.store.turn_withdraw(turn, commit).await?;
            Ok(turn)
        });
        try_join_all(withdrawn).await
    }

    async fn queued(&self, session: &Session, prompt: &str) -> Result<TurnId> {
        let turn = NewTurn {
            id: some_id(),
            session: session.id,
            prompt: prompt.to_owned(),
            files: Vec::new(),
            sender: Sender {
                user: session.owner.user,
                session: None,
            },
            urgent: false,
            created_at: self.at,
        };
        let rules = QueueRules {
            waiting_max: u32::MAX,
            only_if_free: false,
            per_minute_max: u32::MAX,
        };
        let (operation, owner) = (Operation::SessionPrompt, session.owner);
        let commit = self.commit(operation, session.id.into(), owner, Some(session.id));
        let _applied = self.store.turn_queue(&turn, rules, commit).await?;
        Ok(turn.id)
    }

    /// Adds `count` runs that are over to a session. Each ends the one before.
    pub async fn runs(&self, session: &Session, count: usize) -> Result<()> {
        let mut last = None;
        for n in 1..=count as u64 {
            last = Some(self.run(session, session.epoch + n).await?);
        }
        match last {
            Some(run) => self.gone(&run, Vec::new()).await,
            None => Ok(()),
        }
    }

    /// Adds a run in which an agent asked `count` times and was gone before anybody answered.
    pub async fn approvals(&self, session: &Session, count: usize) -> Result<()> {
        let turn = self.queued(session, "ask often").await?;
        let run = self.run(session, session.epoch + 1).await?;
        let approval = |n: usize| Approval {
            id: some_id(),
            session: session.id,
            turn: Some(turn),
            epoch: run.epoch,
            request: n.to_string(),
            kind: ApprovalKind::Permission,
            state: ApprovalState::Pending,
            text: format!("may I do {n}?"),
            detail: None,
            answer: None,
            always: false,
            answered_by: None,
            expires_at: None,
            created_at: self.at,
            settled_at: None,
            delivered_at: None,
        };
        let mut facts = vec![RunFact::TurnStarted {
            turn,
            commit_before: None,
        }];
        facts.extend((0..count).map(|n| RunFact::Asked(approval(n))));
        self.gone(&run, facts).await
    }

    async fn run(&self, session: &Session, epoch_number: u64) -> Result<Run> {
        let secret = Secret::from_random(None, KeyScope::Session, Uuid::new_v4().as_u128());
        let secret = secret.context("sessions have keys")?;
        let key = Key {
            id: some_id(),
            user: session.owner.user,
            name: Name::parse("seed")?,
            scope: KeyScope::Session,
            prefix: secret.prefix(),
            hash: KeyHash(Sha256::digest(secret.expose()).into()),
            session: Some(KeyBinding::Run {
                session: session.id,
                epoch: epoch_number,
            }),
            dialect: None,
            created_at: self.at,
            expires_at: None,
            last_used_at: None,
            revoked_at: None,
        };
        let run = Run {
            session: session.id,
            epoch: epoch_number,
            key: key.id,
            journal_seq: 0,
            conversation: None,
            abilities: Abilities::default(),
            tools: ToolsLink::Unused,
            tier: None,
            started_at: self.at,
            ready_at: None,
            ended_at: None,
            ending: None,
        };
        self.store.run_begin(&run, &key).await?;
        Ok(run)
    }

    async fn gone(&self, run: &Run, mut facts: Vec<RunFact>) -> Result<()> {
        facts.push(RunFact::Gone {
            ending: "stopped".to_owned(),
            failed: None,
        });
        let step = RunStep {
            session: run.session,
            epoch: run.epoch,
            after: 0,
            through: 0,
            at: self.at,
            facts,
        };
        self.store.run_apply(step).await?;
        Ok(())
    }

    /// Adds `count` repositories that could not be cloned.
    pub async fn repos(&self, owner: Owner, count: usize) -> Result<Vec<RepoId>> {
        let added = (0..count).map(|n| async move {
            let repo = Repo {
                id: some_id(),
                owner,
                name: Name::parse(&format!("repo-{n}"))?,
                source: RepoSource::parse(&format!("https://example.org/team/{n}.git"))?,
                default_branch: None,
                state: RepoState::Failed {
                    reason: "there is no such host".to_owned(),
                },
                tier: None,
                image: None,
                credential: None,
                mcp_dialect: None,
                is_deleted: false,
                created_at: self.at,
            };
            let commit = self.commit(Operation::RepoAdd, repo.id.into(), owner, None);
            let _applied = self.store.repo_insert(&repo, commit).await?;
            Ok(repo.id)
        });
        try_join_all(added).await
    }

    /// Adds `count` worktrees whose directories are missing.
    pub async fn worktrees(&self, owner: Owner, repo: RepoId, count: usize) -> Result<()> {
        self.worktrees_of(owner, repo, None, count).await
    }

    /// Adds `count` worktrees of a board, whose directories are missing.
    pub async fn worktrees_of(
        &self,
        owner: Owner,
        repo: RepoId,
        board: Option<BoardId>,
        count: usize,
    ) -> Result<()> {
        let added = (0..count).map(|n| async move {
            let git_dir = format!("/nonexistent/{n}").into();
            let state = WorktreeState::Ready { git_dir };
            let worktree = Worktree {
                board,
                ..self.worktree(owner, repo, &format!("listed/{n}"), state)?
            };
            let subject = worktree.id.into();
            let commit = self.commit(Operation::WorktreeCreate, subject, owner, None);
            let _applied = self.store.worktree_insert(&worktree, commit).await?;
            Ok(())
        });
        try_join_all(added).await.map(drop)
    }

    /// Adds `count` loops that were stopped, whose worktrees are gone.
    pub async fn loops(&self, owner: Owner, repo: RepoId, count: usize) -> Result<Vec<LoopId>> {
        let added = (0..count).map(|n| async move {
            let of = self.stopped_loop(owner, repo, n, Vec::new()).await?;
            Ok(of.id)
        });
        try_join_all(added).await
    }

    async fn stopped_loop(
        &self,
        owner: Owner,
        repo: RepoId,
        n: usize,
        log: Vec<NewLoopLogEntry>,
    ) -> Result<Loop> {
        let state = WorktreeState::Removed { at: self.at };
        let worktree = self.worktree(owner, repo, &format!("looped/{n}"), state)?;
        let id: LoopId = some_id();
        let of = Loop {
            id,
            owner,
            title: Title::parse(&format!("loop {n}"))?,
            repo,
            worktree: worktree.id,
            board: None,
            agent: AgentName::parse("echo")?,
            mode: None,
            model: None,
            policy: Policy::default(),
            spec: LoopSpec::parse("do it")?,
            template: None,
            iterations_max: 1,
            budget: Budget::default(),
            started_by: None,
            tier: None,
            hosts: None,
            mcp_dialect: McpDialect::default(),
            usage: Usage::default(),
            state: LoopState::Beginning { iteration: 1 },
            wish: LoopWish::Run,
            idle: 0,
            revision: 1,
            created_at: self.at,
            updated_at: self.at,
        };
        let list = TaskList {
            id: TaskListId::from_untyped_uuid(id.into_untyped_uuid()),
            owner,
            of: ListOf::Loop(id),
            completed_at: None,
            created_at: self.at,
        };
        let new = NewLoop {
            of: of.clone(),
            worktree,
            list,
            tasks: Vec::new(),
        };
        let commit = self.commit(Operation::LoopStart, id.into(), owner, None);
        let _applied = self.store.loop_insert(&new, commit).await?;
        let after = Loop {
            state: LoopState::Ended {
                after: 1,
                outcome: LoopOutcome::Stopped,
            },
            wish: LoopWish::Stop,
            ..of.clone()
        };
        let save = LoopSave {
            after,
            session: None,
            iteration: None,
            log,
        };
        let commit = self.commit(Operation::LoopStop, id.into(), owner, None);
        let _applied = self.store.loop_save(&save, commit).await?;
        Ok(of)
    }

    /// Adds a stopped loop with `count` entries in its log.
    pub async fn loop_log(&self, owner: Owner, repo: RepoId, count: usize) -> Result<LoopId> {
        let entry = |n: usize| NewLoopLogEntry {
            at: self.at,
            iteration: 1,
            about: "loop".to_owned(),
            text: format!("step {n}"),
        };
        let log = (0..count).map(entry).collect();
        let of = self.stopped_loop(owner, repo, usize::MAX, log).await?;
        Ok(of.id)
    }

    /// Adds `count` tasks and as many notes to a list under a name. Their statuses, priorities and kinds take turns.
    pub async fn task_list(&self, owner: Owner, name: &str, count: usize) -> Result<()> {
        let list = TaskList {
            id: some_id(),
            owner,
            of: ListOf::Name(Name::parse(name)?),
            completed_at: None,
            created_at: self.at,
        };
        let numbers: Vec<_> = (0..count).collect();
        for chunk in numbers.chunks(TOGETHER_MAX) {
            let tasks: Result<Vec<_>> = chunk.iter().map(|n| task(*n)).collect();
            let subject = list.id.into();
            let added = self.commit(Operation::TaskAdd, subject, owner, None);
            let _applied = self.store.task_add(&list, &tasks?, added).await?;
            let note = |n: &usize| {
                Ok(NewNote {
                    id: some_id(),
                    kind: NoteKind::ALL[n % NoteKind::ALL.len()],
                    content: NoteText::parse(&format!("note {n}"))?,
                })
            };
            let notes: Result<Vec<_>> = chunk.iter().map(note).collect();
            let noted = self.commit(Operation::NoteAdd, subject, owner, None);
            let _applied = self.store.note_add(&list, &notes?, None, noted).await?;
        }
        Ok(())
    }

    /// Adds a credential of a user for a host that does not exist.
    pub async fn credential(&self, user: UserId) -> Result<()> {
        let id: CredentialId = some_id();
        let sealed = SealedCredential {
            credential: HostCredential {
                id,
                user,
                host: GitHost::parse(&format!("{id}.example"))?,
                username: "git".to_owned(),
                usable_by: CredentialUse::Own,
                created_at: self.at,
            },
            sealed: Vec::new(),
        };
        let owner = Owner { user, key: None };
        let commit = self.commit(Operation::CredentialSet, user.into(), owner, None);
        let _applied = self.store.credential_set(&sealed, commit).await?;
        Ok(())
    }

    /// Adds `count` webhooks that are turned off.
    pub async fn webhooks(&self, user: UserId, count: usize) -> Result<()> {
        let added = (0..count).map(|n| async move {
            let webhook = Webhook {
                id: some_id(),
                user,
                url: format!("https://hooks.example/{n}"),
                kinds: WebhookKinds::parse(["session.*"])?,
                board: None,
                session: None,
                secret: SecretText::new("whsec_AAAA".to_owned()),
                state: WebhookState::Paused,
                failures: 0,
                last_error: None,
                cursor: *self.store.event_watch().borrow(),
                created_at: self.at,
            };
            let owner = Owner { user, key: None };
            let commit = self.commit(Operation::WebhookCreate, webhook.id.into(), owner, None);
            let _applied = self.store.webhook_insert(&webhook, commit).await?;
            Ok(())
        });
        try_join_all(added).await.map(drop)
    }

    /// Adds `count` calls of an operation that changes nothing to the audit log.
    #[expect(
        clippy::disallowed_methods,
        reason = "a server that is started in earnest deletes old entries by the real time"
    )]
    pub async fn calls(&self, user: UserId, operation: Operation, count: usize) -> Result<()> {
        let owner = Owner { user, key: None };
        let now = Timestamp::now();
        for _ in 0..count {
            let entry = NewAuditEntry {
                at: now,
                subject: None,
                facts: Facts::new(),
                ..self.commit(operation, user.into(), owner, None).audit
            };
            self.store.audit_note(entry).await?;
        }
        Ok(())
    }

    fn worktree(
        &self,
        owner: Owner,
        repo: RepoId,
        branch: &str,
        state: WorktreeState,
    ) -> Result<Worktree> {
        let id: WorktreeId = some_id();
        Ok(Worktree {
            id,
            owner,
            repo,
            name: Name::parse(branch)?,
            branch: BranchName::parse(branch)?,
            base: None,
            base_sha: None,
            path: format!("/nonexistent/{id}").into(),
            board: None,
            state,
            changes: None,
            created_at: self.at,
        })
    }
}

fn task(n: usize) -> Result<NewTask> {
    let priority = TaskPriority::new((n % 5) as u8).context("priorities are 0 to 4")?;
    Ok(NewTask {
        id: some_id(),
        content: TaskText::parse(&format!("task {n}"))?,
        status: match n % 3 {
            0 => TaskStatus::Remaining,
            1 => TaskStatus::Blocked,
            _ => TaskStatus::Completed,
        },
        priority,
        depends_on: Vec::new(),
    })
}
