//! The demo runs by itself, to its end, and leaves nothing.

use std::fs;

use crate::harness::{Home, Said};
use crate::run::lines;

fn demo(home: &Home, arguments: &[&str]) -> Said {
    let scratch = home.path().join("tmp");
    fs::create_dir_all(&scratch).unwrap();
    let said = home.run_with(arguments, |command| {
        command.env("TMPDIR", &scratch);
    });
    let left: Vec<_> = fs::read_dir(&scratch).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    said
}

#[test]
fn the_story_is_told_to_its_end() {
    let home = Home::new();
    let said = demo(&home, &["demo"]);
    assert_eq!(said.code, 0, "{said:?}");
    for words in [
        "A repository",
        "A session",
        "1 2 3 4 5",
        "An approval",
        "-Hello\n+Hello, everybody!",
        "greeting.txt now says: Hello, everybody!",
        "Everything of this demo is removed",
    ] {
        assert!(said.stdout.contains(words), "{words}: {said:?}");
    }
    // Neither data nor configuration of the person who looks at it.
    let kept: Vec<_> = fs::read_dir(home.path()).unwrap().collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
}

#[test]
fn programs_can_read_it() {
    let home = Home::new();
    let said = demo(&home, &["demo", "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    let lines = lines(&said.stdout);
    let steps = lines.iter().filter(|line| line["type"] == "step").count();
    assert_eq!(steps, 6, "{said:?}");
    assert_eq!(lines.last().unwrap()["merge"]["into"], "main");
}
