//! The scripted ACP agent as a program, for tests that run a real one; see `wh_testkit::scripted`.

fn main() {
    wh_testkit::scripted::main();
}
