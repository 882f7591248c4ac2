//! Boards.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wh_domain::{
    AgentName, Board, BoardChange, BoardDuplicate, BoardItem, Color, Description, InputRefusal,
    ItemReference, Name, NewBoard, Placement, PlacementInput, Position, Principal, PromptTemplate,
    Rect, Reference, ShortId, Zone, ZoneInput,
};

use crate::ShareView;
use crate::common::{at_most, field, list_request, optional, optional_reference, reference, time};

/// The most zones or items one request may name.
const ENTRIES_MAX: usize = 500;

/// A board to make.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoardCreateRequest {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Zones to begin with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub zones: Vec<ZoneInputRequest>,
    /// A mark of your choice: a repeat with the same mark makes no second board.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

/// A zone to add or, by its id or name, to change.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ZoneInputRequest {
    /// The zone to change; a new one is added unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Such as #3366ff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<f64>,
    /// Makes a prompt for the session, or the worktree's newest one, that is placed in the zone, such as "Review {{ worktree.branch }}".
    /// Can name fields of board, session, worktree and zone, and use if. Empty: prompts no longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_template: Option<String>,
    /// The agent whose session is begun in a worktree that is placed in the zone and has none to prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// Names a board.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoardGetRequest {
    /// The board's id, or its last 8 digits.
    pub board: String,
}

impl BoardGetRequest {
    /// Returns which board is meant.
    pub fn board(&self) -> Result<Reference, InputRefusal> {
        reference("board", &self.board)
    }
}

list_request! {
    /// Which boards to list.
    BoardListRequest {
        /// Those that others share with you, in place of your own.
        shared: bool,
    }
}

/// What to change about a board; what is absent stays.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoardUpdateRequest {
    /// The board's id, or its last 8 digits.
    pub board: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Zones to add or change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub zones: Vec<ZoneInputRequest>,
    /// Zones to remove, by id or name; what lay in them stays on the board.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove_zones: Vec<String>,
    /// Items to place or move.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub place: Vec<PlaceInput>,
    /// Items to take off the board.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove_items: Vec<ItemInput>,
    /// A mark of your choice: a repeat with it changes nothing twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

/// Something to place on a board.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlaceInput {
    pub kind: ItemKind,
    pub id: String,
    #[serde(default)]
    pub x: f64,
    #[serde(default)]
    pub y: f64,
    /// The zone it belongs to, by id or name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
}

/// Names something that lies on a board.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ItemInput {
    pub kind: ItemKind,
    pub id: String,
}

/// What can lie on a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ItemKind {
    Worktree,
    Session,
}

/// A board to copy.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoardDuplicateRequest {
    /// The board's id, or its last 8 digits.
    pub board: String,
    /// What the copy is called.
    pub name: String,
    /// Place the same worktrees on the copy; false unless given. Sessions stay where they are.
    #[serde(default)]
    pub include_worktrees: bool,
    /// A mark of your choice: a repeat with the same mark makes no second copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

impl TryFrom<BoardCreateRequest> for NewBoard {
    type Error = InputRefusal;

    fn try_from(request: BoardCreateRequest) -> Result<Self, InputRefusal> {
        Ok(Self {
            name: field("name", Name::parse(&request.name))?,
            owner: None,
            description: description(request.description.as_deref())?,
            zones: zone_inputs(request.zones)?,
        })
    }
}

impl TryFrom<BoardUpdateRequest> for BoardChange {
    type Error = InputRefusal;

    fn try_from(request: BoardUpdateRequest) -> Result<Self, InputRefusal> {
        at_most("remove_zones", &request.remove_zones, ENTRIES_MAX)?;
        at_most("place", &request.place, ENTRIES_MAX)?;
        at_most("remove_items", &request.remove_items, ENTRIES_MAX)?;
        let zones_removed = request
            .remove_zones
            .iter()
            .map(|z| reference("remove_zones", z));
        let items_removed = request
            .remove_items
            .iter()
            .map(|item| item_reference("remove_items", item.kind, &item.id));
        Ok(Self {
            board: reference("board", &request.board)?,
            name: optional("name", request.name.as_deref(), Name::parse)?,
            description: description(request.description.as_deref())?,
            zones: zone_inputs(request.zones)?,
            zones_removed: zones_removed.collect::<Result<_, _>>()?,
            placements: request
                .place
                .iter()
                .map(placement_input)
                .collect::<Result<_, _>>()?,
            items_removed: items_removed.collect::<Result<_, _>>()?,
        })
    }
}

impl TryFrom<BoardDuplicateRequest> for BoardDuplicate {
    type Error = InputRefusal;

    fn try_from(request: BoardDuplicateRequest) -> Result<Self, InputRefusal> {
        Ok(Self {
            board: reference("board", &request.board)?,
            name: field("name", Name::parse(&request.name))?,
            with_worktrees: request.include_worktrees,
        })
    }
}

fn description(text: Option<&str>) -> Result<Option<Description>, InputRefusal> {
    optional("description", text, Description::parse)
}

fn zone_inputs(zones: Vec<ZoneInputRequest>) -> Result<Vec<ZoneInput>, InputRefusal> {
    at_most("zones", &zones, ENTRIES_MAX)?;
    zones.iter().map(zone_input).collect()
}

