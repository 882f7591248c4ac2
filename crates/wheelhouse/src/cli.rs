//! The tree of commands and the flags all of them take.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::commands::{
    agents, approval, attach, audit, backup, board, completions, config, cost, credential, demo,
    doctor, family, key, life, login, loops, mcp, note, repo, run, search, serve, session, task,
    tool, transcript, user, version, webhook, worktree,
};
use crate::exit::EXIT_CODES_HELP;

/// Runs coding agents, and lets people and other agents direct them.
#[derive(Debug, Parser)]
#[command(
    name = "wheelhouse",
    version,
    propagate_version = false,
    arg_required_else_help = true,
    max_term_width = 100,
    after_help = EXIT_CODES_HELP,
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) globals: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Flags of every command.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalArgs {
    /// Where the server keeps everything [env: WHEELHOUSE_DATA_DIR] [default: wheelhouse in the XDG data directory]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,

    /// The configuration file [env: WHEELHOUSE_CONFIG] [default: wheelhouse/wheelhouse.toml in the XDG config directory]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Call the server at this address instead of the one on this machine [env: WHEELHOUSE_URL]
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) url: Option<String>,

    /// The key to call it with. Others on this machine can read a command line: prefer the variable [env: WHEELHOUSE_KEY]
    // A name of its own: a global flag takes over every argument of the same id.
    #[arg(id = "caller_key", long = "key", global = true, value_name = "KEY")]
    pub(crate) key: Option<String>,

    /// Answer with one JSON document; errors are JSON on stderr
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Say nothing but the answer
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,

    /// No colours [env: NO_COLOR]
    #[arg(long, global = true)]
    pub(crate) no_color: bool,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[command(visible_alias = "up")]
    Serve(serve::ServeArgs),
    Demo(demo::DemoArgs),
    Run(run::RunArgs),
    /// List sessions, newest first; short for `session list`
    Ls(session::ListArgs),
    Show(run::ShowArgs),
    Attach(attach::AttachArgs),
    Send(run::SendArgs),
    Spawn(family::SpawnArgs),
    Fork(family::ForkArgs),
    Tree(family::TreeArgs),
    Wait(life::WaitArgs),
    Logs(transcript::LogsArgs),
    Turns(transcript::TurnsArgs),
    Search(search::SearchArgs),
    Approvals(approval::ApprovalsArgs),
    Approve(approval::ApproveArgs),
    Deny(approval::DenyArgs),
    Answer(approval::AnswerArgs),
    Interrupt(life::InterruptArgs),
    Stop(life::StopArgs),
    Resume(life::ResumeArgs),
    Rm(life::RmArgs),
    Mcp(mcp::McpArgs),
    Login(login::LoginArgs),
    #[command(subcommand)]
    User(user::UserCommand),
    #[command(subcommand)]
    Key(key::KeyCommand),
    Agents(agents::AgentsArgs),
    #[command(subcommand)]
    Repo(repo::RepoCommand),
    #[command(subcommand)]
    Credential(credential::CredentialCommand),
    #[command(subcommand)]
    Worktree(worktree::WorktreeCommand),
    Diff(worktree::DiffArgs),
    #[command(subcommand)]
    Board(board::BoardCommand),
    #[command(subcommand)]
    Webhook(webhook::WebhookCommand),
    #[command(subcommand)]
    Session(session::SessionCommand),
    #[command(subcommand)]
    Task(task::TaskCommand),
    #[command(subcommand)]
    Note(note::NoteCommand),
    #[command(subcommand)]
    Loop(loops::LoopCommand),
    Cost(cost::CostArgs),
    Audit(audit::AuditArgs),
    #[command(subcommand)]
    Config(config::ConfigCommand),
    Doctor(doctor::DoctorArgs),
    Backup(backup::BackupArgs),
    #[command(subcommand)]
    Tool(tool::ToolCommand),
    Completions(completions::CompletionsArgs),
    Version(version::VersionArgs),
}

impl Command {
    /// Tells whether the command may serve others.
    pub(crate) fn is_server(&self) -> bool {
        match self {
            Self::Serve(_) | Self::Demo(_) | Self::Loop(_) => true,
            Self::Mcp(args) => args.is_bridge(),
            _ => false,
        }
    }
}
