//! A proxy on the loopback that connects every tunnel to one address, and records what was asked of it.
#![expect(clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// The running proxy. It ends with the test's process.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    /// Answers each request for a tunnel with `status` (`200 OK`), and after a 200 connects it to `target`.
    pub fn start(status: &'static str, target: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let record = Arc::clone(&heads);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let record = Arc::clone(&record);
                thread::spawn(move || {
                    // Either end may go away at any time.
                    let _ = tunnel(&client, status, target, &record);
                });
            }
        });
        Self { address, heads }
    }

    /// What a variable names it with, `login` before its host: empty or `name:word@`.
    pub fn url(&self, login: &str) -> String {
        format!("http://{login}{}", self.address)
    }

    /// The heads of all requests so far.
    pub fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

fn tunnel(
    mut client: &TcpStream,
    status: &str,
    target: SocketAddr,
    record: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut head = String::new();
    let mut reader = BufReader::with_capacity(1, client);
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head)? == 0 {
            return Ok(());
        }
    }
    record.lock().unwrap().push(head);
    write!(client, "HTTP/1.1 {status}\r\n\r\n")?;
    if !status.starts_with("200") {
        return client.shutdown(Shutdown::Both);
    }
    let server = TcpStream::connect(target)?;
    let (mut from, mut to) = (client.try_clone()?, server.try_clone()?);
    thread::spawn(move || {
        let _ = std::io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Both);
    });
    std::io::copy(&mut &server, &mut client)?;
    client.shutdown(Shutdown::Both)
}
