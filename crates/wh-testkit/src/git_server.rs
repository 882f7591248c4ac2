//! A forge in miniature: git's own HTTP server program behind TLS, with private repositories.

use std::{
    fmt::Write as _,
    fs,
    io::{BufRead, BufReader, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Arc, Mutex},
};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, IsCa, KeyPair,
};
use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};

/// What the server was asked.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The path with its query.
    pub path: String,
    pub authorization: Option<String>,
}

/// How a request is answered.
#[derive(Clone, Debug, Default)]
pub struct Behaviour {
    /// The value of `Authorization` without which nothing is served; anybody may read when it is absent.
    pub authorization: Option<String>,
    /// Sends requests on to another address.
    pub redirect: Option<String>,
    /// Rejects every request and echoes it in the answer, to test that secrets are masked.
    pub echoes: bool,
}

/// Returns the value of `Authorization` for HTTP's basic authentication.
pub fn basic(user: &str, password: &str) -> String {
    use base64::prelude::{BASE64_STANDARD, Engine};
    let pair = BASE64_STANDARD.encode(format!("{user}:{password}"));
    format!("Basic {pair}")
}

/// A git server on this machine, over https. It ends with the test's process.
#[derive(Debug)]
pub struct GitServer {
    port: u16,
    root: PathBuf,
    ca_file: PathBuf,
    behaviour: Arc<Mutex<Behaviour>>,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl GitServer {
    /// Serves the repositories below `root`, where the certificate of its authority is put too.
    ///
    /// # Panics
    ///
    /// Panics when it cannot be set up.
    pub fn start(root: &Path, behaviour: Behaviour) -> Self {
        fs::create_dir_all(root).expect("the directory can be made");
        let (tls, ca) = certificates();
        let ca_file = root.join("ca.pem");
        fs::write(&ca_file, ca).expect("the certificate can be written");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let server = Self {
            port: listener.local_addr().expect("it is bound").port(),
            root: root.to_owned(),
            ca_file,
            behaviour: Arc::new(Mutex::new(behaviour)),
            asked: Arc::default(),
        };
        let (behaviour, asked) = (Arc::clone(&server.behaviour), Arc::clone(&server.asked));
        let root = root.to_owned();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (tls, root) = (Arc::clone(&tls), root.clone());
                let (behaviour, asked) = (Arc::clone(&behaviour), Arc::clone(&asked));
                std::thread::spawn(move || {
                    // A client that disconnects early does not fail the test.
                    serve(stream, tls, &root, &behaviour, &asked).ok();
                });
            }
        });
        server
    }

    /// Returns the host with its port.
    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Returns the address of a repository below the root.
    pub fn url(&self, path: &str) -> String {
        format!("https://{}/{path}", self.host())
    }

    /// Returns the certificate of the authority that the server's own is checked against.
    pub fn ca_file(&self) -> &Path {
        &self.ca_file
    }

    /// Returns the directory of a repository, such as `team/app.git`.
    pub fn dir(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Changes how requests are answered from now on.
    ///
    /// # Panics
    ///
    /// Panics when an answer has.
    pub fn behave(&self, behaviour: Behaviour) {
        *self.behaviour.lock().expect("no answer panics") = behaviour;
    }

    /// Returns what was asked so far.
    ///
    /// # Panics
    ///
    /// Panics when an answer has.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("no answer panics").clone()
    }
}

/// Makes an authority and the server's certificate; returns the latter ready for use, and the former as PEM.
fn certificates() -> (Arc<ServerConfig>, String) {
    let made = (|| {
        let mut authority = CertificateParams::new(Vec::new())?;
        authority.distinguished_name = DistinguishedName::new();
        let name = "authority of a test";
        authority.distinguished_name.push(DnType::CommonName, name);
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate()?)?;
        let names = ["127.0.0.1".to_owned(), "localhost".to_owned()];
        let key = KeyPair::generate()?;
        let own = CertificateParams::new(names)?.signed_by(&key, &authority)?;
        Ok::<_, rcgen::Error>((authority.as_ref().pem(), own, key))
    })();
    let (ca, own, key) = made.expect("certificates can be made");
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider has the usual versions")
        .with_no_client_auth()
        .with_single_cert(vec![own.der().clone()], key)
        .expect("the certificate fits its key");
    (Arc::new(config), ca)
}

