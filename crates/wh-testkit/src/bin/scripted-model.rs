//! The scripted model as a program, to try an agent by hand: `scripted-model SCRIPT.json [PORT]`; see `wh_testkit::model`.

use std::{io::Write, net::SocketAddr};

use anyhow::{Context, bail};
use wh_testkit::model::{ModelServer, Script};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (script, port) = match arguments.as_slice() {
        [script] => (script, 0),
        [script, port] => (script, port.parse().context("the port is a number")?),
        _ => bail!("usage: scripted-model SCRIPT.json [PORT]"),
    };
    let text = std::fs::read_to_string(script).with_context(|| format!("reading {script}"))?;
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let server = ModelServer::start_on(address, Script::from_json(&text)?).await?;
    let mut out = std::io::stdout();
    writeln!(out, "listening on {}", server.url())?;
    tokio::signal::ctrl_c().await?;
    for request in server.requests() {
        let (method, path) = (&request.method, &request.path);
        let status = request.status.as_u16();
        writeln!(out, "{method} {path} {status} {}", request.answer)?;
    }
    Ok(())
}
