//! A model server on a free port of this machine: a thread that answers each request as it is told.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use serde_json::{Value, json};

/// What the server does with a request.
#[derive(Clone)]
pub enum Answer {
    Http(u16, String),
    /// Keeps the connection open and says nothing.
    Silence,
    /// A text in pieces, as server-sent events; what comes after the first waits until [`Server::go_on`].
    Stream(Vec<String>),
}

impl Answer {
    pub fn text(text: &str) -> Self {
        Self::choice(json!({"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}))
    }

    pub fn call(tool: &str) -> Self {
        let call = json!({"id": "c", "type": "function", "function": {"name": tool, "arguments": "{}"}});
        let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
        Self::choice(json!({"message": message, "finish_reason": "tool_calls"}))
    }

    pub fn stream(pieces: &[&str]) -> Self {
        Self::Stream(pieces.iter().map(|piece| (*piece).to_owned()).collect())
    }

    pub fn filtered() -> Self {
        Self::choice(
            json!({"message": {"role": "assistant", "content": ""}, "finish_reason": "content_filter"}),
        )
    }

    pub fn status(status: u16) -> Self {
        Self::Http(status, json!({"error": {"message": "the server's own words"}}).to_string())
    }

    fn choice(choice: Value) -> Self {
        Self::Http(200, json!({"choices": [choice]}).to_string())
    }
}

pub struct Server {
    pub url: String,
    requests: Receiver<String>,
    go: Sender<()>,
}

impl Server {
    /// Answers every request alike.
    pub fn start(answer: Answer) -> Self {
        Self::answering(std::iter::repeat(answer))
    }

    /// Gives each request its answer, in turn.
    pub fn answering(answers: impl IntoIterator<Item = Answer, IntoIter: Send + 'static>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let (seen, requests) = channel();
        let (go, going) = channel();
        let answers = answers.into_iter();
        std::thread::spawn(move || serve(&listener, answers, &seen, &going));
        Self { url, requests, go }
    }

    /// Lets a stream go on with its next piece.
    pub fn go_on(&self) {
        self.go.send(()).unwrap();
    }

    /// The body of the next request.
    pub fn body(&self) -> Value {
        let request = self.request();
        serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    /// Waits for the next request: its head and body.
    pub fn request(&self) -> String {
        self.requests.recv_timeout(Duration::from_secs(60)).expect("no request came")
    }

    /// An address where nobody listens.
    pub fn nowhere() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    }
}

fn serve(
    listener: &TcpListener,
    mut answers: impl Iterator<Item = Answer>,
    seen: &Sender<String>,
    going: &Receiver<()>,
) {
    let mut silent = Vec::new();
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        let Some(request) = read(&stream) else { continue };
        let answer = answers.next();
        // The test may have ended.
        let _ = seen.send(request);
        match answer {
            Some(Answer::Http(status, body)) => write(&mut stream, status, &body),
            Some(Answer::Stream(pieces)) => write_stream(&mut stream, &pieces, going),
            Some(Answer::Silence) | None => silent.push(stream),
        }
    }
}

fn write_stream(stream: &mut TcpStream, pieces: &[String], going: &Receiver<()>) {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let _ = stream.write_all(head.as_bytes());
    for (at, piece) in pieces.iter().enumerate() {
        if at > 0 {
            let _ = going.recv();
        }
        let chunk = json!({"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": null}]});
        let _ = stream.write_all(format!("data: {chunk}\n\n").as_bytes()).and_then(|()| stream.flush());
    }
    let last = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    let _ = stream.write_all(format!("data: {last}\n\ndata: [DONE]\n\n").as_bytes());
}

fn read(stream: &TcpStream) -> Option<String> {
    let mut reader = BufReader::new(stream);
    let (mut request, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        let end = line == "\r\n";
        request += &line;
        if end {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(request + &String::from_utf8(body).ok()?)
}

fn write(stream: &mut TcpStream, status: u16, body: &str) {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status} Status\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
    );
    // The client may hang up first: what it does then is what the test looks at.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
}
