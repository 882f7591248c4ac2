//! What it takes to start an agent, put together from its profile or the configuration and what is installed now.

use std::{collections::BTreeMap, path::PathBuf};

use wh_domain::{AgentName, ProjectConfig, SecretText};

use crate::{
    Agents, CustomAgent, ModelSettings, ModelVariables, PROFILES, Profile, Resume, TokenCount,
    probe,
};

/// How to start an agent so that it speaks ACP on its standard streams, and what to mind while it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    pub program: LaunchProgram,
    pub arguments: Vec<String>,
    /// As in [`crate::CustomAgent::model_flag`].
    pub model_flag: Option<String>,
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
    /// As in [`crate::Profile::config_files`].
    pub config_files: Vec<String>,
    /// Model gateway for the tier `strict`, if the agent has a model key.
    pub model: Option<ModelRoute>,
}

/// A loopback port that forwards requests to a model server and adds the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelRoute {
    /// Upstream URL.
    pub url: String,
    /// The port of 127.0.0.1 on which the agent expects its model.
    pub port: u16,
    /// The variable that told the agent the key.
    pub key_variable: Option<String>,
    /// The variable that tells the agent the address.
    pub url_variable: Option<String>,
    /// The key, and the header in which it is sent.
    pub key: SecretText,
    pub header: String,
    pub prefix: String,
}

/// The port of 127.0.0.1 on which an agent without a network expects its model, unless configured.
const MODEL_PORT: u16 = 3130;

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
        let profile = Profile::of(name.as_str()).filter(|_| self.custom(name).is_none());
        let mut launch = self.launch_with(name, |program| match profile {
            Some(profile) => self.find(profile, program),
            None => probe::find(program, self.path()),
        })?;
        // An installation may have brought a Node of its own.
        let installed = profile.and_then(|profile| self.installation(profile));
        if let Some(path) = installed.and_then(|it| it.path(self.path())) {
            let path = SecretText::new(path.to_string_lossy().into_owned());
            launch.environment.entry("PATH".to_owned()).or_insert(path);
        }
        Ok(launch)
    }

    /// Puts together how `name` is started where `find` finds programs, such as in a container image.
    pub fn launch_with(
        &self,
        name: &AgentName,
        find: impl Fn(&str) -> Option<PathBuf>,
    ) -> Result<Launch, LaunchRefusal> {
        if let Some(custom) = self.custom(name) {
            return launch_custom(custom, find);
        }
        let profile = PROFILES.iter().find(|it| it.name == name.as_str());
        let profile = profile.ok_or_else(|| LaunchRefusal::Unknown {
            name: name.to_string(),
        })?;
        self.launch_profile(profile, find)
    }

    /// Returns the file in which `name` is told which session it is, if it reads one.
    pub fn context_file(&self, name: &AgentName) -> Option<&str> {
        if let Some(custom) = self.custom(name) {
            return custom.context_file.as_deref();
        }
        let profile = PROFILES.iter().find(|it| it.name == name.as_str());
        profile?.context_file
    }

    /// Returns the configuration that `name` reads from the directory it works in.
    pub fn project_config(&self, name: &AgentName) -> Vec<ProjectConfig> {
        if let Some(custom) = self.custom(name) {
            return custom.project_config.clone();
        }
        let profile = PROFILES.iter().find(|it| it.name == name.as_str());
        let paths = profile.map_or(&[][..], |profile| profile.project_config);
        let owned = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect();
        let configs = paths.iter().filter_map(|known| {
            let config = ProjectConfig::parse(known.path).ok()?;
            let created = known.created.iter();
            Some(ProjectConfig {
                omitted: owned(known.omitted),
                created: created
                    .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
                    .collect(),
                instructions: owned(known.instructions),
                is_reserved: known.is_reserved,
                ..config
            })
        });
        configs.collect()
    }

    /// Returns the variables that keep `name` from reading configuration from the directory it works in.
    pub fn project_config_off(&self, name: &AgentName) -> &'static [(&'static str, &'static str)] {
        let profile = PROFILES.iter().find(|it| it.name == name.as_str());
        let profile = profile.filter(|_| self.custom(name).is_none());
        profile.map_or(&[], |profile| profile.project_config_off)
    }

    fn launch_profile(
        &self,
        profile: &Profile,
        find: impl Fn(&str) -> Option<PathBuf>,
    ) -> Result<Launch, LaunchRefusal> {
        let mut environment: BTreeMap<String, SecretText> = profile
            .environment
            .iter()
            .map(|(name, value)| ((*name).to_owned(), SecretText::new((*value).to_owned())))
            .collect();
        let (mut first, mut missing) = (None, Vec::new());
        for program in profile.programs {
            match find(program.name) {
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
                install: profile.ways_to_install(),
            });
        }
        environment.extend(self.added_environment(profile));
        let settings = self.model_settings(profile.name);
        let model = model_route(profile.model, settings, &environment);
        Ok(Launch {
            program: first.map_or(LaunchProgram::Itself, LaunchProgram::Found),
            arguments: owned(profile.arguments),
            model_flag: None,
            environment,
            resume: profile.resume,
            tokens: profile.tokens,
            always_load_tools: profile.always_load_tools,
            cancel_leaves_commands: profile.cancel_leaves_commands,
            images_alone: profile.images_alone,
            connects_at_start: !profile.programs.is_empty(),
            login_files: owned(profile.login_files),
            config_files: owned(profile.config_files),
            model,
        })
    }
}

