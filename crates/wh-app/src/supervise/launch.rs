//! Starts a run: makes its place, its token and its spec, and lets the runner go.

use std::{collections::BTreeMap, path::PathBuf};

use jiff::{SignedDuration, Timestamp};
use newtype_uuid::GenericUuid;
use wh_agents::{Launch, LaunchProgram, LaunchRefusal, Resume, TokenCount};
use wh_domain::{
    Abilities, Conversation, Key, KeyBinding, KeyId, KeyScope, Name, Run, Secret, Session, ShortId,
    Tier, ToolsLink,
};
use wh_runner::{
    Begin, Limits, McpSpec, Quirks, Resources, RunDir, RunSpec, Token,
    egress::Egress,
    link,
    process::{self, ProcessMark},
};
use wh_store::SessionWork;

use super::{
    project_config::Protection,
    sandbox::{add_environment, add_image_environment},
};
use crate::{App, AppError, LaunchMoment, Reason, Result, RunReason, authenticate::hash_secret};

/// How long a session token lives unless it is renewed.
pub(super) const TOKEN_LIFE: SignedDuration = SignedDuration::from_hours(24);

/// What came of trying to start a run.
pub(super) enum Started {
    Yes {
        epoch: u64,
        runner: ProcessMark,
        /// What the transcript says about the start.
        notice: Option<String>,
    },
    /// Not now: the agent would lose the conversation.
    NotBefore(Timestamp),
}

impl App {
    /// Starts the next run of a session. An error is about the session and is told in words.
    pub(super) async fn run_start(&self, work: &SessionWork) -> Result<Started> {
        let session = &work.session;
        self.refuse_disabled(session.owner.user).await?;
        let (launch, image) = match session.tier {
            Tier::Container => {
                let (launch, image) = self.image_launch(session).await?;
                (launch, Some(image))
            }
            Tier::None | Tier::Guarded | Tier::Strict => {
                let launch = self.agents.launch(&session.agent).map_err(refused)?;
                (launch, None)
            }
        };
        let now = self.clock.now();
        let begin = match begin(&launch, work.conversation.as_ref(), now) {
            Ok(begin) => begin,
            Err(at) => return Ok(Started::NotBefore(at)),
        };
        let cwd = self.session_home(session).await?;
        self.context_write(session).await;
        let secret = Secret::from_random(None, KeyScope::Session, self.ids.secret_bits())
            .expect("there are session tokens");
        let (mut run, key) = self.new_run(session, &secret, now)?;
        let dir = self.run_dir(&run);
        let cwd = cwd.canonicalize().unwrap_or(cwd);
        let sandbox = self.sandbox(session, &launch, image.as_ref(), &cwd, &dir);
        let (effective, mut sandbox) = sandbox.await?;
        let protection = match &mut sandbox {
            Some(sandbox) => self.project_config_protect(session, &cwd, sandbox).await?,
            None => Protection::default(),
        };
        run.tier = Some(effective);
        self.store.run_begin(&run, &key).await?;
        let mut spec = self.run_spec(session, &run, &launch, begin, cwd, &secret);
        let echo = self.echo_variables(session, &launch, sandbox.as_ref());
        spec.env.extend(echo.await?);
        if let Some(sandbox) = &sandbox {
            add_environment(sandbox, &launch, &mut spec.env);
            protection.add_environment(&mut spec.env);
        }
        if let Some(image) = &image {
            add_image_environment(&image.config, &mut spec.env);
        }
        spec.egress = self.egress(session, &launch).await?;
        spec.resources = self.resources(session, &spec.cwd, sandbox.as_ref()).await?;
        let cgroups = self.runs.cgroups.as_ref();
        spec.resources.cgroup = cgroups.map(|it| it.run_dir(&process::run_tag(&spec)));
        spec.sandbox = sandbox;
        let runner = link::spawn(&self.runs.program, &dir, &spec).map_err(|error| {
            let reason = error.to_string();
            RunReason::Runner { reason }
        })?;
        let epoch = run.epoch;
        let notices: Vec<_> = [image.map(|image| image.notice()), protection.notice]
            .into_iter()
            .flatten()
            .collect();
        let notice = Some(notices.join("\n")).filter(|notice| !notice.is_empty());
        Ok(Started::Yes {
            epoch,
            runner,
            notice,
        })
    }

