//! Which agents there are on this machine, now.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    ffi::{OsStr, OsString},
    path::PathBuf,
    sync::Mutex,
    time::SystemTime,
};

use wh_domain::{
    Agent, AgentName, AgentOrigin, AgentState, ImageRef, McpDialect, PriceList, ProjectConfig,
    SecretText, Tier,
};

use crate::{
    ConfiguredAgents, CustomAgent, ModelSettings, PROFILES, Profile, install::Installed,
    price::shipped_prices, probe,
};

/// Finds agents on a `PATH` and in the configuration.
///
/// Programs are looked for on every call, so one that was just installed is found; a version is asked for again only
/// when the program's file has changed, because some take a second to answer.
pub struct Agents {
    path: OsString,
    /// Where agents are installed by this program; they win over those on the `PATH`.
    installed: Option<PathBuf>,
    configured: ConfiguredAgents,
    prices: PriceList,
    versions: Mutex<HashMap<PathBuf, Known>>,
}

/// A version, and the file it was the version of.
#[derive(Clone)]
struct Known {
    modified: Option<SystemTime>,
    version: Option<String>,
}

impl Agents {
    /// Looks in `path`, a list of directories as in the variable of that name.
    pub fn new(path: OsString, mut configured: ConfiguredAgents) -> Self {
        let prices = PriceList {
            configured: std::mem::take(&mut configured.prices),
            shipped: shipped_prices(),
        };
        Self {
            path,
            installed: None,
            configured,
            prices,
            versions: Mutex::default(),
        }
    }

    /// Looks in the agents' directory of a data directory as well, and there first.
    #[must_use]
    pub fn with_installed(mut self, directory: PathBuf) -> Self {
        self.installed = Some(directory);
        self
    }

    /// Returns the installation of an agent, if this program has installed it.
    pub(crate) fn installation(&self, profile: &Profile) -> Option<Installed> {
        Installed::of(self.installed.as_deref()?, profile.name)
    }

    /// Finds a program of an agent.
    pub(crate) fn find(&self, profile: &Profile, program: &str) -> Option<PathBuf> {
        let installed = self.installation(profile);
        let installed = installed.and_then(|it| it.program(program));
        installed.or_else(|| probe::find(program, &self.path))
    }

    /// Returns the prices of models, for agents that report no money.
    pub fn prices(&self) -> &PriceList {
        &self.prices
    }

    /// Returns the directories that programs are looked for in.
    pub(crate) fn path(&self) -> &OsStr {
        &self.path
    }

    /// Returns the configured agent of this name.
    pub(crate) fn custom(&self, name: &AgentName) -> Option<&CustomAgent> {
        let mut custom = self.configured.custom.iter();
        custom.find(|custom| custom.name == *name)
    }

    /// Returns every configuration path, with the agents that read it.
    pub fn project_configs(&self) -> Vec<(ProjectConfig, Vec<AgentName>)> {
        let profiles = PROFILES
            .iter()
            .filter_map(|it| AgentName::parse(it.name).ok());
        let custom = self.configured.custom.iter().map(|it| it.name.clone());
        let mut all: BTreeMap<ProjectConfig, Vec<AgentName>> = BTreeMap::new();
        for agent in profiles.chain(custom) {
            for config in self.project_config(&agent) {
                all.entry(config).or_default().push(agent.clone());
            }
        }
        all.into_iter().collect()
    }

    /// Returns the files below the home directory with the logins of all agents.
    pub fn login_files(&self) -> BTreeSet<String> {
        let profiles = PROFILES.iter().flat_map(|it| it.login_files);
        let custom = self.configured.custom.iter();
        let custom = custom.flat_map(|it| it.login_files.iter().cloned());
        profiles.map(|it| (*it).to_owned()).chain(custom).collect()
    }

    /// Returns the least containment that sessions of an agent need, if the configuration says so.
    pub fn tier(&self, name: &AgentName) -> Option<Tier> {
        match self.custom(name) {
            Some(custom) => custom.tier,
            None => self.configured.tiers.get(name).copied(),
        }
    }

    /// Returns the image that sessions of an agent run in, if the configuration names one.
    pub fn image(&self, name: &AgentName) -> Option<&ImageRef> {
        match self.custom(name) {
            Some(custom) => custom.image.as_ref(),
            None => self.configured.images.get(name),
        }
    }

    /// Returns the tools that an agent is given, if the configuration names any.
    pub fn mcp_dialect(&self, name: &AgentName) -> Option<McpDialect> {
        match self.custom(name) {
            Some(custom) => custom.mcp_dialect,
            None => self.configured.mcp_dialects.get(name).copied(),
        }
    }