/// A request as read from the wire.
struct Request {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

fn serve(
    stream: TcpStream,
    tls: Arc<ServerConfig>,
    root: &Path,
    behaviour: &Mutex<Behaviour>,
    asked: &Mutex<Vec<Asked>>,
) -> std::io::Result<()> {
    let connection = ServerConnection::new(tls).map_err(std::io::Error::other)?;
    let mut stream = BufReader::new(StreamOwned::new(connection, stream));
    let request = read(&mut stream)?;
    let authorization = request.header("authorization").map(ToOwned::to_owned);
    if let Ok(mut asked) = asked.lock() {
        asked.push(Asked {
            path: request.path.clone(),
            authorization: authorization.clone(),
        });
    }
    let behaviour = behaviour.lock().map(|it| it.clone()).unwrap_or_default();
    let answer = if behaviour.echoes {
        let body = format!("you sent {}", authorization.unwrap_or_default());
        answer(
            "403 Forbidden",
            "Content-Type: text/plain\r\n",
            body.as_bytes(),
        )
    } else if let Some(to) = behaviour.redirect {
        let location = format!("Location: {to}{}\r\n", request.path);
        answer("302 Found", &location, b"")
    } else if behaviour.authorization.is_some() && authorization != behaviour.authorization {
        let asks = "WWW-Authenticate: Basic realm=\"git\"\r\n";
        answer("401 Unauthorized", asks, b"")
    } else {
        backend(&request, root)?
    };
    let stream = stream.get_mut();
    stream.write_all(&answer)?;
    stream.flush()?;
    stream.conn.send_close_notify();
    stream.flush()
}

/// Reads one request: a line, headers, and as many bytes as they say.
fn read(stream: &mut impl BufRead) -> std::io::Result<Request> {
    let mut line = String::new();
    stream.read_line(&mut line)?;
    let mut words = line.split_whitespace().map(ToOwned::to_owned);
    let (method, path) = (words.next(), words.next());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        match line.trim_end().split_once(": ") {
            Some((name, value)) => headers.push((name.to_ascii_lowercase(), value.to_owned())),
            None => break,
        }
    }
    let mut request = Request {
        method: method.unwrap_or_default(),
        path: path.unwrap_or_default(),
        headers,
        body: Vec::new(),
    };
    let length = request.header("content-length").map(str::parse);
    request.body = vec![0; length.and_then(Result::ok).unwrap_or(0)];
    stream.read_exact(&mut request.body)?;
    Ok(request)
}

fn answer(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n"
    );
    [head.as_bytes(), body].concat()
}

/// Has `git http-backend` answer, as a CGI program.
#[expect(clippy::disallowed_methods, reason = "the test plays the forge")]
fn backend(request: &Request, root: &Path) -> std::io::Result<Vec<u8>> {
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let header = |name: &str| request.header(name).unwrap_or_default().to_owned();
    let mut program = Command::new("git")
        .args(["-c", "safe.directory=*", "http-backend"])
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("REQUEST_METHOD", &request.method)
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("CONTENT_TYPE", header("content-type"))
        .env("CONTENT_LENGTH", request.body.len().to_string())
        .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
        .env("GIT_PROTOCOL", header("git-protocol"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut stdin = program.stdin.take();
    let body = request.body.clone();
    let feed = std::thread::spawn(move || {
        if let Some(stdin) = &mut stdin {
            stdin.write_all(&body).ok();
        }
        drop(stdin);
    });
    let output = program.wait_with_output()?;
    feed.join().ok();
    let end = output.stdout.windows(4).position(|it| it == b"\r\n\r\n");
    let (head, body) = output.stdout.split_at(end.map_or(0, |at| at + 4));
    let (mut status, mut headers) = ("200 OK".to_owned(), String::new());
    for line in String::from_utf8_lossy(head).lines() {
        match line.split_once(": ") {
            Some(("Status", text)) => status = text.to_owned(),
            Some((name, value)) => {
                write!(headers, "{name}: {value}\r\n").map_err(std::io::Error::other)?;
            }
            None => {}
        }
    }
    Ok(answer(&status, &headers, body))
}
