//! Boards: canvases on which worktrees and sessions are placed, with zones that may carry a prompt template.

use jiff::Timestamp;

use crate::{
    AgentName, BoardId, Description, Name, Owner, PromptTemplate, SessionId, Share, UserId,
    WorktreeId, ZoneId,
};

/// A canvas for worktrees and sessions.
#[derive(Clone, Debug, PartialEq)]
pub struct Board {
    pub id: BoardId,
    pub owner: Owner,
    pub name: Name,
    pub description: Option<Description>,
    pub zones: Vec<Zone>,
    pub placements: Vec<Placement>,
    /// Whom it is shared with, and the sessions on it.
    pub shares: Vec<Share>,
    /// Counts the changes; a change made against an older one is refused and tried again.
    pub revision: u64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Which boards a list holds. Everything left open matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BoardFilter {
    pub owner: Option<UserId>,
}

/// A labelled area of a board.
#[derive(Clone, Debug, PartialEq)]
pub struct Zone {
    pub id: ZoneId,
    pub name: Name,
    pub color: Option<Color>,
    pub rect: Rect,
    /// Makes a prompt out of what is placed here.
    pub prompt_template: Option<PromptTemplate>,
    /// Whose session is begun for a worktree that is placed here and has none to prompt.
    pub agent: Option<AgentName>,
}

/// Something on a board and where it lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    pub item: BoardItem,
    pub position: Position,
    pub zone: Option<ZoneId>,
}

/// What can lie on a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BoardItem {
    Worktree(WorktreeId),
    Session(SessionId),
}

/// A point on the canvas.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Position {
    pub x: f64,
    pub y: f64,
}

/// An area of the canvas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rect {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

impl Default for Rect {
    fn default() -> Self {
        Self {
            x: 0.0,
            y: 0.0,
            width: 400.0,
            height: 300.0,
        }
    }
}

/// An RGB colour, written `#rrggbb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Color([u8; 3]);

impl Color {
    /// Parses `#rrggbb`.
    pub fn parse(text: &str) -> Result<Self, BoardRefusal> {
        let refuse = || BoardRefusal::Color {
            text: text.chars().take(20).collect(),
        };
        let digits = text.strip_prefix('#').ok_or_else(refuse)?;
        if digits.len() != 6 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(refuse());
        }
        let value = u32::from_str_radix(digits, 16).map_err(|_| refuse())?;
        let [_, r, g, b] = value.to_be_bytes();
        Ok(Self([r, g, b]))
    }
}

impl std::fmt::Display for Color {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [r, g, b] = self.0;
        write!(f, "#{r:02x}{g:02x}{b:02x}")
    }
}

/// What to change about a board; what is absent stays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoardPatch {
    pub name: Option<Name>,
    pub description: Option<Description>,
    /// Zones to add, or to change by their id.
    pub zones: Vec<ZoneChange>,
    pub zones_removed: Vec<ZoneId>,
    /// Items to place, or to move where they are placed already.
    pub placements: Vec<Placement>,
    pub items_removed: Vec<BoardItem>,
}

/// A zone to add or to change; what is absent stays, or gets its default.
#[derive(Clone, Debug, PartialEq)]
pub struct ZoneChange {
    pub id: ZoneId,
    /// Whether `id` is new; otherwise it must exist.
    pub is_new: bool,
    pub name: Option<Name>,
    pub color: Option<Color>,
    pub rect: Option<Rect>,
    pub prompt_template: Option<PromptTemplate>,
    /// Whether the zone is to prompt no longer.
    pub no_prompt: bool,
    pub agent: Option<AgentName>,
}

/// Why a change to a board was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BoardRefusal {
    #[error("the colour {text:?} is not of the form #rrggbb")]
    Color { text: String },
    #[error("the board has no zone {id}")]
    NoZone { id: ZoneId },
    #[error("a new zone needs a name")]
    ZoneWithoutName,
    #[error("the board already has a zone called {name:?}")]
    ZoneNameTaken { name: String },
    #[error("a position must be finite and within ±{}", Board::EXTENT_MAX)]
    OutOfBounds,
    #[error("a board holds at most {max} {what}")]
    Full { what: &'static str, max: usize },
}

impl Board {
    /// The most zones on one board.
    pub const ZONES_MAX: usize = 100;
    /// The most items on one board.
    pub const PLACEMENTS_MAX: usize = 2_000;
    /// The furthest a position may lie from the origin.
    pub const EXTENT_MAX: f64 = 1e7;

    /// Changes the board, or refuses the whole change and leaves it as it was.
    pub fn apply(&self, patch: BoardPatch, now: Timestamp) -> Result<Self, BoardRefusal> {
        let mut board = self.clone();
        board.name = patch.name.unwrap_or(board.name);
        board.description = patch.description.or(board.description);
        for id in patch.zones_removed {
            board.zone_remove(id)?;
        }
        for change in patch.zones {
            board.zone_change(change)?;
        }
        board
            .placements
            .retain(|p| !patch.items_removed.contains(&p.item));
        for placement in patch.placements {
            board.place(placement)?;
        }
        board.revision += 1;
        board.updated_at = now;
        Ok(board)
    }

    /// Returns what has come into a zone since the board was as `before`: what was not on it, or lay elsewhere on it.
    pub fn entered(&self, before: &Self) -> Vec<(BoardItem, &Zone)> {
        let was = |item| before.placements.iter().find(|it| it.item == item);
        let entered = |now: &Placement| {
            let id = now.zone?;
            let stayed = was(now.item).is_some_and(|it| it.zone == Some(id));
            let zone = self.zones.iter().find(|zone| zone.id == id)?;
            (!stayed).then_some((now.item, zone))
        };
        self.placements.iter().filter_map(entered).collect()
    }

