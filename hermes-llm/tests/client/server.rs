//! A tiny HTTP server on a free port: it answers one request a connection from a list, and keeps what it received.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hermes_llm::{Endpoint, OpenAiModel};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

/// What the server does with one connection.
pub enum Answer {
    /// Sends a response with these extra headers.
    Http { status: u16, headers: &'static str, body: Vec<u8> },
    /// Sends exactly this and closes.
    Raw(&'static [u8]),
    /// Closes without a word.
    Drop,
    /// Sends exactly this, keeps the connection open and says nothing more.
    Silence(&'static [u8]),
    /// Sends a stream of events in these packets with a pause between any two, and then does what the end says.
    Stream { packets: Vec<Vec<u8>>, pause: Duration, end: End },
    /// Answers these bodies to as many requests over one connection.
    KeepAlive(Vec<String>),
    /// Says nothing until the client hangs up, and tells so.
    AwaitHangUp(oneshot::Sender<()>),
}

/// How a stream ends.
#[derive(Clone, Copy, PartialEq)]
pub enum End {
    /// With the last, empty chunk.
    Whole,
    /// By closing the connection before that.
    Broken,
    /// Not at all: the connection stays open.
    Open,
}

impl Answer {
    pub fn status(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Answer::Http { status, headers: "", body: body.into() }
    }

    pub fn ok(body: impl Into<Vec<u8>>) -> Self {
        Self::status(200, body)
    }

    pub fn text(text: &str) -> Self {
        Self::ok(
            serde_json::json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]})
                .to_string(),
        )
    }
}

/// One request as it came.
#[derive(Clone)]
pub struct Received {
    pub head: String,
    pub body: String,
}

impl Received {
    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(':'));
        lines.into_iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }
}

pub struct Server {
    pub url: String,
    received: watch::Receiver<Vec<Received>>,
    connections: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Server {
    pub async fn start(answers: impl IntoIterator<Item = Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (record, received) = watch::channel(Vec::new());
        let connections = Arc::new(AtomicUsize::new(0));
        let serving = serve(listener, answers.into_iter().collect(), record, connections.clone());
        Server { url, received, connections, task: tokio::spawn(serving) }
    }

    /// An endpoint at this server that waits next to nothing between attempts.
    pub fn endpoint(&self) -> Endpoint {
        Endpoint::new(&self.url, "qwen").unwrap().backoff(Duration::from_millis(1))
    }

    pub fn model(&self) -> OpenAiModel {
        OpenAiModel::new(self.endpoint()).unwrap()
    }

    pub fn received(&self) -> Vec<Received> {
        self.received.borrow().clone()
    }

    /// How many connections there were.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// Waits until this many requests have come.
    pub async fn until_received(&self, count: usize) {
        self.received.clone().wait_for(|received| received.len() >= count).await.unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(
    listener: TcpListener,
    answers: Vec<Answer>,
    record: watch::Sender<Vec<Received>>,
    connections: Arc<AtomicUsize>,
) {
    let mut silent = Vec::new();
    let mut answers = answers.into_iter();
    loop {
        let (mut stream, _) = listener.accept().await.unwrap();
        connections.fetch_add(1, Ordering::Relaxed);
        let Some(request) = read_request(&mut stream).await else { continue };
        record.send_modify(|received| received.push(request));
        match answers.next().unwrap_or(Answer::Drop) {
            Answer::Http { status, headers, body } => send(&mut stream, status, headers, &body).await,
            // The client may hang up first: what it saw is what the test looks at.
            Answer::Raw(bytes) => drop(stream.write_all(bytes).await),
            Answer::Drop => {}
            Answer::AwaitHangUp(seen) => {
                let _ = stream.read(&mut [0]).await;
                let _ = seen.send(());
            }
            Answer::KeepAlive(bodies) => {
                for (index, body) in bodies.iter().enumerate() {
                    if index > 0 {
                        let Some(request) = read_request(&mut stream).await else { break };
                        record.send_modify(|received| received.push(request));
                    }
                    let packets = [body.clone().into_bytes()];
                    let _ = stream_events(&mut stream, &packets, Duration::ZERO, End::Whole).await;
                }
            }
            Answer::Stream { packets, pause, end } => {
                if stream_events(&mut stream, &packets, pause, end).await.is_ok() && end == End::Open {
                    silent.push(stream);
                }
            }
            Answer::Silence(begun) => {
                let _ = stream.write_all(begun).await;
                silent.push(stream);
            }
        }
    }
}

async fn send(stream: &mut TcpStream, status: u16, headers: &str, body: &[u8]) {
    let head = format!(
        "HTTP/1.1 {status} Status\r\ncontent-length: {}\r\nconnection: close\r\n{headers}\r\n",
        body.len()
    );
    let _ = stream.write_all(head.as_bytes()).await;
    let _ = stream.write_all(body).await;
    let _ = stream.shutdown().await;
}

async fn stream_events(
    stream: &mut TcpStream,
    packets: &[Vec<u8>],
    pause: Duration,
    end: End,
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).await?;
    for packet in packets {
        tokio::time::sleep(pause).await;
        let framed = [format!("{:x}\r\n", packet.len()).as_bytes(), packet, b"\r\n"].concat();
        stream.write_all(&framed).await?;
    }
    match end {
        End::Whole => stream.write_all(b"0\r\n\r\n").await,
        End::Broken | End::Open => Ok(()),
    }
}

/// Reads one request; `None` when what comes is no HTTP.
async fn read_request(stream: &mut TcpStream) -> Option<Received> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8(bytes[..end].to_vec()).ok()?;
            let request = Received { head, body: String::new() };
            let length: usize = request.header("content-length")?.parse().ok()?;
            let mut body = bytes.split_off(end + 4);
            let begun = body.len();
            body.resize(length, 0);
            stream.read_exact(&mut body[begun..]).await.ok()?;
            return Some(Received { body: String::from_utf8(body).ok()?, ..request });
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 || bytes.first().is_some_and(|byte| *byte != b'P') {
            return None;
        }
    }
}
