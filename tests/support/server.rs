//! A loopback server that speaks the Messages API: it plays a script, checks each request, and records what came.
//!
//! It runs on threads of its own, so that it works for any runtime, for none, and for a program that a test starts. It
//! stops when it is dropped. A request that is invalid gets a 400 with the API's text, takes no reply from the script,
//! and stands in [`Server::violations`].
#![expect(clippy::unwrap_used)]

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::reply::{End, Reply};
use super::tls::Authority;
use super::validity::{self, Known};

/// The largest request that the API takes, in bytes.
const LARGEST: usize = 32 * 1024 * 1024;
/// How long a test waits for something that must happen.
const PATIENCE: Duration = Duration::from_secs(20);

/// One request as it came.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// `POST /v1/messages`.
    pub line: String,
    /// Headers with their names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body as it came.
    pub raw: String,
    /// The body; null if it is no JSON.
    pub body: Value,
}

impl Recorded {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }
}

#[derive(Debug, Default)]
struct State {
    script: VecDeque<Reply>,
    /// What it says that it offers; empty where it has no list.
    models: Vec<Value>,
    requests: Vec<Recorded>,
    violations: Vec<String>,
    known: Known,
    /// How many connections were made.
    connections: usize,
    /// How many stalled answers the client has hung up on.
    hung_up: usize,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    stop: AtomicBool,
}

/// The running server.
#[derive(Debug)]
pub struct Server {
    scheme: &'static str,
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl Server {
    /// Listens on a free port of the loopback and answers with `script`, one reply a request.
    pub fn start(script: Vec<Reply>) -> Self {
        Self::listen(script, None)
    }

    /// The same over TLS, as the hosts that `authority` speaks for.
    pub fn start_tls(script: Vec<Reply>, authority: &Authority) -> Self {
        Self::listen(script, Some(authority.server()))
    }

    fn listen(script: Vec<Reply>, tls: Option<Arc<rustls::ServerConfig>>) -> Self {
        let scheme = if tls.is_some() { "https" } else { "http" };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared::default());
        shared.lock().script = script.into();
        let acceptor = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if acceptor.stop.load(Ordering::Relaxed) {
                    return;
                }
                acceptor.lock().connections += 1;
                let shared = Arc::clone(&acceptor);
                let tls = tls.clone();
                thread::spawn(move || {
                    let _ = stream.set_nodelay(true);
                    // A client that goes away in the middle is part of some tests.
                    let _ = match tls {
                        None => serve(&stream, &shared),
                        Some(config) => {
                            let connection = rustls::ServerConnection::new(config).unwrap();
                            serve(rustls::StreamOwned::new(connection, &stream), &shared)
                        }
                    };
                    let _ = stream.shutdown(Shutdown::Both);
                });
            }
        });
        Self {
            scheme,
            address,
            shared,
        }
    }

    /// The base URL.
    pub fn url(&self) -> String {
        format!("{}://{}", self.scheme, self.address)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Adds replies to the script.
    pub fn push(&self, replies: Vec<Reply>) {
        self.shared.lock().script.extend(replies);
    }

    /// Offers `models`, in the API's form, at `/v1/models` and one by one below it.
    pub fn offer(&self, models: Vec<Value>) {
        self.shared.lock().models = models;
    }

    /// All requests so far, also the invalid ones.
    pub fn requests(&self) -> Vec<Recorded> {
        self.shared.lock().requests.clone()
    }

    /// What was wrong with requests; a test ends with this empty.
    pub fn violations(&self) -> Vec<String> {
        self.shared.lock().violations.clone()
    }

    /// How many connections were made so far.
    pub fn connections(&self) -> usize {
        self.shared.lock().connections
    }

    /// How many replies of the script were not asked for.
    pub fn left(&self) -> usize {
        self.shared.lock().script.len()
    }

    /// Waits until the client has hung up on `n` stalled answers; false if it does not. Blocks its thread: a test that
    /// shares its process with the client must be `multi_thread`.
    pub fn wait_hung_up(&self, n: usize) -> bool {
        let state = self.shared.lock();
        let wait = self
            .shared
            .changed
            .wait_timeout_while(state, PATIENCE, |state| state.hung_up < n);
        !wait.unwrap().1.timed_out()
    }

    /// Waits until `n` requests have come; false if they do not.
    pub fn wait_requests(&self, n: usize) -> bool {
        let state = self.shared.lock();
        let wait = self
            .shared
            .changed
            .wait_timeout_while(state, PATIENCE, |state| state.requests.len() < n);
        !wait.unwrap().1.timed_out()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        // Wakes the acceptor, so that it sees the flag.
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

/// Answers requests on one connection until it closes.
fn serve<S: Read + Write>(stream: S, shared: &Shared) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    while let Some(request) = read_request(&mut reader)? {
        let reply = choose(request, shared);
        if matches!(reply.end, End::HangUp) {
            return Ok(());
        }
        send(reader.get_mut(), &reply)?;
        match reply.end {
            End::Whole => {}
            End::HangUp | End::Cut(_) => return Ok(()),
            End::Stall(_) => {
                // Ends with the client's hanging up, or with the test.
                let _ = reader.read(&mut [0]);
                shared.lock().hung_up += 1;
                shared.changed.notify_all();
                return Ok(());
            }
        }
    }
    Ok(())
}

fn read_request<S: Read>(reader: &mut BufReader<S>) -> std::io::Result<Option<Recorded>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let line = line.trim_end().trim_end_matches(" HTTP/1.1").to_owned();
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.trim_end().split_once(':') else {
            break;
        };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length
        .and_then(|(_, value)| value.parse().ok())
        .unwrap_or(0);
    let mut raw = vec![0; length];
    reader.read_exact(&mut raw)?;
    let raw = String::from_utf8_lossy(&raw).into_owned();
    let body = serde_json::from_str(&raw).unwrap_or_default();
    Ok(Some(Recorded {
        line,
        headers,
        raw,
        body,
    }))
}

