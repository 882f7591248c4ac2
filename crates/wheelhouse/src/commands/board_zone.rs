//! `wheelhouse board zone` and `wheelhouse board place`.

use clap::Args;
use wh_api::{BoardUpdateRequest, BoardView, ItemKind, PlaceInput, ZoneInputRequest};
use wh_client::Client;

use crate::exit::CliResult;

/// A zone to add, or to change by its name or id.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wheelhouse board zone 89abcdef Review --prompt 'Review {{ worktree.branch }} against {{ worktree.base }}.'
  wheelhouse board zone 89abcdef Review --agent codex
  wheelhouse board zone 89abcdef Review --no-prompt")]
pub(crate) struct ZoneArgs {
    /// The board's id or its last 8 digits
    #[arg(value_name = "ID")]
    board: String,
    /// The zone: one that the board has is changed, another is added
    zone: String,
    /// What is said to sessions, and to the newest session of worktrees, that are placed in the zone
    #[arg(long, value_name = "TEMPLATE")]
    prompt: Option<String>,
    /// Prompt no longer
    #[arg(long, conflicts_with = "prompt")]
    no_prompt: bool,
    /// Whose session is begun in a worktree that has none to prompt
    #[arg(long)]
    agent: Option<String>,
    /// Such as #3366ff
    #[arg(long)]
    color: Option<String>,
}

/// Something to place on a board.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wheelhouse board place 89abcdef --worktree 01234567 --zone Review
  wheelhouse board place 89abcdef --session 76543210 --x 100 --y 40")]
pub(crate) struct PlaceArgs {
    /// The board's id or its last 8 digits
    #[arg(value_name = "ID")]
    board: String,
    /// The session to place or move
    #[arg(
        long,
        value_name = "ID",
        required_unless_present = "worktree",
        conflicts_with = "worktree"
    )]
    session: Option<String>,
    /// The worktree to place or move, or a session in it
    #[arg(long, value_name = "ID")]
    worktree: Option<String>,
    /// The zone it belongs to, by id or name; none unless given
    #[arg(long)]
    zone: Option<String>,
    #[arg(long, default_value_t = 0.0, allow_negative_numbers = true)]
    x: f64,
    #[arg(long, default_value_t = 0.0, allow_negative_numbers = true)]
    y: f64,
}

pub(crate) async fn zone(client: &Client, args: ZoneArgs) -> CliResult<BoardView> {
    let board = client.board_get(&args.board).await?;
    let mut zones = board.zones.iter();
    let exists = zones.any(|zone| zone.name == args.zone || zone.id == args.zone);
    let (zone, name) = match exists {
        true => (Some(args.zone), None),
        false => (None, Some(args.zone)),
    };
    let request = BoardUpdateRequest {
        board: board.id,
        zones: vec![ZoneInputRequest {
            zone,
            name,
            color: args.color,
            prompt_template: args.prompt.or(args.no_prompt.then(String::new)),
            agent: args.agent,
            ..ZoneInputRequest::default()
        }],
        ..BoardUpdateRequest::default()
    };
    Ok(client.board_update(&request).await?)
}

pub(crate) async fn place(client: &Client, args: PlaceArgs) -> CliResult<BoardView> {
    let (kind, id) = match (args.session, args.worktree) {
        (Some(session), _) => (ItemKind::Session, session),
        (None, worktree) => (ItemKind::Worktree, worktree.unwrap_or_default()),
    };
    let request = BoardUpdateRequest {
        board: args.board,
        place: vec![PlaceInput {
            kind,
            id,
            x: args.x,
            y: args.y,
            zone: args.zone,
        }],
        ..BoardUpdateRequest::default()
    };
    Ok(client.board_update(&request).await?)
}
