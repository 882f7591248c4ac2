//! The load generator `wrk`, from Debian: installing it, telling it what to send, and reading what it prints.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::measured::Measured;
use super::process;
use crate::run::{self, Echo};
use crate::tools::{self, DebianTool};
use crate::workspace::Workspace;

const WRK: DebianTool = DebianTool {
    probe: &["sh", "-c", "command -v wrk"],
    packages: &["wrk"],
};

/// How much longer than the load itself wrk may take.
const SLACK: Duration = Duration::from_secs(30);

/// What to ask of a server, and how hard.
#[derive(Debug)]
pub(super) struct Load<'a> {
    /// Stands in the table, and in the name of the script's file.
    pub(super) name: &'a str,
    pub(super) url: &'a str,
    pub(super) connections: u32,
    pub(super) seconds: u64,
    pub(super) headers: &'a [(&'a str, &'a str)],
    pub(super) method: &'a str,
    /// Sent as it is.
    pub(super) body: &'a str,
}

/// How long after the load a server may still work for it: what it buffers is written within this time.
const SETTLE: Duration = Duration::from_millis(300);

/// Puts the load on the process `pid` and returns what wrk measured and what processor time it took.
pub(super) fn measure_process(
    workspace: &Workspace,
    load: &Load<'_>,
    pid: u32,
) -> Result<Measured> {
    let before = process::cpu(pid)?;
    let mut measured = measure(workspace, load)?;
    std::thread::sleep(SETTLE);
    let used = process::cpu(pid)?.saturating_sub(before);
    let requests = measured.requests_per_second * load.seconds as f64;
    measured.cpu = Some(used.div_f64(requests.max(1.0)));
    Ok(measured)
}

/// Puts the load on and returns what wrk measured.
fn measure(workspace: &Workspace, load: &Load<'_>) -> Result<Measured> {
    tools::debian(WRK)?;
    let script = write_script(workspace, load)?;
    let mut wrk = run::command("wrk");
    wrk.args(["-t1", "--latency"])
        .arg(format!("-c{}", load.connections))
        .arg(format!("-d{}s", load.seconds))
        .arg("-s")
        .arg(script)
        .arg(load.url);
    let limit = Duration::from_secs(load.seconds) + SLACK;
    let ended = run::within(limit, Echo::Hide, &mut wrk)?;
    if !ended.success() {
        bail!("wrk ended with {}:\n{}", ended.status, ended.text().trim());
    }
    parse(&ended.stdout).with_context(|| format!("reading what wrk printed:\n{}", ended.stdout))
}

fn write_script(workspace: &Workspace, load: &Load<'_>) -> Result<PathBuf> {
    let dir = tools::tools_dir(workspace).join("bench");
    fs::create_dir_all(&dir).with_context(|| format!("creating {}", dir.display()))?;
    let path = dir.join(format!("{}.lua", load.name.replace(['/', ' '], "-")));
    fs::write(&path, script(load)).with_context(|| format!("writing {}", path.display()))?;
    Ok(path)
}

fn script(load: &Load<'_>) -> String {
    let mut script = format!(
        "wrk.method = {}\nwrk.body = {}\n",
        lua_string(load.method),
        lua_string(load.body)
    );
    // The spaces keep the index's bracket apart from the string's.
    for (name, value) in load.headers {
        script += &format!(
            "wrk.headers[ {} ] = {}\n",
            lua_string(name),
            lua_string(value)
        );
    }
    script
}

/// A string between brackets that do not occur in it, so that nothing needs an escape.
fn lua_string(text: &str) -> String {
    let mut level = String::new();
    while text.contains(&format!("]{level}]")) || text.ends_with(&format!("]{level}")) {
        level.push('=');
    }
    format!("[{level}[{text}]{level}]")
}

fn parse(output: &str) -> Option<Measured> {
    let after = |prefix: &str| {
        output
            .lines()
            .find_map(|line| line.trim().strip_prefix(prefix))
            .map(str::trim)
    };
    let refused: u64 = match after("Non-2xx or 3xx responses:") {
        Some(count) => count.parse().ok()?,
        None => 0,
    };
    let broken: u64 = match after("Socket errors:") {
        // `connect 0, read 3, write 0, timeout 1`
        Some(list) => list
            .split(',')
            .map(|part| part.trim().rsplit_once(' ')?.1.parse::<u64>().ok())
            .sum::<Option<u64>>()?,
        None => 0,
    };
    Some(Measured {
        requests_per_second: after("Requests/sec:")?.parse().ok()?,
        p50: duration(after("50%")?)?,
        p99: duration(after("99%")?)?,
        cpu: None,
        errors: refused + broken,
    })
}

/// Reads `914.00us`, `5.30ms`, `1.20s` or `1.10m`.
fn duration(text: &str) -> Option<Duration> {
    let number = text.trim_end_matches(char::is_alphabetic);
    let seconds = match &text[number.len()..] {
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(number.parse::<f64>().ok()? * seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    // What wrk 4.1.0 printed for a page that does not exist; the line on sockets is from a server that hung up.
    const OUTPUT: &str = "\
Running 1s test @ http://127.0.0.1:39555/nope
  1 threads and 8 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     7.07ms    5.19ms  25.19ms   76.34%
    Req/Sec     0.88k   307.94     1.53k    70.00%
  Latency Distribution
     50%  914.00us
     75%    9.86ms
     90%   14.55ms
     99%   23.59ms
  879 requests in 1.00s, 446.37KB read
  Socket errors: connect 0, read 3, write 0, timeout 1
  Non-2xx or 3xx responses: 879
Requests/sec:    876.57
Transfer/sec:    445.14KB
";

    #[test]
    fn the_output_is_read() {
        let measured = parse(OUTPUT).unwrap();
        assert_eq!(measured.requests_per_second, 876.57);
        assert_eq!(measured.p50, Duration::from_micros(914));
        assert_eq!(measured.p99, Duration::from_micros(23590));
        assert_eq!(measured.errors, 883);
        let clean: Vec<_> = OUTPUT
            .lines()
            .filter(|line| !line.contains("rrors") && !line.contains("Non-2xx"))
            .collect();
        assert_eq!(parse(&clean.join("\n")).unwrap().errors, 0);
    }

    #[test]
    fn other_output_is_not_a_measurement() {
        assert_eq!(
            parse("unable to connect to 127.0.0.1:1 Connection refused\n"),
            None
        );
        assert_eq!(parse(&OUTPUT.replace("876.57", "many")), None);
        assert_eq!(parse(&OUTPUT.replace("914.00us", "914.00ns")), None);
    }

    #[test]
    fn bodies_need_no_escapes() {
        assert_eq!(lua_string(r#"{"a": "b\n"}"#), r#"[[{"a": "b\n"}]]"#);
        assert_eq!(lua_string("[[1]]"), "[=[[[1]]]=]");
        assert_eq!(lua_string("[1]"), "[=[[1]]=]");
    }

    #[test]
    fn the_script_sets_body_and_headers() {
        let load = Load {
            name: "echo",
            url: "http://127.0.0.1:1/",
            connections: 1,
            seconds: 1,
            headers: &[("Accept", "application/json")],
            method: "POST",
            body: "{}",
        };
        assert_eq!(
            script(&load),
            "wrk.method = [[POST]]\nwrk.body = [[{}]]\nwrk.headers[ [[Accept]] ] = [[application/json]]\n"
        );
    }
}