/// The answer to `request`: the script's next, or what is wrong with it.
fn choose(request: Recorded, shared: &Shared) -> Reply {
    let mut state = shared.lock();
    let verdict = check(&request, &state.known);
    let line = request.line.clone();
    state.requests.push(request);
    shared.changed.notify_all();
    if let Some((_, rest)) = line.split_once("/v1/models") {
        return models(&state.models, rest.trim_start_matches('/'));
    }
    if !line.ends_with("/v1/messages") {
        return Reply::error(404, "not_found_error", "Not Found");
    }
    if let Err(what) = verdict {
        state.violations.push(what.clone());
        return Reply::error(400, "invalid_request_error", &what);
    }
    let Some(reply) = state.script.pop_front() else {
        let what = "the script has no reply left";
        state.violations.push(what.to_owned());
        return Reply::error(400, "invalid_request_error", what);
    };
    if reply.is_complete() {
        state.known.replies.push(reply.blocks.clone());
        state.known.paused = reply.paused;
    }
    reply
}

/// The list of models, or the one called `name`.
fn models(models: &[Value], name: &str) -> Reply {
    if name.is_empty() && !models.is_empty() {
        let list = json!({"data": models, "has_more": false});
        return Reply::status(200, &list.to_string());
    }
    match models.iter().find(|model| model["id"] == name) {
        Some(model) => Reply::status(200, &model.to_string()),
        None => Reply::error(404, "not_found_error", "Not Found"),
    }
}

fn check(request: &Recorded, known: &Known) -> Result<(), String> {
    if request.header("content-type") != Some("application/json") {
        return Err("content-type: must be application/json".to_owned());
    }
    if request.header("anthropic-version").is_none() {
        return Err("anthropic-version: header is required".to_owned());
    }
    if request.header("x-api-key").is_some() && request.header("authorization").is_some() {
        return Err("both x-api-key and authorization were sent".to_owned());
    }
    if request.raw.len() > LARGEST {
        return Err("Request exceeds the maximum size".to_owned());
    }
    if !request.body.is_object() {
        return Err("the request body is not valid JSON".to_owned());
    }
    validity::check(&request.body, known)
}

fn send<S: Write>(stream: &mut S, reply: &Reply) -> std::io::Result<()> {
    let mut head = format!("HTTP/1.1 {} Scripted\r\n", reply.status);
    for (name, value) in &reply.headers {
        head = format!("{head}{name}: {value}\r\n");
    }
    head.push_str("transfer-encoding: chunked\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    let sent = match reply.end {
        End::Whole | End::HangUp => reply.body.len(),
        End::Cut(bytes) | End::Stall(bytes) => bytes.min(reply.body.len()),
    };
    for piece in reply.body[..sent].chunks(reply.piece) {
        let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
        chunk.extend_from_slice(piece);
        chunk.extend_from_slice(b"\r\n");
        stream.write_all(&chunk)?;
    }
    if matches!(reply.end, End::Whole) {
        stream.write_all(b"0\r\n\r\n")?;
    }
    stream.flush()
}