fn zone_input(zone: &ZoneInputRequest) -> Result<ZoneInput, InputRefusal> {
    let template = zone.prompt_template.as_deref();
    let no_prompt = template.is_some_and(|text| text.trim().is_empty());
    let template = template.filter(|_| !no_prompt);
    Ok(ZoneInput {
        zone: optional_reference("zone", zone.zone.as_deref())?,
        name: optional("zones.name", zone.name.as_deref(), Name::parse)?,
        color: optional("zones.color", zone.color.as_deref(), Color::parse)?,
        rect: rect(zone)?,
        prompt_template: optional("zones.prompt_template", template, PromptTemplate::parse)?,
        no_prompt,
        agent: optional("zones.agent", zone.agent.as_deref(), AgentName::parse)?,
    })
}

/// Reads an area: all four numbers or none.
fn rect(zone: &ZoneInputRequest) -> Result<Option<Rect>, InputRefusal> {
    match (zone.x, zone.y, zone.width, zone.height) {
        (None, None, None, None) => Ok(None),
        (Some(x), Some(y), Some(width), Some(height)) => Ok(Some(Rect {
            x,
            y,
            width,
            height,
        })),
        _ => Err(InputRefusal::new(
            "zones",
            "needs x, y, width and height together",
        )),
    }
}

fn placement_input(place: &PlaceInput) -> Result<PlacementInput, InputRefusal> {
    Ok(PlacementInput {
        item: item_reference("place.id", place.kind, &place.id)?,
        position: Position {
            x: place.x,
            y: place.y,
        },
        zone: optional_reference("place.zone", place.zone.as_deref())?,
    })
}

fn item_reference(name: &str, kind: ItemKind, id: &str) -> Result<ItemReference, InputRefusal> {
    let reference = reference(name, id)?;
    Ok(match kind {
        ItemKind::Worktree => ItemReference::Worktree(reference),
        ItemKind::Session => ItemReference::Session(reference),
    })
}

/// A board with its zones and what lies on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BoardView {
    pub id: String,
    pub short_id: String,
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub owner_id: String,
    pub zones: Vec<ZoneView>,
    pub items: Vec<PlacementView>,
    /// Whom it is shared with; only what concerns you, if it is not yours.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<ShareView>,
    /// Whether you may change it.
    pub can_change: bool,
    /// Counts the changes.
    pub revision: u64,
    pub created_at: String,
    pub updated_at: String,
}

/// A labelled area of a board.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ZoneView {
    pub id: String,
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color: Option<String>,
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_template: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// Something on a board and where it lies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlacementView {
    pub kind: ItemKind,
    pub id: String,
    pub x: f64,
    pub y: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone_id: Option<String>,
}

impl BoardView {
    /// Shows a board as a caller sees it.
    pub fn new(board: &Board, caller: &Principal) -> Self {
        Self {
            id: board.id.to_string(),
            short_id: board.id.short_id(),
            name: board.name.to_string(),
            description: board.description.as_ref().map(ToString::to_string),
            owner_id: board.owner.user.to_string(),
            zones: board.zones.iter().map(ZoneView::from).collect(),
            items: board.placements.iter().map(PlacementView::from).collect(),
            shares: board.shares.iter().map(ShareView::from).collect(),
            can_change: caller.may_change_board(board),
            revision: board.revision,
            created_at: time(board.created_at),
            updated_at: time(board.updated_at),
        }
    }
}

impl From<&Zone> for ZoneView {
    fn from(zone: &Zone) -> Self {
        Self {
            id: zone.id.to_string(),
            name: zone.name.to_string(),
            color: zone.color.map(|color| color.to_string()),
            x: zone.rect.x,
            y: zone.rect.y,
            width: zone.rect.width,
            height: zone.rect.height,
            prompt_template: zone.prompt_template.as_ref().map(ToString::to_string),
            agent: zone.agent.as_ref().map(ToString::to_string),
        }
    }
}

impl From<&Placement> for PlacementView {
    fn from(placement: &Placement) -> Self {
        let (kind, id) = match placement.item {
            BoardItem::Worktree(id) => (ItemKind::Worktree, id.to_string()),
            BoardItem::Session(id) => (ItemKind::Session, id.to_string()),
        };
        Self {
            kind,
            id,
            x: placement.position.x,
            y: placement.position.y,
            zone_id: placement.zone.map(|zone| zone.to_string()),
        }
    }
}

/// A board in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BoardSummaryView {
    pub id: String,
    pub short_id: String,
    pub name: String,
    pub owner_id: String,
    pub zones: usize,
    pub items: usize,
    pub updated_at: String,
}

impl From<&Board> for BoardSummaryView {
    fn from(board: &Board) -> Self {
        Self {
            id: board.id.to_string(),
            short_id: board.id.short_id(),
            name: board.name.to_string(),
            owner_id: board.owner.user.to_string(),
            zones: board.zones.len(),
            items: board.placements.len(),
            updated_at: time(board.updated_at),
        }
    }
}

/// Some boards, newest first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BoardListView {
    pub boards: Vec<BoardSummaryView>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Total number of results, counted up to 100000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}
