//! One member changes; every other byte stays.

use serde_json::json;

use super::*;

const PATH: [&str; 2] = ["mcpServers", "wheelhouse"];

/// Sets an entry, and checks that it is there, that nothing else is lost and that a repeat changes nothing.
fn check(text: &str) -> String {
    let entry = json!({ "command": "wh", "args": ["mcp"] });
    let once = set(text, PATH, &entry).unwrap();
    assert_eq!(get(&once, PATH).unwrap(), Some(entry.clone()), "{once}");
    assert_eq!(set(&once, PATH, &entry).unwrap(), once, "idempotent");
    once
}

#[test]
fn an_empty_file_becomes_one_with_the_entry() {
    insta::assert_snapshot!(check(""), @r#"
    {
      "mcpServers": {
        "wheelhouse": {
          "command": "wh",
          "args": [
            "mcp"
          ]
        }
      }
    }
    "#);
    assert!(check("{}\n").ends_with("}\n"));
    assert!(check("{ }").contains("\n  \"mcpServers\": {"));
}

#[test]
fn the_section_is_added_in_the_style_of_the_file() {
    let text = "{\n\t\"a\": 1,\n\t\"b\": [1, 2 ,3]\n}\n";
    let once = check(text);
    assert!(once.starts_with(
        "{\n\t\"a\": 1,\n\t\"b\": [1, 2 ,3],\n\t\"mcpServers\": {\n\t\t\"wheelhouse\""
    ));
    assert!(once.ends_with("\n\t}\n}\n"), "{once}");
    assert_eq!(
        check("{\"a\":1}"),
        r#"{"a":1, "mcpServers": {"wheelhouse":{"command":"wh","args":["mcp"]}}}"#
    );
}

#[test]
fn comments_and_trailing_commas_stay() {
    let text = r#"{
  // mine
  "mcpServers": {
    "other": { "url": "http://x/*y*/" }, /* last */
  },
}
"#;
    let once = check(text);
    assert!(
        once.contains("// mine") && once.contains("/* last */"),
        "{once}"
    );
    let without: String = once.replace(
        &once[once.find("\n    \"wheelhouse\"").unwrap()..once.find(" /* last").unwrap()],
        "",
    );
    assert_eq!(without, text);
}

#[test]
fn an_old_entry_is_replaced_in_place() {
    let text = "{\r\n  \"mcpServers\": {\r\n    \"wheelhouse\": {\"url\": \"x\"},\r\n    \"z\": {}\r\n  }\r\n}";
    let once = check(text);
    assert!(
        once.ends_with("},\r\n    \"z\": {}\r\n  }\r\n}"),
        "{once:?}"
    );
    assert_eq!(once.matches('\n').count(), once.matches("\r\n").count());
}

#[test]
fn names_are_compared_as_they_read() {
    let once = check(r#"{"mcp\u0053ervers": {"x": "}\"{"}}"#);
    assert_eq!(once.matches("ervers").count(), 1, "{once}");
}

#[test]
fn what_is_not_json_is_refused_with_its_line() {
    for text in [
        "[]",
        "{",
        "{\n\"a\" 1}",
        "{} x",
        "{\"mcpServers\": 3}",
        "{\"mcpServers\": [}",
        "/* open",
        "{\"a\": \"open\n\"}",
    ] {
        assert!(set(text, PATH, &json!({})).is_err(), "{text}");
    }
    assert!(
        set("{\n\n\"a\" 1}", PATH, &json!({}))
            .unwrap_err()
            .contains("line 3")
    );
    let deep = format!("{{\"a\": {}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(set(&deep, PATH, &json!({})).is_err());
}
