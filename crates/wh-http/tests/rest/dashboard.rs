//! The dashboard's files: in the form that the client takes, and kept by it for as long as they are right.

use bytes::Bytes;
use wh_http::{DashboardFile, Mounts};

use crate::{client::Answer, harness::TestServer};

/// A dashboard of three files, one of them not compressed.
fn files(path: &str) -> Option<DashboardFile> {
    let data: &'static [u8] = match path {
        "index.html" => b"<!doctype html>Wheelhouse",
        "index.html.br" => b"the document by brotli",
        "index.html.gz" => b"the document by gzip",
        "assets/main-1a2b.js" => b"console.log('here, here, here and here')",
        "assets/main-1a2b.js.br" => b"the script by brotli",
        "assets/main-1a2b.js.gz" => b"the script by gzip",
        "assets/text-3c4d.woff2" => b"a font",
        _ => return None,
    };
    let mut hash = [0; 32];
    hash[0] = u8::try_from(data.len()).expect("they are short");
    Some(DashboardFile {
        data: Bytes::from_static(data),
        hash,
    })
}

async fn server() -> TestServer {
    TestServer::start_with(|config| config.dashboard = files, Mounts::default()).await
}

async fn get(server: &TestServer, path: &str, headers: &[(&str, &str)]) -> Answer {
    let call = server.get(path);
    let call = headers
        .iter()
        .fold(call, |call, (name, value)| call.header(name, value));
    call.send().await
}

#[tokio::test]
async fn files_come_in_the_form_that_is_taken() {
    let server = server().await;
    let script = "/assets/main-1a2b.js";
    for (accepted, encoding, body) in [
        ("gzip, deflate, br, zstd", "br", "the script by brotli"),
        ("gzip", "gzip", "the script by gzip"),
        ("br;q=0, *", "gzip", "the script by gzip"),
        ("identity", "", "console.log('here, here, here and here')"),
    ] {
        let answer = get(&server, script, &[("accept-encoding", accepted)]).await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.text(), body, "{accepted}");
        assert_eq!(answer.header("content-encoding"), encoding, "{accepted}");
        assert_eq!(answer.header("content-length"), body.len().to_string());
        assert_eq!(answer.header("vary"), "accept-encoding");
        assert!(answer.header("content-type").starts_with("text/javascript"));
        let kept = answer.header("cache-control");
        assert_eq!(kept, "public, max-age=31536000, immutable");
    }
    let font = "/assets/text-3c4d.woff2";
    let answer = get(&server, font, &[("accept-encoding", "br")]).await;
    assert_eq!(answer.text(), "a font");
    assert_eq!(answer.header("content-encoding"), "");
    // The compressed ones are forms of a file and no files of their own.
    for missing in ["/assets/main-1a2b.js.br", "/assets/other.js"] {
        get(&server, missing, &[]).await.refused(404, "NOT_FOUND");
    }
}

#[tokio::test]
async fn the_document_is_asked_for_again_and_sent_when_it_changed() {
    let server = server().await;
    let first = get(&server, "/inbox", &[("accept-encoding", "br")]).await;
    assert_eq!(first.text(), "the document by brotli");
    assert_eq!(first.header("cache-control"), "no-cache");
    let tag = first.header("etag").to_owned();
    let weak = format!("\"other\", W/{tag}");
    for known in [tag.as_str(), &weak, "*"] {
        let headers = [("accept-encoding", "br"), ("if-none-match", known)];
        let again = get(&server, "/inbox", &headers).await;
        assert_eq!(again.status, 304, "{known}");
        assert!(again.bytes.is_empty());
        assert_eq!(again.header("etag"), tag);
        assert_eq!(again.header("vary"), "accept-encoding");
    }
    // Other bytes have another tag.
    let headers = [("accept-encoding", "gzip"), ("if-none-match", tag.as_str())];
    let other = get(&server, "/inbox", &headers).await;
    assert_eq!(other.status, 200);
    assert_eq!(other.text(), "the document by gzip");
    assert_ne!(other.header("etag"), tag);
}
