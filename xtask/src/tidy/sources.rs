//! Rules about the text of files.

use super::{
    ERROR_TEXT, FILE_LINES_MAX, FILE_LINES_WARN, PURPOSE_CHARS_MIN, WORDS_ABSENT_FROM_DOMAIN,
};
use crate::workspace::{Package, SourceFile};

/// Registries are named by the machine's own configuration. Written in halves, so that this file passes its own rule.
const REGISTRY_HOSTS: &[&str] = &[
    concat!("registry.npmjs", ".org"),
    concat!("registry.yarnpkg", ".com"),
    concat!("pypi", ".org"),
    concat!("files.pythonhosted", ".org"),
    concat!("index.crates", ".io"),
    concat!("static.crates", ".io"),
    concat!("deb.debian", ".org"),
    concat!("security.debian", ".org"),
    concat!("arti", "factory"),
];

const UNFINISHED: &[&str] = &[concat!("todo", "!("), concat!("unimplemented", "!(")];

/// Every crate opens with a paragraph on what it is for.
pub(super) fn purpose_stated(packages: &[Package], files: &[SourceFile]) -> Vec<String> {
    let mut problems = Vec::new();
    for package in packages {
        for name in ["lib.rs", "main.rs"] {
            let path = format!("{}/src/{name}", package.dir);
            let Some(file) = files.iter().find(|file| file.path == path) else {
                continue;
            };
            let chars = purpose(&file.text).chars().count();
            if chars < PURPOSE_CHARS_MIN {
                problems.push(format!(
                    "{path}: open it with a `//!` paragraph of at least {PURPOSE_CHARS_MIN} characters on what the crate is for (has {chars})"
                ));
            }
        }
    }
    problems
}

/// The first paragraph of the module's documentation, if the file opens with it.
fn purpose(text: &str) -> String {
    let lines = text
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .map(str::trim);
    let paragraph: Vec<_> = lines.take_while(|line| !line.is_empty()).collect();
    paragraph.join(" ")
}

/// The domain reads no clock and no file.
pub(super) fn domain_words(files: &[SourceFile]) -> Vec<String> {
    let domain = rust(files).filter(|file| file.path.starts_with("crates/wh-domain/src/"));
    find(domain, WORDS_ABSENT_FROM_DOMAIN, code_of, |word| {
        format!("the domain is pure and may not name `{word}`; take the value as an argument")
    })
}

/// No file is longer than anybody would read.
pub(super) fn too_long(files: &[SourceFile]) -> Vec<String> {
    let long = rust(files).filter(|file| lines(file) > FILE_LINES_MAX);
    long.map(|file| {
        format!(
            "{}: {} lines, more than {FILE_LINES_MAX}; move one topic into a file of its own",
            file.path,
            lines(file)
        )
    })
    .collect()
}

/// The files that come near the limit.
pub(super) fn long(files: &[SourceFile]) -> Vec<String> {
    let long =
        rust(files).filter(|file| (FILE_LINES_WARN + 1..=FILE_LINES_MAX).contains(&lines(file)));
    long.map(|file| {
        format!(
            "{}: {} lines, more than {FILE_LINES_WARN}; look for the second topic inside",
            file.path,
            lines(file)
        )
    })
    .collect()
}

/// No file names a package registry's host.
pub(super) fn registry_hosts(files: &[SourceFile]) -> Vec<String> {
    find(
        files.iter(),
        REGISTRY_HOSTS,
        |line| line,
        |host| format!("names the registry host `{host}`; leave it to the machine's configuration"),
    )
}

/// Nothing is left to panic when somebody reaches it.
pub(super) fn unfinished(files: &[SourceFile]) -> Vec<String> {
    find(rust(files), UNFINISHED, code_of, |word| {
        format!("`{word}…)` panics when reached; write it, or return an error")
    })
}

/// Errors are told apart by their reason, and only a reason has a text.
pub(super) fn error_text(files: &[SourceFile]) -> Vec<String> {
    let is_test = |path: &str| path.ends_with("_tests.rs") || path.ends_with("/tests.rs");
    let product = rust(files).filter(|file| {
        let path = &file.path;
        path.starts_with("crates/") && path.contains("/src/") && !is_test(path)
    });
    let product: Vec<_> = product.map(without_tests).collect();
    find(product.iter(), ERROR_TEXT, code_of, |word| {
        format!(
            "`{word}` compares, rewrites or makes the text of an error; use a variant of `Reason`"
        )
    })
}

