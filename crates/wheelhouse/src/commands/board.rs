//! `wheelhouse board`.

use clap::{Args, Subcommand};
use wh_api::{
    BoardCreateRequest, BoardDeleteRequest, BoardDuplicateRequest, BoardListRequest, BoardListView,
    BoardShareRequest, BoardUpdateRequest, BoardView, ItemKind, ShareView, ZoneInputRequest,
};

use super::board_zone::{self, PlaceArgs, ZoneArgs};
use super::page::PageArgs;
use crate::context::Context;
use crate::exit::{CliError, CliResult};
use crate::ui::{Table, Ui, moment_ago, when};

/// Make, see and change boards, on which worktrees and sessions lie
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  wheelhouse board create Sprint --zone Doing --zone Done
  wheelhouse board update 89abcdef --name 'Sprint 2' --add-zone Review
  wheelhouse board duplicate 89abcdef 'Sprint 3'
  wheelhouse board share 89abcdef bob --level prompt")]
pub(crate) enum BoardCommand {
    /// List boards, newest first
    List {
        #[command(flatten)]
        page: PageArgs,
        /// Those that others share with you, in place of your own
        #[arg(long)]
        shared: bool,
    },
    /// Make a board
    Create(CreateArgs),
    /// Show a board, its zones and what lies on it
    Show {
        /// The board's id or its last 8 digits
        #[arg(value_name = "ID")]
        board: String,
    },
    /// Change a board
    Update(UpdateArgs),
    /// Add a zone to a board, or change one: its colour, and what it prompts
    Zone(ZoneArgs),
    /// Place a session or a worktree on a board, or move it
    Place(PlaceArgs),
    /// Share a board, and the sessions on it, with somebody or with everyone
    Share {
        /// The board's id or its last 8 digits
        #[arg(value_name = "ID")]
        board: String,
        /// A user's name or id, or `everyone`
        with: String,
        /// What is given: to look, or to send prompts to its sessions as well
        #[arg(long, value_parser = ["read", "prompt"], default_value = "read")]
        level: String,
        /// Share it no longer
        #[arg(long, conflicts_with = "level")]
        stop: bool,
    },
    /// Delete a board
    #[command(visible_alias = "delete")]
    Rm {
        /// The board's id or its last 8 digits
        #[arg(value_name = "ID")]
        board: String,
        /// Delete it even if other resources depend on it: keeps sessions, worktrees and loops; deletes its tasks, notes and webhooks
        #[arg(long)]
        force: bool,
    },
    /// Copy a board under a new name
    Duplicate {
        /// The board's id or its last 8 digits
        #[arg(value_name = "ID")]
        board: String,
        /// What the copy is called
        name: String,
        /// Place the same worktrees on the copy
        #[arg(long)]
        worktrees: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    name: String,
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// A zone to begin with; may be repeated
    #[arg(long = "zone", value_name = "NAME")]
    zones: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct UpdateArgs {
    /// The board's id or its last 8 digits
    #[arg(value_name = "ID")]
    board: String,
    #[arg(long)]
    name: Option<String>,
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// A zone to add; may be repeated
    #[arg(long = "add-zone", value_name = "NAME")]
    add_zones: Vec<String>,
    /// A zone to remove, by id or name; what lay in it stays on the board
    #[arg(long = "remove-zone", value_name = "ZONE")]
    remove_zones: Vec<String>,
}

pub(crate) async fn run(cx: &Context, command: BoardCommand) -> CliResult {
    let client = cx.client()?;
    let board = match command {
        BoardCommand::List { page, shared } => {
            let request = BoardListRequest {
                shared: shared.then_some(true),
                limit: page.limit,
                cursor: page.cursor,
            };
            let list = client.board_list(&request).await?;
            return cx.ui.answer(&list, |ui| table(ui, &list));
        }
        BoardCommand::Create(args) => {
            let request = BoardCreateRequest {
                name: args.name,
                description: args.description,
                zones: args.zones.into_iter().map(zone).collect(),
                idempotency_key: None,
            };
            client.board_create(&request).await?
        }
        BoardCommand::Show { board } => client.board_get(&board).await?,
        BoardCommand::Update(args) => client.board_update(&update_request(args)?).await?,
        BoardCommand::Zone(args) => board_zone::zone(&client, args).await?,
        BoardCommand::Place(args) => board_zone::place(&client, args).await?,
        BoardCommand::Share {
            board,
            with,
            level,
            stop,
        } => {
            let request = BoardShareRequest {
                board,
                with,
                level: if stop { "none".to_owned() } else { level },
                idempotency_key: None,
            };
            client.board_share(&request).await?
        }
        BoardCommand::Rm { board, force } => {
            let request = BoardDeleteRequest {
                board,
                force: force.then_some(true),
                idempotency_key: None,
            };
            let deleted = client.board_delete(&request).await?;
            return super::deleted::show(cx, "board", &deleted);
        }
        BoardCommand::Duplicate {
            board,
            name,
            worktrees,
        } => {
            let request = BoardDuplicateRequest {
                board,
                name,
                include_worktrees: worktrees,
                idempotency_key: None,
            };
            client.board_duplicate(&request).await?
        }
    };
    cx.ui.answer(&board, |ui| show(ui, &board))
}

fn zone(name: String) -> ZoneInputRequest {
    ZoneInputRequest {
        name: Some(name),
        ..ZoneInputRequest::default()
    }
}

fn update_request(args: UpdateArgs) -> CliResult<BoardUpdateRequest> {
    let is_empty = args.name.is_none()
        && args.description.is_none()
        && args.add_zones.is_empty()
        && args.remove_zones.is_empty();
    if is_empty {
        return Err(CliError::usage("there is nothing to change")
            .hint("give --name, --description, --add-zone or --remove-zone"));
    }
    Ok(BoardUpdateRequest {
        board: args.board,
        name: args.name,
        description: args.description,
        zones: args.add_zones.into_iter().map(zone).collect(),
        remove_zones: args.remove_zones,
        ..BoardUpdateRequest::default()
    })
}

fn table(ui: &Ui, list: &BoardListView) -> CliResult {
    let mut table = Table::new(&["ID", "NAME", "ZONES", "ITEMS", "CHANGED"]);
    for board in &list.boards {
        let (zones, items) = (board.zones.to_string(), board.items.to_string());
        let changed = when(&board.updated_at);
        table.row([&board.short_id, &board.name, &zones, &items, &changed]);
    }
    ui.table(
        &table,
        "no boards yet; make one with `wheelhouse board create NAME`",
    )?;
    ui.more(list.boards.len(), list.total, list.next_cursor.as_ref())
}

/// Says whom a board is shared with.
fn shared_with(board: &BoardView) -> Option<String> {
    let say = |share: &ShareView| format!("{} ({})", share.with, share.level);
    let all: Vec<_> = board.shares.iter().map(say).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

fn show(ui: &Ui, board: &BoardView) -> CliResult {
    ui.fields(&[
        ("id", Some(board.id.clone())),
        ("name", Some(board.name.clone())),
        ("description", board.description.clone()),
        ("shared", shared_with(board)),
        ("changed", Some(moment_ago(&board.updated_at))),
    ])?;
    let name_of = |id: &str| {
        board
            .zones
            .iter()
            .find(|zone| zone.id == id)
            .map(|zone| zone.name.as_str())
    };
    if !board.zones.is_empty() {
        let mut table = Table::new(&["ZONE", "AT", "SIZE", "PROMPT"]);
        for zone in &board.zones {
            let at = format!("{}, {}", zone.x, zone.y);
            let size = format!("{} × {}", zone.width, zone.height);
            table.row([
                &zone.name,
                &at,
                &size,
                zone.prompt_template.as_deref().unwrap_or("-"),
            ]);
        }
        ui.raw("\n")?;
        ui.table(&table, "")?;
    }
    if !board.items.is_empty() {
        let mut table = Table::new(&["ITEM", "ID", "AT", "ZONE"]);
        for item in &board.items {
            let kind = match item.kind {
                ItemKind::Worktree => "worktree",
                ItemKind::Session => "session",
            };
            let at = format!("{}, {}", item.x, item.y);
            let zone = item.zone_id.as_deref().and_then(name_of).unwrap_or("-");
            table.row([kind, &item.id, &at, zone]);
        }
        ui.raw("\n")?;
        ui.table(&table, "")?;
    }
    Ok(())
}