    fn zone_remove(&mut self, id: ZoneId) -> Result<(), BoardRefusal> {
        let before = self.zones.len();
        self.zones.retain(|zone| zone.id != id);
        if self.zones.len() == before {
            return Err(BoardRefusal::NoZone { id });
        }
        // What lay in the zone stays on the board where it was.
        for placement in &mut self.placements {
            if placement.zone == Some(id) {
                placement.zone = None;
            }
        }
        Ok(())
    }

    fn zone_change(&mut self, change: ZoneChange) -> Result<(), BoardRefusal> {
        if change.rect.is_some_and(|rect| !rect.is_sane()) {
            return Err(BoardRefusal::OutOfBounds);
        }
        if let Some(name) = &change.name {
            let taken = |zone: &Zone| zone.id != change.id && zone.name == *name;
            if self.zones.iter().any(taken) {
                let name = name.to_string();
                return Err(BoardRefusal::ZoneNameTaken { name });
            }
        }
        if change.is_new {
            return self.zone_add(change);
        }
        let id = change.id;
        let zone = self
            .zones
            .iter_mut()
            .find(|zone| zone.id == id)
            .ok_or(BoardRefusal::NoZone { id })?;
        if let Some(name) = change.name {
            zone.name = name;
        }
        zone.color = change.color.or(zone.color);
        zone.rect = change.rect.unwrap_or(zone.rect);
        let template = zone.prompt_template.take().filter(|_| !change.no_prompt);
        zone.prompt_template = change.prompt_template.or(template);
        zone.agent = change.agent.or(zone.agent.take());
        Ok(())
    }

    fn zone_add(&mut self, change: ZoneChange) -> Result<(), BoardRefusal> {
        if self.zones.len() >= Self::ZONES_MAX {
            let (what, max) = ("zones", Self::ZONES_MAX);
            return Err(BoardRefusal::Full { what, max });
        }
        self.zones.push(Zone {
            id: change.id,
            name: change.name.ok_or(BoardRefusal::ZoneWithoutName)?,
            color: change.color,
            rect: change.rect.unwrap_or_else(|| self.free_rect()),
            prompt_template: change.prompt_template,
            agent: change.agent,
        });
        Ok(())
    }

    /// Returns a place for a zone that was given none: right of all others, so that none covers another.
    fn free_rect(&self) -> Rect {
        const GAP: f64 = 40.0;
        let right = |zone: &Zone| zone.rect.x + zone.rect.width + GAP;
        let x = self.zones.iter().map(right).fold(0.0, f64::max);
        Rect {
            x: x.min(Self::EXTENT_MAX),
            ..Rect::default()
        }
    }

    fn place(&mut self, placement: Placement) -> Result<(), BoardRefusal> {
        if !placement.position.is_sane() {
            return Err(BoardRefusal::OutOfBounds);
        }
        if let Some(id) = placement.zone
            && !self.zones.iter().any(|zone| zone.id == id)
        {
            return Err(BoardRefusal::NoZone { id });
        }
        self.placements.retain(|p| p.item != placement.item);
        if self.placements.len() >= Self::PLACEMENTS_MAX {
            let (what, max) = ("items", Self::PLACEMENTS_MAX);
            return Err(BoardRefusal::Full { what, max });
        }
        self.placements.push(placement);
        Ok(())
    }

    /// Makes a board with the same zones and, if asked, the same worktrees. Sessions stay where they are.
    pub fn duplicate(&self, copy: BoardCopy, mut next_zone_id: impl FnMut() -> ZoneId) -> Self {
        let renamed: Vec<_> = self.zones.iter().map(|z| (z.id, next_zone_id())).collect();
        let new_id = |old: ZoneId| renamed.iter().find(|(id, _)| *id == old).map(|(_, id)| *id);
        let zones = self.zones.iter().map(|zone| Zone {
            id: new_id(zone.id).unwrap_or(zone.id),
            ..zone.clone()
        });
        let kept = |p: &&Placement| copy.with_worktrees && matches!(p.item, BoardItem::Worktree(_));
        let placements = self.placements.iter().filter(kept).map(|p| Placement {
            zone: p.zone.and_then(new_id),
            ..*p
        });
        Self {
            id: copy.id,
            owner: copy.owner,
            name: copy.name,
            description: self.description.clone(),
            zones: zones.collect(),
            placements: placements.collect(),
            shares: vec![],
            revision: 1,
            created_at: copy.now,
            updated_at: copy.now,
        }
    }
}

/// What a duplicate is called and whose it is.
#[derive(Clone, Debug)]
pub struct BoardCopy {
    pub id: BoardId,
    pub owner: Owner,
    pub name: Name,
    pub with_worktrees: bool,
    pub now: Timestamp,
}

impl Position {
    fn is_sane(self) -> bool {
        let fits = |n: f64| n.is_finite() && n.abs() <= Board::EXTENT_MAX;
        fits(self.x) && fits(self.y)
    }
}

impl Rect {
    fn is_sane(self) -> bool {
        let corner = Position {
            x: self.x,
            y: self.y,
        };
        let size = Position {
            x: self.width,
            y: self.height,
        };
        corner.is_sane() && size.is_sane() && self.width > 0.0 && self.height > 0.0
    }
}

#[cfg(test)]
#[path = "board_tests.rs"]
mod tests;
