//! Has the crate built again when the dashboard was: its files are part of a release build. A debug build reads them from disk.

fn main() {
    let is_release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let watched = if is_release {
        "../../web/dist"
    } else {
        "build.rs"
    };
    println!("cargo::rerun-if-changed={watched}");
}