    fn new_run(&self, session: &Session, secret: &Secret, now: Timestamp) -> Result<(Run, Key)> {
        let epoch = session.epoch + 1;
        let key = Key {
            id: KeyId::from_untyped_uuid(self.ids.next()),
            user: session.owner.user,
            name: Name::parse("agent")?,
            scope: KeyScope::Session,
            prefix: secret.prefix(),
            hash: hash_secret(secret),
            session: Some(KeyBinding::Run {
                session: session.id,
                epoch,
            }),
            dialect: None,
            created_at: now,
            expires_at: Some(now + TOKEN_LIFE),
            last_used_at: None,
            revoked_at: None,
        };
        let run = Run {
            session: session.id,
            epoch,
            key: key.id,
            journal_seq: 0,
            conversation: None,
            abilities: Abilities::default(),
            tools: ToolsLink::Unused,
            tier: None,
            started_at: now,
            ready_at: None,
            ended_at: None,
            ending: None,
        };
        Ok((run, key))
    }

    fn run_spec(
        &self,
        session: &Session,
        run: &Run,
        launch: &Launch,
        begin: Begin,
        cwd: PathBuf,
        secret: &Secret,
    ) -> RunSpec {
        let command = match &launch.program {
            LaunchProgram::Itself => self.runs.program.clone(),
            LaunchProgram::Found(path) => path.clone(),
        };
        let configured = launch.environment.iter();
        let configured = configured.map(|(name, value)| (name.clone(), value.expose().to_owned()));
        let env: BTreeMap<_, _> = own_ids(session).into_iter().chain(configured).collect();
        RunSpec {
            session: session.id,
            epoch: run.epoch,
            command,
            args: arguments(launch, session),
            env,
            cwd,
            begin,
            mcp: Some(McpSpec {
                name: session.mcp_dialect.server_name().to_owned(),
                token: Token::new(secret.expose()),
                server_file: self.runs.server_file.clone(),
                path: session.mcp_dialect.path(),
            }),
            sandbox: None,
            egress: Egress::default(),
            resources: Resources::default(),
            limits: Limits::default(),
            quirks: Quirks {
                initial_mode: session.mode.clone(),
                initial_model: session.model.as_ref().map(ToString::to_string),
                model_by_flag: launch.model_flag.is_some(),
                input_includes_cached: launch.tokens == TokenCount::InputWithCached,
                last_call_tokens_only: launch.tokens == TokenCount::LastCallOnly,
                always_load_tools: launch.always_load_tools,
                kill_after_cancel: launch.cancel_leaves_commands,
                images_alone: launch.images_alone,
                ..Quirks::default()
            },
        }
    }

    /// Removes the files of a run that is over and stored.
    pub(super) async fn run_forget(&self, run: &Run) {
        let path = self.run_dir(run).path().to_owned();
        let removed = tokio::task::spawn_blocking(move || std::fs::remove_dir_all(path)).await;
        if let Ok(Err(error)) = removed
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(%error, "the files of a run that is over could not be removed");
        }
    }

    /// Returns where a run's files lie.
    pub(super) fn run_dir(&self, run: &Run) -> RunDir {
        let name = format!("{}-{}", run.session, run.epoch);
        RunDir::new(self.runs.runs.join(name))
    }
}

/// Returns the agent's arguments, with the session's model if the agent takes one.
fn arguments(launch: &Launch, session: &Session) -> Vec<String> {
    let model = launch.model_flag.clone().zip(session.model.as_ref());
    let model = model.map(|(flag, model)| [flag, model.to_string()]);
    let own = launch.arguments.iter().cloned();
    own.chain(model.into_iter().flatten()).collect()
}

/// Returns the variables by which an agent and its commands learn which session they belong to.
fn own_ids(session: &Session) -> [(String, String); 3] {
    let id = session.id.to_string();
    [
        ("WHEELHOUSE_SESSION_ID", id.clone()),
        ("WHEELHOUSE_SESSION_SHORT_ID", session.id.short_id()),
        ("AGOR_SESSION_ID", id),
    ]
    .map(|(name, value)| (name.to_owned(), value))
}

/// Decides how the conversation begins; an error says from when on it may.
fn begin(
    launch: &Launch,
    known: Option<&Conversation>,
    now: Timestamp,
) -> Result<Begin, Timestamp> {
    const MINUTE: i64 = 60;
    let Some(known) = known.filter(|known| known.is_used) else {
        return Ok(Begin::New);
    };
    let agent_session = known.name.clone();
    let Abilities { load, resume } = known.abilities;
    match launch.resume {
        Resume::LoadInALaterMinute
            if now.as_second() / MINUTE == known.since.as_second() / MINUTE =>
        {
            let next = (known.since.as_second() / MINUTE + 1) * MINUTE + 1;
            Err(Timestamp::from_second(next).unwrap_or(now))
        }
        Resume::Resume | Resume::AsOffered if resume => Ok(Begin::Resume { agent_session }),
        _ if load => Ok(Begin::Load { agent_session }),
        // The agent cannot take anything up again: it begins anew, and the transcript is ours.
        _ => Ok(Begin::New),
    }
}

fn refused(refusal: LaunchRefusal) -> AppError {
    let moment = LaunchMoment::Start;
    Reason::Launch { refusal, moment }.into()
}