/// The file without its inline tests, which end it.
fn without_tests(file: &SourceFile) -> SourceFile {
    let text = file.text.split("#[cfg(test)]\nmod tests {").next();
    SourceFile {
        path: file.path.clone(),
        text: text.unwrap_or_default().to_owned(),
    }
}

/// Every file of a test suite is part of it: `crates/*/tests/<suite>/x.rs` is a `mod x` of the suite's `main.rs`.
pub(super) fn suite_members(files: &[SourceFile]) -> Vec<String> {
    let mut problems = Vec::new();
    for file in files {
        let Some((suite, module)) = suite_member(&file.path) else {
            continue;
        };
        let main_path = format!("{suite}/main.rs");
        let shared = format!("{suite}/mod.rs");
        match files.iter().find(|file| file.path == main_path) {
            // A folder with a `mod.rs` and no `main.rs` is shared by the tests beside it, which name it.
            None if files.iter().any(|file| file.path == shared) => {}
            None => problems.push(format!(
                "{}: {main_path} does not exist, so this never runs; add it",
                file.path
            )),
            Some(main) if has_mod(&main.text, module) => {}
            Some(_) => problems.push(format!(
                "{}: never runs; add `mod {module};` to {main_path}",
                file.path
            )),
        }
    }
    problems
}

/// The suite's folder and the module's name, if `path` is a module of a test suite.
fn suite_member(path: &str) -> Option<(&str, &str)> {
    let path = path.strip_suffix(".rs")?;
    let path = path.strip_suffix("/mod").unwrap_or(path);
    let parts: Vec<_> = path.split('/').collect();
    match parts[..] {
        ["crates", _, "tests", _, module] if module != "main" => {
            path.rsplit_once('/').map(|(suite, _)| (suite, module))
        }
        _ => None,
    }
}

fn has_mod(main: &str, module: &str) -> bool {
    let declared = |line: &str| {
        let line = code_of(line).trim();
        let line = line.strip_prefix("pub(crate) ").unwrap_or(line);
        line.strip_prefix("mod ")
            .is_some_and(|rest| rest.trim_end_matches([';', '{', ' ']) == module)
    };
    main.lines().any(declared)
}

fn rust(files: &[SourceFile]) -> impl Iterator<Item = &SourceFile> {
    files.iter().filter(|file| file.path.ends_with(".rs"))
}

fn lines(file: &SourceFile) -> usize {
    file.text.lines().count()
}

/// The line without its comment.
fn code_of(line: &str) -> &str {
    line.split("//").next().unwrap_or(line)
}

