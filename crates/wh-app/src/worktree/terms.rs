//! From git's terms into the domain's.

use std::path::PathBuf;

use serde_json::{Value, json};
use wh_domain::{
    FileChange, WorktreeDisk, WorktreeMissing, WorktreeRisk, WorktreeStatus, redact_patch,
};
use wh_git::{Change, DiskUse, FileDiff, FileKind, Missing, Patch, Risk, Status};

/// The most names that are given for one reason.
const NAMES_MAX: usize = 20;

/// Writes paths as text, for people to read.
pub(super) fn texts(paths: &[PathBuf]) -> Vec<String> {
    paths
        .iter()
        .map(|path| path.display().to_string())
        .collect()
}

pub(super) fn missing_of(missing: Missing) -> WorktreeMissing {
    match missing {
        Missing::DirectoryGone => WorktreeMissing::DirectoryGone,
        Missing::Replaced => WorktreeMissing::Replaced,
        Missing::GitDirGone => WorktreeMissing::GitDirGone,
    }
}

pub(super) fn disk_of(disk: DiskUse) -> WorktreeDisk {
    WorktreeDisk {
        bytes: disk.bytes,
        files: disk.files,
    }
}

pub(super) fn status_of(status: Status) -> WorktreeStatus {
    let (ahead, behind) = status.ahead_behind.unwrap_or_default();
    WorktreeStatus {
        head: status.head.map(|head| head.to_string()),
        branch: status.branch,
        staged: texts(&status.staged),
        unstaged: texts(&status.unstaged),
        untracked: texts(&status.untracked),
        conflicted: texts(&status.conflicted),
        ahead,
        behind,
    }
}

pub(super) fn risk_of(risk: &Risk) -> WorktreeRisk {
    let named = |paths: &[PathBuf]| {
        (
            paths.len() as u64,
            texts(&paths[..paths.len().min(NAMES_MAX)]),
        )
    };
    let (kind, (count, names)) = match risk {
        Risk::Dirty { files } => ("dirty", named(files)),
        Risk::Untracked { files } => ("untracked", named(files)),
        Risk::Ignored { use_ } => ("ignored", (use_.files, vec![])),
        Risk::Stashed { entries } => ("stashed", (*entries, vec![])),
        Risk::Unpushed { commits } => ("unpushed", (*commits, vec![])),
        Risk::Detached { commits } => ("detached", (*commits, vec![])),
        Risk::InProgress { what } => ("in_progress", (1, vec![(*what).to_owned()])),
        Risk::Nested { paths } => ("nested", named(paths)),
        Risk::Processes { pids } => {
            let names = pids.iter().take(NAMES_MAX).map(u32::to_string).collect();
            ("processes", (pids.len() as u64, names))
        }
        Risk::Locked => ("locked", (1, vec![])),
    };
    let bytes = match risk {
        Risk::Ignored { use_ } => Some(use_.bytes),
        _ => None,
    };
    WorktreeRisk {
        kind,
        count,
        bytes,
        names,
        stops_rescue: risk.stops_rescue(),
    }
}

/// Describes a risk in the facts of a refusal.
pub(crate) fn risk_fact(risk: &Risk) -> Value {
    let risk = risk_of(risk);
    json!({ "kind": risk.kind, "count": risk.count, "names": risk.names })
}

pub(super) fn file_of(file: FileDiff) -> FileChange {
    let change = match file.change {
        Change::Added => "added",
        Change::Deleted => "deleted",
        Change::Modified => "modified",
        Change::Renamed => "renamed",
        Change::Copied => "copied",
        Change::TypeChanged => "type_changed",
        Change::Unmerged => "unmerged",
    };
    let kind = match file.kind {
        FileKind::File => "file",
        FileKind::Executable => "executable",
        FileKind::Link => "link",
        FileKind::Submodule => "submodule",
    };
    let (patch, cut) = match file.patch {
        Patch::Whole(text) => (Some(redact_patch(&text)), false),
        Patch::Cut(text) => (Some(redact_patch(&text)), true),
        Patch::LeftOut => (None, true),
        Patch::NotAsked | Patch::Binary => (None, false),
    };
    FileChange {
        path: file.path.display().to_string(),
        old_path: file.old_path.map(|path| path.display().to_string()),
        change,
        kind,
        lines: file.lines,
        patch,
        cut,
    }
}