fn launch_custom(
    custom: &CustomAgent,
    find: impl Fn(&str) -> Option<PathBuf>,
) -> Result<Launch, LaunchRefusal> {
    let program = custom.command.first().map_or("", String::as_str);
    let found = find(program).ok_or_else(|| LaunchRefusal::Missing {
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
        model_flag: custom.model_flag.clone(),
        environment: custom.environment.clone(),
        resume: Resume::AsOffered,
        tokens: TokenCount::InputWithoutCached,
        always_load_tools: false,
        cancel_leaves_commands: false,
        images_alone: false,
        connects_at_start: false,
        login_files: custom.login_files.clone(),
        config_files: custom.config_files.clone(),
        model: model_route(None, custom.model.as_ref(), &custom.environment),
    })
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// Returns how the model is reached, from the profile, what is configured and the agent's variables. Without a key or an address
/// there is no way.
fn model_route(
    known: Option<ModelVariables>,
    settings: Option<&ModelSettings>,
    environment: &BTreeMap<String, SecretText>,
) -> Option<ModelRoute> {
    let none = ModelSettings::default();
    let settings = settings.unwrap_or(&none);
    let key_variable = settings.key.clone();
    let key_variable = key_variable.or_else(|| known.map(|it| it.key.to_owned()));
    let url_variable = known.and_then(|it| it.url).map(str::to_owned);
    let value = |name: &Option<String>| environment.get(name.as_ref()?).cloned();
    let told = value(&url_variable).map(|url| url.expose().to_owned());
    let default_url = known.map(|it| it.default_url.to_owned());
    Some(ModelRoute {
        url: settings.url.clone().or(told).or(default_url)?,
        port: settings.port.unwrap_or(MODEL_PORT),
        key: value(&key_variable)?,
        key_variable,
        url_variable,
        header: settings
            .header
            .clone()
            .unwrap_or_else(|| known.map_or("authorization", |it| it.header).to_owned()),
        prefix: settings
            .prefix
            .clone()
            .unwrap_or_else(|| known.map_or("Bearer ", |it| it.prefix).to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: ModelVariables = ModelVariables {
        key: "KEY",
        url: Some("URL"),
        default_url: "https://model.example",
        header: "x-key",
        prefix: "",
    };

    fn environment(variables: &[(&str, &str)]) -> BTreeMap<String, SecretText> {
        let secret = |(name, value): &(&str, &str)| {
            ((*name).to_owned(), SecretText::new((*value).to_owned()))
        };
        variables.iter().map(secret).collect()
    }

    #[test]
    fn a_model_is_reached_where_the_configuration_the_agent_or_its_profile_says() {
        let route =
            |settings, variables: &[_]| model_route(Some(KNOWN), settings, &environment(variables));
        assert_eq!(route(None, &[]), None, "no key");
        let plain = route(None, &[("KEY", "k")]).unwrap();
        assert_eq!(plain.url, "https://model.example");
        assert_eq!((plain.port, plain.header.as_str()), (MODEL_PORT, "x-key"));
        let told = route(None, &[("KEY", "k"), ("URL", "http://127.0.0.1:9")]).unwrap();
        assert_eq!(told.url, "http://127.0.0.1:9");
        let settings = ModelSettings {
            url: Some("https://proxy.example".to_owned()),
            key: Some("OTHER".to_owned()),
            port: Some(8901),
            ..ModelSettings::default()
        };
        let other = route(Some(&settings), &[("OTHER", "o"), ("KEY", "k")]).unwrap();
        assert_eq!(other.url, "https://proxy.example");
        assert_eq!((other.port, other.key.expose()), (8901, "o"));
        let custom = model_route(None, Some(&settings), &environment(&[("OTHER", "o")])).unwrap();
        assert_eq!(
            (custom.header.as_str(), custom.prefix.as_str()),
            ("authorization", "Bearer ")
        );
    }
}
