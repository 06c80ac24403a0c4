//! A scripted OpenAI-compatible server to run `bench_agent` against: `bench_server [PORT]` (8080 unless told).
//!
//! At `/{N}/{K}/{tool}/{lat}/v1/chat/completions` it answers after `lat` ms: with K calls of `tool` while the context has
//! fewer than N-1 assistant messages, then with the text `FINAL {N}`.

use anyhow::{Context, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

#[tokio::main]
async fn main() -> Result<()> {
    let port: u16 = std::env::args().nth(1).map_or(Ok(8080), |port| port.parse())?;
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    eprintln!("listening on http://{}", listener.local_addr()?);
    loop {
        let (client, _) = listener.accept().await?;
        client.set_nodelay(true)?;
        tokio::spawn(async move {
            if let Err(error) = serve(client).await {
                eprintln!("{error:#}");
            }
        });
    }
}

/// Answers one request after another until the client hangs up.
async fn serve(mut client: TcpStream) -> Result<()> {
    let mut buffer = Vec::with_capacity(64 * 1024);
    while let Some(request) = read(&mut client, &mut buffer).await? {
        let head = String::from_utf8_lossy(&buffer[..request.head]).into_owned();
        let body = &buffer[request.head..request.head + request.body];
        let (answer, wait) = answer(&head, body)?;
        buffer.drain(..request.head + request.body);
        if wait > 0 {
            tokio::time::sleep(std::time::Duration::from_millis(wait)).await;
        }
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ";
        client.write_all(format!("{head}{}\r\n\r\n{answer}", answer.len()).as_bytes()).await?;
    }
    Ok(())
}

/// How long head and body of the request at the start of the buffer are.
struct Request {
    head: usize,
    body: usize,
}

async fn read(client: &mut TcpStream, buffer: &mut Vec<u8>) -> Result<Option<Request>> {
    loop {
        if let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&buffer[..end]).to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
            let body = length.map_or(Ok(0), |length| length.trim().parse())?;
            while buffer.len() < end + 4 + body {
                if client.read_buf(buffer).await? == 0 {
                    return Ok(None);
                }
            }
            return Ok(Some(Request { head: end + 4, body }));
        }
        if client.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
}

/// The reply to a request, and how long to wait before it.
fn answer(head: &str, body: &[u8]) -> Result<(String, u64)> {
    let path = head.split_whitespace().nth(1).context("no path")?;
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    let [turns, k, tool, wait, ..] = parts[..] else {
        anyhow::bail!("the path is /N/K/tool/lat/v1/…, not {path}")
    };
    let (turns, k): (usize, usize) = (turns.parse()?, k.parse()?);
    let said = body.windows(18).filter(|window| window == b"\"role\":\"assistant\"").count();
    let message = if said + 1 < turns {
        let call = |i| {
            format!(
                r#"{{"id":"call_{said}_{i}","type":"function","function":{{"name":"{tool}","arguments":"{{\"a\":{i},\"b\":2}}"}}}}"#
            )
        };
        let calls: Vec<String> = (0..k).map(call).collect();
        format!(
            r#"{{"role":"assistant","content":null,"tool_calls":[{}]}},"finish_reason":"tool_calls""#,
            calls.join(",")
        )
    } else {
        format!(r#"{{"role":"assistant","content":"FINAL {turns}"}},"finish_reason":"stop""#)
    };
    let usage = r#""usage":{"prompt_tokens":100,"completion_tokens":10,"total_tokens":110}"#;
    let reply = format!(
        r#"{{"id":"x","object":"chat.completion","model":"m","choices":[{{"index":0,"message":{message}}}],{usage}}}"#
    );
    Ok((reply, wait.parse()?))
}
