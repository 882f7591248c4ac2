//! Which paths a tool call names, and where they lead.
//!
//! Agents say in `locations` what a call touches, and the model says it in the call's input; the two need not agree. All of it
//! is looked at, and every symbolic link followed, before a policy decides by place.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

use serde_json::Value;
use wh_domain::ActionPath;
use wh_runner::event::{ToolCall, ToolContent};

/// The most paths of one call; one that names more is asked about.
const PATHS_MAX: usize = 200;

/// How deep an input is looked through; a deeper one is asked about.
const DEPTH_MAX: usize = 32;

/// The most bytes of a path.
const PATH_BYTES_MAX: usize = 4_096;

/// Fields whose values are paths, in lower case and without `_` and `-`; those that end in `path` or `paths` are too.
const PATH_FIELDS: &[&str] = &[
    "file",
    "files",
    "filename",
    "filenames",
    "cwd",
    "dir",
    "dirs",
    "directory",
    "directories",
    "folder",
    "workdir",
    "workingdirectory",
    "root",
    "roots",
    "uri",
    "source",
    "src",
    "destination",
    "dest",
    "target",
];

/// Fields that hold what is written or looked for, which may look like a path and is none.
const TEXT_FIELDS: &[&str] = &[
    "content",
    "contents",
    "text",
    "oldstring",
    "newstring",
    "oldtext",
    "newtext",
    "oldstr",
    "newstr",
    "newsource",
    "description",
    "explanation",
    "title",
    "prompt",
    "query",
];

/// Fields that hold changes of files in a text format of their own, with paths inside.
const PATCH_FIELDS: &[&str] = &["patch", "diff", "unifieddiff", "input"];

/// Returns every path that a call names, resolved from where the agent works.
pub(super) fn paths_of(call: &ToolCall, home: &Path) -> Vec<ActionPath> {
    let mut found = Found::default();
    for location in &call.locations {
        found.add(&location.path);
    }
    for content in &call.content {
        if let ToolContent::Diff { path, .. } = content {
            found.add(path);
        }
    }
    if let Some(input) = &call.input {
        found.search("", input, 0);
    }
    found.is_incomplete |= call.input_cut;
    let mut paths: Vec<_> = found.texts.iter().map(|it| resolved(it, home)).collect();
    if found.is_incomplete {
        // Stands for whatever else it names.
        paths.push(ActionPath {
            named: PathBuf::new(),
            resolved: None,
        });
    }
    paths
}

/// What was found so far.
#[derive(Default)]
struct Found {
    texts: Vec<String>,
    /// There may be more.
    is_incomplete: bool,
}

impl Found {
    fn add(&mut self, text: &str) {
        if self.texts.len() >= PATHS_MAX {
            self.is_incomplete = true;
        } else if !self.texts.iter().any(|known| known == text) {
            self.texts.push(text.to_owned());
        }
    }

