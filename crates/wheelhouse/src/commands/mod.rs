//! One file per noun: arguments and their help, then parse, call, show.

pub(crate) mod agents;
pub(crate) mod approval;
pub(crate) mod attach;
pub(crate) mod audit;
pub(crate) mod backup;
pub(crate) mod board;
mod board_zone;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod cost;
pub(crate) mod credential;
mod deleted;
pub(crate) mod demo;
pub(crate) mod doctor;
mod echo_commit;
mod expiry;
pub(crate) mod family;
pub(crate) mod key;
pub(crate) mod life;
mod limit;
pub(crate) mod login;
pub(crate) mod loops;
pub(crate) mod mcp;
mod money;
pub(crate) mod note;
mod page;
mod policy;
pub(crate) mod repo;
pub(crate) mod run;
pub(crate) mod runner;
pub(crate) mod search;
pub(crate) mod serve;
pub(crate) mod session;
pub(crate) mod task;
pub(crate) mod tool;
pub(crate) mod transcript;
pub(crate) mod user;
pub(crate) mod version;
pub(crate) mod webhook;
pub(crate) mod worktree;

use crate::cli::Command;
use crate::context::Context;
use crate::exit::CliResult;

/// Does what was asked.
pub(crate) async fn run(cx: &Context, command: Command) -> CliResult {
    match command {
        Command::Serve(args) => serve::run(cx, args).await,
        Command::Mcp(args) => mcp::run(cx, args).await,
        Command::Login(args) => login::run(cx, args).await,
        Command::User(command) => user::run(cx, command).await,
        Command::Key(command) => key::run(cx, command).await,
        Command::Agents(args) => agents::run(cx, args).await,
        Command::Repo(command) => repo::run(cx, command).await,
        Command::Credential(command) => credential::run(cx, command).await,
        Command::Worktree(command) => worktree::run(cx, command).await,
        Command::Diff(args) => worktree::diff(cx, args).await,
        Command::Board(command) => board::run(cx, command).await,
        Command::Webhook(command) => webhook::run(cx, command).await,
        Command::Task(command) => task::run(cx, command).await,
        Command::Loop(command) => loops::run(cx, command).await,
        Command::Note(command) => note::run(cx, command).await,
        Command::Session(command) => session::run(cx, command).await,
        Command::Run(args) => run::run(cx, args).await,
        Command::Ls(args) => session::list(cx, args).await,
        Command::Show(args) => run::show(cx, args).await,
        Command::Attach(args) => attach::run(cx, args).await,
        Command::Send(args) => run::send(cx, args).await,
        Command::Spawn(args) => family::spawn(cx, args).await,
        Command::Fork(args) => family::fork(cx, args).await,
        Command::Tree(args) => family::tree(cx, args).await,
        Command::Wait(args) => life::wait(cx, args).await,
        Command::Logs(args) => transcript::logs(cx, args).await,
        Command::Turns(args) => transcript::turns(cx, args).await,
        Command::Search(args) => search::run(cx, args).await,
        Command::Approvals(args) => approval::list(cx, args).await,
        Command::Approve(args) => approval::approve(cx, args).await,
        Command::Deny(args) => approval::deny(cx, args).await,
        Command::Answer(args) => approval::answer(cx, args).await,
        Command::Interrupt(args) => life::interrupt(cx, args).await,
        Command::Stop(args) => life::stop(cx, args).await,
        Command::Resume(args) => life::resume(cx, args).await,
        Command::Rm(args) => life::remove(cx, args).await,
        Command::Cost(args) => cost::run(cx, args).await,
        Command::Audit(args) => audit::run(cx, args).await,
        Command::Config(command) => config::run(cx, command).await,
        Command::Demo(args) => demo::run(cx, args).await,
        Command::Doctor(args) => doctor::run(cx, args).await,
        Command::Backup(args) => backup::run(cx, args).await,
        Command::Tool(command) => tool::run(cx, command).await,
        Command::Completions(args) => completions::run(cx, args),
        Command::Version(args) => version::run(cx, args).await,
    }
}
