//! What it takes to start an agent, put together from its profile or the configuration and what is installed now.

use std::{collections::BTreeMap, path::PathBuf};

use wh_domain::{AgentName, SecretText};

use crate::{Agents, CustomAgent, PROFILES, Profile, Resume, TokenCount, probe};

/// How to start an agent so that it speaks ACP on its standard streams, and what to mind while it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    pub program: LaunchProgram,
    pub arguments: Vec<String>,
    /// Variables it is started with; they may hold credentials.
    pub environment: BTreeMap<String, SecretText>,
    pub resume: Resume,
    pub tokens: TokenCount,
    /// Whether our tools must be marked so that it does not defer them.
    pub always_load_tools: bool,
    /// Whether a command goes on running when its turn is cancelled.
    pub cancel_leaves_commands: bool,
    /// As in [`crate::Profile::images_alone`].
    pub images_alone: bool,
    /// Whether it connects to our tools as soon as its session opens, so that one that has not is broken.
    pub connects_at_start: bool,
    /// As in [`crate::Profile::login_files`].
    pub login_files: Vec<String>,
}

/// Which program an agent is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LaunchProgram {
    /// The program that is running, with the arguments that make it the built-in agent.
    Itself,
    /// One that was found on the `PATH`.
    Found(PathBuf),
}

/// Why an agent cannot be started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LaunchRefusal {
    #[error("there is no agent called {name:?}")]
    Unknown { name: String },
    #[error("{name} cannot be run: {} not found", programs.join(" and "))]
    Missing {
        name: String,
        programs: Vec<String>,
        install: Vec<String>,
    },
}

impl Agents {
    /// Puts together how `name` is started, from what is installed now.
    pub fn launch(&self, name: &AgentName) -> Result<Launch, LaunchRefusal> {
        if let Some(custom) = self.custom(name) {
            return self.launch_custom(custom);
        }
        let profile = PROFILES.iter().find(|it| it.name == name.as_str());
        let profile = profile.ok_or_else(|| LaunchRefusal::Unknown {
            name: name.to_string(),
        })?;
        self.launch_profile(profile)
    }

    /// Returns the file in which `name` is told which session it is, if it reads one.
    pub fn context_file(&self, name: &AgentName) -> Option<&str> {
        if let Some(custom) = self.custom(name) {
            return custom.context_file.as_deref();
        }
        let profile = PROFILES.iter().find(|it| it.name == name.as_str());
        profile?.context_file
    }

    fn launch_profile(&self, profile: &Profile) -> Result<Launch, LaunchRefusal> {
        let mut environment: BTreeMap<String, SecretText> = profile
            .environment
            .iter()
            .map(|(name, value)| ((*name).to_owned(), SecretText::new((*value).to_owned())))
            .collect();
        let (mut first, mut missing) = (None, Vec::new());
        for program in profile.programs {
            match probe::find(program.name, self.path()) {
                Some(path) => {
                    if let Some(variable) = program.told_by {
                        let told = SecretText::new(path.to_string_lossy().into_owned());
                        environment.insert(variable.to_owned(), told);
                    }
                    first = first.or(Some(path));
                }
                None => missing.push(program),
            }
        }
        if !missing.is_empty() {
            return Err(LaunchRefusal::Missing {
                name: profile.name.to_owned(),
                programs: missing.iter().map(|it| it.name.to_owned()).collect(),
                install: missing.iter().map(|it| it.install.to_owned()).collect(),
            });
        }
        environment.extend(self.added_environment(profile));
        Ok(Launch {
            program: first.map_or(LaunchProgram::Itself, LaunchProgram::Found),
            arguments: profile
                .arguments
                .iter()
                .map(|it| (*it).to_owned())
                .collect(),
            environment,
            resume: profile.resume,
            tokens: profile.tokens,
            always_load_tools: profile.always_load_tools,
            cancel_leaves_commands: profile.cancel_leaves_commands,
            images_alone: profile.images_alone,
            connects_at_start: !profile.programs.is_empty(),
            login_files: profile
                .login_files
                .iter()
                .map(|it| (*it).to_owned())
                .collect(),
        })
    }

    fn launch_custom(&self, custom: &CustomAgent) -> Result<Launch, LaunchRefusal> {
        let program = custom.command.first().map_or("", String::as_str);
        let found = probe::find(program, self.path());
        let found = found.ok_or_else(|| LaunchRefusal::Missing {
            name: custom.name.to_string(),
            programs: vec![program.to_owned()],
            install: vec![format!(
                "correct `command` of [agents.{}] in the configuration",
                custom.name
            )],
        })?;
        Ok(Launch {
            program: LaunchProgram::Found(found),
            arguments: custom.command.iter().skip(1).cloned().collect(),
            environment: custom.environment.clone(),
            resume: Resume::AsOffered,
            tokens: TokenCount::InputWithoutCached,
            always_load_tools: false,
            cancel_leaves_commands: false,
            images_alone: false,
            connects_at_start: false,
            login_files: custom.login_files.clone(),
        })
    }
}
