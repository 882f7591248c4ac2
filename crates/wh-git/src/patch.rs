//! The text of changes, file by file and within bounds.

use crate::{Diff, DiffLimits, FileDiff, GitError, Patch, diff::OPTIONS, view::View};

/// Adds the text of every listed file, until the total is reached.
///
/// One command gives the text of all when it fits. When it does not, each file is asked for by itself, so that one huge
/// file cannot push out the small ones after it.
pub(crate) async fn add_patches(
    view: &View,
    revisions: &[&str],
    diff: &mut Diff,
    limits: DiffLimits,
) -> Result<(), GitError> {
    let is_whole = limits.files_skipped == 0 && diff.files_left_out == 0;
    if is_whole && all_at_once(view, revisions, diff, limits).await? {
        return Ok(());
    }
    let mut left = limits.total_bytes_max;
    for file in &mut diff.files {
        if file.lines.is_none() && file.change != crate::Change::Unmerged {
            file.patch = Patch::Binary;
            continue;
        }
        let bound = limits.file_bytes_max.min(left);
        if bound == 0 {
            file.patch = Patch::LeftOut;
            continue;
        }
        let git = view.git().args(OPTIONS).arg("--patch").args(revisions);
        let git = git.arg("--").args(&file.old_path).arg(&file.path);
        let said = git.output_bytes_max(bound).long().said().await?;
        if said.code != 0 && !said.truncated {
            return Err(said.into_error());
        }
        left -= said.stdout.len().min(left);
        file.patch = text_of(&said.stdout, said.truncated);
    }
    Ok(())
}

/// Tries to get the text of all files with one command; tells whether that worked.
async fn all_at_once(
    view: &View,
    revisions: &[&str],
    diff: &mut Diff,
    limits: DiffLimits,
) -> Result<bool, GitError> {
    let git = view.git().args(OPTIONS).arg("--patch").args(revisions);
    let said = git
        .arg("--")
        .output_bytes_max(limits.total_bytes_max)
        .long()
        .said()
        .await?;
    if said.truncated {
        return Ok(false);
    }
    if said.code != 0 {
        return Err(said.into_error());
    }
    let texts = split(&said.stdout);
    if texts.len() != diff.files.len() {
        // Conflicts have texts of another form.
        return Ok(false);
    }
    for (file, text) in diff.files.iter_mut().zip(texts) {
        file.patch = patch_of(file, text, limits.file_bytes_max);
    }
    Ok(true)
}

fn patch_of(file: &FileDiff, text: &[u8], bytes_max: usize) -> Patch {
    if file.lines.is_none() {
        return Patch::Binary;
    }
    text_of(&text[..text.len().min(bytes_max)], text.len() > bytes_max)
}

fn text_of(bytes: &[u8], cut: bool) -> Patch {
    let text = String::from_utf8_lossy(bytes).into_owned();
    if cut {
        Patch::Cut(text)
    } else {
        Patch::Whole(text)
    }
}

/// Splits at the lines that begin a file; inside a file every line begins with another character.
fn split(text: &[u8]) -> Vec<&[u8]> {
    const BEGIN: &[u8] = b"diff --git ";
    let mut starts = Vec::new();
    let mut line = 0;
    while line < text.len() {
        if text[line..].starts_with(BEGIN) {
            starts.push(line);
        }
        let end = text[line..].iter().position(|byte| *byte == b'\n');
        line = end.map_or(text.len(), |end| line + end + 1);
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|(start, end)| &text[*start..end])
        .collect()
}