    /// Returns the variables that the configuration adds to an agent there is a profile for.
    pub(crate) fn added_environment(
        &self,
        profile: &Profile,
    ) -> impl Iterator<Item = (String, SecretText)> {
        let added = self.configured.environments.iter();
        let added = added.filter(|(name, _)| name.as_str() == profile.name);
        added.flat_map(|(_, variables)| variables.clone())
    }

    /// Returns how the configuration says that the model of an agent there is a profile for is reached.
    pub(crate) fn model_settings(&self, profile: &str) -> Option<&ModelSettings> {
        let mut models = self.configured.models.iter();
        let found = models.find(|(name, _)| name.as_str() == profile);
        found.map(|(_, settings)| settings)
    }

    /// Returns every agent: the built-in one, those there are profiles for, and the configured ones.
    pub async fn list(&self) -> Vec<Agent> {
        let mut agents = Vec::new();
        for profile in PROFILES {
            agents.push(self.of_profile(profile).await);
        }
        let custom = self.configured.custom.iter();
        agents.extend(custom.map(|custom| self.of_custom(custom)));
        agents
    }

    /// Returns one agent by its name.
    pub async fn get(&self, name: &AgentName) -> Option<Agent> {
        if let Some(custom) = self.custom(name) {
            return Some(self.of_custom(custom));
        }
        let profile = PROFILES
            .iter()
            .find(|profile| profile.name == name.as_str())?;
        Some(self.of_profile(profile).await)
    }

    async fn of_profile(&self, profile: &Profile) -> Agent {
        let mut found = Vec::new();
        let mut missing = Vec::new();
        for program in profile.programs {
            match self.find(profile, program.name) {
                Some(path) => found.push(path),
                None => missing.push(program),
            }
        }
        let state = if missing.is_empty() {
            // The last program is the agent itself; one before it is its adapter.
            let version = match found.last() {
                Some(program) => self.version(profile, program).await,
                None => Some(env!("CARGO_PKG_VERSION").to_owned()),
            };
            AgentState::Ready { version }
        } else {
            AgentState::Missing {
                programs: missing
                    .iter()
                    .map(|program| program.name.to_owned())
                    .collect(),
                install: profile.ways_to_install(),
            }
        };
        Agent {
            name: AgentName::parse(profile.name).expect("profiles have usable names"),
            title: profile.title.to_owned(),
            about: profile.about.to_owned(),
            origin: match profile.programs {
                [] => AgentOrigin::BuiltIn,
                _ => AgentOrigin::Installed,
            },
            state,
        }
    }

    fn of_custom(&self, custom: &CustomAgent) -> Agent {
        let program = custom.command.first().map_or("", String::as_str);
        let state = match probe::find(program, &self.path) {
            // What a stranger's program does with --version nobody knows, so it is not asked.
            Some(_) => AgentState::Ready { version: None },
            None => AgentState::Missing {
                programs: vec![program.to_owned()],
                install: vec![format!(
                    "correct `command` of [agents.{}] in the configuration",
                    custom.name
                )],
            },
        };
        Agent {
            name: custom.name.clone(),
            title: custom
                .title
                .clone()
                .unwrap_or_else(|| custom.name.to_string()),
            about: format!("configured: {}", custom.command.join(" ")),
            origin: AgentOrigin::Configured,
            state,
        }
    }

    async fn version(&self, profile: &Profile, program: &PathBuf) -> Option<String> {
        let modified = program.metadata().and_then(|meta| meta.modified()).ok();
        if let Some(known) = self.known(program)
            && known.modified == modified
        {
            return known.version;
        }
        let installed = self.installation(profile);
        let path = installed.and_then(|it| it.path(&self.path));
        let version = probe::version(program, path.as_ref().unwrap_or(&self.path)).await;
        let known = Known {
            modified,
            version: version.clone(),
        };
        let mut versions = self.versions.lock().unwrap_or_else(|e| e.into_inner());
        versions.insert(program.clone(), known);
        version
    }

    fn known(&self, program: &PathBuf) -> Option<Known> {
        let versions = self.versions.lock().unwrap_or_else(|e| e.into_inner());
        versions.get(program).cloned()
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt, path::Path};

    use super::*;
    use crate::{LaunchProgram, LaunchRefusal};