    fn search(&mut self, field: &str, value: &Value, depth: usize) {
        if depth > DEPTH_MAX {
            self.is_incomplete = true;
            return;
        }
        match value {
            Value::String(text) => self.text(field, text),
            Value::Array(values) => {
                for value in values {
                    self.search(field, value, depth + 1);
                }
            }
            Value::Object(fields) => {
                for (name, value) in fields {
                    // Some agents give a map from files to what becomes of them.
                    if field == "changes" || looks_like_path(name) {
                        self.add(name);
                    }
                    self.search(&plain(name), value, depth + 1);
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, field: &str, text: &str) {
        let is_path =
            PATH_FIELDS.contains(&field) || field.ends_with("path") || field.ends_with("paths");
        if is_path {
            self.add(text);
        } else if PATCH_FIELDS.contains(&field) && text.contains('\n') {
            self.is_incomplete = true;
        } else if !TEXT_FIELDS.contains(&field) && looks_like_path(text) {
            self.add(text);
        }
    }
}

/// Writes a field's name as the lists above have it.
fn plain(name: &str) -> String {
    let letters = name.chars().filter(|c| !matches!(c, '_' | '-'));
    letters.collect::<String>().to_lowercase()
}

/// Tells whether a text would lead out of a directory as a path.
fn looks_like_path(text: &str) -> bool {
    let leads = ["/", "~", "../", "file:"]
        .iter()
        .any(|it| text.starts_with(it));
    (leads || text == "..") && !text.contains('\n')
}

/// Resolves a path as it was written.
fn resolved(text: &str, home: &Path) -> ActionPath {
    let path = Path::new(text);
    let named = path.strip_prefix(home).unwrap_or(path).to_owned();
    // What a shell or a program makes of these is not known here.
    let is_odd = text.starts_with('~')
        || text.contains("://")
        || text.starts_with("file:")
        || text.contains(['\0', '$', '\n'])
        || text.is_empty()
        || text.len() > PATH_BYTES_MAX;
    let resolved = (!is_odd).then(|| lead(&home.join(path))).flatten();
    ActionPath { named, resolved }
}

/// Returns where an absolute path leads. Of one that does not exist, the nearest existing directory is resolved.
fn lead(path: &Path) -> Option<PathBuf> {
    if let Ok(real) = path.canonicalize() {
        return Some(real);
    }
    let mut ancestors = path.ancestors();
    let (nearest, real) = ancestors.find_map(|it| Some((it, it.canonicalize().ok()?)))?;
    let rest = path.strip_prefix(nearest).ok()?;
    let mut parts = rest.components();
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    let first = parts.clone().next()?;
    // A link that leads to nothing yet leads there as soon as somebody writes through it.
    let is_free = fs::symlink_metadata(nearest.join(first)).is_err();
    (real.is_dir() && is_free && parts.all(is_plain)).then(|| real.join(rest))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use serde_json::json;
    use wh_runner::event::Location;

    use super::*;

    fn texts(input: Value) -> (Vec<String>, bool) {
        let mut found = Found::default();
        found.search("", &input, 0);
        found.texts.sort();
        (found.texts, found.is_incomplete)
    }

    #[test]
    fn paths_are_found_wherever_an_input_names_them() {
        for (input, named) in [
            (
                json!({ "file_path": "a", "content": "/etc/passwd" }),
                &["a"][..],
            ),
            (json!({ "abs_path": "/x", "filePath": "b" }), &["/x", "b"]),
            (
                json!({ "edits": [{ "path": "a" }, { "path": "b" }] }),
                &["a", "b"],
            ),
            (json!({ "paths": ["a", "b"] }), &["a", "b"]),
            (
                json!({ "changes": { "src/a.rs": { "add": {} } } }),
                &["src/a.rs"],
            ),
            (json!({ "anything": "/etc/passwd" }), &["/etc/passwd"]),
            (json!({ "deep": { "er": "../x" } }), &["../x"]),
            (json!({ "cwd": "/w", "old_string": "/a" }), &["/w"]),
            (json!({ "old_string": "one", "n": 1 }), &[]),
        ] {
            let named: Vec<_> = named.iter().map(|it| (*it).to_owned()).collect();
            assert_eq!(texts(input.clone()), (named, false), "{input}");
        }
        let many: Vec<_> = (0..PATHS_MAX + 1).map(|it| format!("f{it}")).collect();
        assert!(texts(json!({ "files": many })).1);
        assert!(texts(json!({ "patch": "*** Update File: /etc/x\n" })).1);
    }

    #[test]
    fn links_are_followed_and_what_cannot_be_told_is_said_to_be() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap().join("home");
        fs::create_dir_all(home.join("src")).unwrap();
        symlink("/etc", home.join("src/link")).unwrap();
        symlink("/nowhere/yet", home.join("src/dangling")).unwrap();
        let to = |path: &str| resolved(path, &home).resolved;
        assert_eq!(to("src/new/file.rs"), Some(home.join("src/new/file.rs")));
        assert_eq!(to("src/link/passwd"), Some("/etc/passwd".into()));
        assert_eq!(to("src/link/absent"), Some("/etc/absent".into()));
        assert_eq!(
            to("src/../../x"),
            Some(dir.path().canonicalize().unwrap().join("x"))
        );
        for odd in [
            "src/dangling",
            "src/new/../../x",
            "~/x",
            "$HOME/x",
            "file:///x",
            "",
        ] {
            assert_eq!(to(odd), None, "{odd}");
        }
        let call = ToolCall {
            locations: vec![Location {
                path: home.join("src/a").display().to_string(),
                line: None,
            }],
            input_cut: true,
            ..ToolCall::default()
        };
        let paths = paths_of(&call, &home);
        assert_eq!(paths[0].named, Path::new("src/a"));
        assert_eq!(paths[1].resolved, None);
    }
}