/// A problem for every line that contains one of the words, after `part` has taken what counts of it.
fn find<'a>(
    files: impl Iterator<Item = &'a SourceFile>,
    words: &[&str],
    part: impl Fn(&str) -> &str,
    message: impl Fn(&str) -> String,
) -> Vec<String> {
    let mut problems = Vec::new();
    for file in files {
        for (index, line) in file.text.lines().enumerate() {
            let found = words.iter().find(|word| part(line).contains(**word));
            if let Some(word) = found {
                problems.push(format!("{}:{}: {}", file.path, index + 1, message(word)));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile {
            path: path.to_owned(),
            text: text.to_owned(),
        }
    }

    fn package(dir: &str) -> Package {
        Package {
            name: dir.to_owned(),
            dir: format!("crates/{dir}"),
            dependencies: Vec::new(),
        }
    }

    #[track_caller]
    fn check_one(problems: Vec<String>, parts: &[&str]) {
        assert_eq!(problems.len(), 1, "{problems:?}");
        for part in parts {
            assert!(
                problems[0].contains(part),
                "`{}` lacks `{part}`",
                problems[0]
            );
        }
    }

    #[test]
    fn a_crate_without_a_purpose_fails() {
        let long = "x".repeat(45);
        let good = format!("//! {long}\n//! {long}\n\nmod a;\n");
        let split = format!("//! {long}\n//!\n//! {long}\n");
        let late = format!("use std::fs;\n//! {long}\n//! {long}\n");
        let files = [
            file("crates/good/src/lib.rs", &good),
            file("crates/short/src/lib.rs", "//! short\n"),
            file("crates/split/src/main.rs", &split),
            file("crates/late/src/main.rs", &late),
        ];
        assert_eq!(
            purpose_stated(&[package("good")], &files),
            Vec::<String>::new()
        );
        for bad in ["short", "split", "late"] {
            check_one(
                purpose_stated(&[package(bad)], &files),
                &[bad, "at least 80"],
            );
        }
    }

    #[test]
    fn a_clock_in_the_domain_fails() {
        for code in [
            "let t = SystemTime::now();",
            "jiff::Timestamp::now()",
            "use std::fs;",
            "use std::net::IpAddr;",
            "tokio::spawn",
        ] {
            let bad = file(
                "crates/wh-domain/src/state.rs",
                &format!("// fine\n{code}\n"),
            );
            check_one(domain_words(&[bad]), &["crates/wh-domain/src/state.rs:2"]);
        }
        let comment = file("crates/wh-domain/src/lib.rs", "//! No tokio here.\n");
        let elsewhere = file("crates/wh-app/src/lib.rs", "use tokio::sync;\n");
        assert_eq!(domain_words(&[comment, elsewhere]), Vec::<String>::new());
    }

    #[test]
    fn long_files_are_listed_and_longer_ones_fail() {
        let of = |count: usize| file("crates/a/src/b.rs", &"x\n".repeat(count));
        assert!(too_long(&[of(800)]).is_empty() && long(&[of(500)]).is_empty());
        check_one(too_long(&[of(801)]), &["crates/a/src/b.rs", "801 lines"]);
        check_one(long(&[of(501)]), &["501 lines"]);
        assert!(long(&[of(801)]).is_empty());
        assert!(too_long(&[file("package-lock.json", &"x\n".repeat(5000))]).is_empty());
    }

    #[test]
    fn a_registry_host_fails_in_any_file() {
        for host in REGISTRY_HOSTS {
            let bad = file("docs/install.md", &format!("first\nfrom {host}/simple\n"));
            check_one(registry_hosts(&[bad]), &["docs/install.md:2", host]);
        }
    }

    #[test]
    fn unfinished_code_fails() {
        for word in UNFINISHED {
            let bad = file("crates/a/src/b.rs", &format!("fn f() {{ {word}) }}\n"));
            check_one(unfinished(&[bad]), &["crates/a/src/b.rs:1", word]);
        }
    }

    #[test]
    fn the_text_of_an_error_is_not_compared() {
        for code in [
            "if error.message == other {}",
            "error.message.contains(\"busy\")",
            "let hint = error.hint.map(|hint| hint);",
            "return Err(AppError::invalid(\"no\"));",
            "Err(AppError::new(code, \"no\"))",
        ] {
            let bad = file("crates/a/src/b.rs", &format!("fn f() {{\n{code}\n}}\n"));
            check_one(error_text(&[bad]), &["crates/a/src/b.rs:2", "Reason"]);
            let tests = format!("fn f() {{}}\n\n#[cfg(test)]\nmod tests {{\n{code}\n}}\n");
            let fine = [
                file("crates/a/src/b.rs", &tests),
                file("crates/a/src/b_tests.rs", code),
                file("crates/a/tests/suite/main.rs", code),
            ];
            assert_eq!(error_text(&fine), Vec::<String>::new());
        }
    }

    #[test]
    fn a_forgotten_test_file_fails() {
        let main = file(
            "crates/a/tests/suite/main.rs",
            "mod board;\n// mod key;\npub(crate) mod help;\n",
        );
        let members = ["board", "help", "key"]
            .map(|name| file(&format!("crates/a/tests/suite/{name}.rs"), ""));
        let [board, help, key] = members;
        check_one(
            suite_members(&[main, board, help, key]),
            &["crates/a/tests/suite/key.rs", "`mod key;`"],
        );
        let folder = file("crates/a/tests/suite/zone/mod.rs", "");
        check_one(
            suite_members(&[folder]),
            &["suite/zone/mod.rs", "main.rs does not exist"],
        );
        let shared = [
            file("crates/a/tests/common/mod.rs", ""),
            file("crates/a/tests/common/x.rs", ""),
        ];
        assert_eq!(suite_members(&shared), Vec::<String>::new());
    }
}