    fn program(dir: &Path, name: &str, script: &str) {
        let path = dir.join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn name(text: &str) -> AgentName {
        AgentName::parse(text).unwrap()
    }

    fn agents(dir: &Path) -> Agents {
        let path = env_path(dir);
        let custom = CustomAgent {
            name: name("mine"),
            title: None,
            command: vec!["mine-acp".into(), "--stdio".into()],
            environment: Default::default(),
            context_file: None,
            model_flag: None,
            login_files: Vec::new(),
            config_files: Vec::new(),
            model: None,
            project_config: Vec::new(),
            tier: None,
            image: None,
            mcp_dialect: None,
        };
        let added = [
            (
                "CODEX_HOME".to_owned(),
                SecretText::new("/elsewhere".into()),
            ),
            ("NO_BROWSER".to_owned(), SecretText::new("0".into())),
        ];
        let configured = ConfiguredAgents {
            custom: vec![custom],
            environments: [(name("codex"), added.into())].into(),
            ..ConfiguredAgents::default()
        };
        Agents::new(path, configured)
    }

    fn env_path(dir: &Path) -> OsString {
        let mut path = dir.as_os_str().to_owned();
        path.push(":/usr/bin:/bin");
        path
    }

    #[tokio::test]
    async fn what_is_missing_is_named_with_how_to_install_it() {
        let dir = tempfile::tempdir().unwrap();
        program(dir.path(), "codex", "echo codex-cli 1.2.3");
        let agents = agents(dir.path());
        let codex = agents.get(&name("codex")).await.unwrap();
        let AgentState::Missing { programs, install } = codex.state else {
            panic!("the adapter is missing");
        };
        assert_eq!(programs, ["codex-acp"]);
        assert_eq!(install[0], "wheelhouse agents install codex");
        assert!(install[1].starts_with("npm install -g "), "{install:?}");
        program(dir.path(), "codex-acp", "echo adapter");
        let codex = agents.get(&name("codex")).await.unwrap();
        let version = Some("codex-cli 1.2.3".to_owned());
        assert_eq!(codex.state, AgentState::Ready { version });
    }

    #[tokio::test]
    async fn a_version_is_asked_for_again_when_the_program_changed() {
        let dir = tempfile::tempdir().unwrap();
        program(dir.path(), "gemini", "echo 1.0; echo asked >> \"$0.log\"");
        let agents = agents(dir.path());
        for _ in 0..3 {
            agents.get(&name("gemini")).await.unwrap();
        }
        let asked = || {
            fs::read_to_string(dir.path().join("gemini.log"))
                .unwrap()
                .lines()
                .count()
        };
        assert_eq!(asked(), 1);
        let file = fs::File::options()
            .append(true)
            .open(dir.path().join("gemini"))
            .unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        drop(file);
        agents.get(&name("gemini")).await.unwrap();
        assert_eq!(asked(), 2);
    }

    #[test]
    fn a_launch_names_the_programs_that_were_found() {
        let dir = tempfile::tempdir().unwrap();
        let agents = agents(dir.path());
        let echo = agents.launch(&name("echo")).unwrap();
        assert_eq!(echo.program, LaunchProgram::Itself);
        assert_eq!(echo.arguments, ["agent", "echo"]);
        let missing = agents.launch(&name("codex")).unwrap_err();
        assert!(matches!(missing, LaunchRefusal::Missing { programs, .. } if programs.len() == 2));
        program(dir.path(), "codex", "");
        program(dir.path(), "codex-acp", "");
        let codex = agents.launch(&name("codex")).unwrap();
        let adapter = dir.path().join("codex-acp");
        assert_eq!(codex.program, LaunchProgram::Found(adapter));
        let told = codex.environment["CODEX_PATH"].expose().to_owned();
        assert_eq!(told, dir.path().join("codex").to_string_lossy());
        // What the configuration says is added, and wins.
        for (variable, value) in [("CODEX_HOME", "/elsewhere"), ("NO_BROWSER", "0")] {
            assert_eq!(codex.environment[variable].expose(), value);
        }
        assert_eq!(
            codex.environment["INITIAL_AGENT_MODE"].expose(),
            "read-only"
        );
        assert!(echo.environment.is_empty());
        let unknown = agents.launch(&name("nobody")).unwrap_err();
        assert!(matches!(unknown, LaunchRefusal::Unknown { .. }));
    }

    #[tokio::test]
    async fn the_built_in_agent_is_always_there_and_configured_ones_are_listed() {
        let dir = tempfile::tempdir().unwrap();
        let agents = agents(dir.path());
        let list = agents.list().await;
        assert!(matches!(
            list[0].state,
            AgentState::Ready { version: Some(_) }
        ));
        assert_eq!(list[0].origin, AgentOrigin::BuiltIn);
        let mine = list.last().unwrap();
        assert!(
            matches!(&mine.state, AgentState::Missing { programs, .. } if *programs == ["mine-acp"])
        );
        program(dir.path(), "mine-acp", "exit 1");
        let mine = agents.get(&name("mine")).await.unwrap();
        assert_eq!(mine.state, AgentState::Ready { version: None });
        assert_eq!(agents.get(&name("nobody")).await, None);
    }
}
