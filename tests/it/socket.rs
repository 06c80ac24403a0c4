//! Nothing leaves the machine but the requests to the endpoint: the only socket that a run opens is the endpoint's.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};

use hermes_actors::{Agent, Runtime};
use hermes_llm::{Endpoint, OpenAiModel};
use serde_json::json;

use crate::child;

const ENDPOINT: &str = "HERMES_TEST_ENDPOINT";

/// What the child does: one task, asking the endpoint that it is told.
#[tokio::test]
async fn child() {
    let Ok(url) = std::env::var(ENDPOINT) else { return };
    let model = OpenAiModel::new(Endpoint::new(url, "m").unwrap()).unwrap();
    let agent = Agent::builder("assistant").model(model).runtime(&Runtime::for_tests()).build().unwrap();
    assert_eq!(agent.run("天气？").await.unwrap().answer.as_deref(), Some("晴"));
}

#[test]
fn the_only_socket_that_a_run_opens_is_the_endpoints() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let server = listener.local_addr().unwrap();
    let mut child = child::running("socket::child", ENDPOINT, format!("http://{server}")).spawn().unwrap();
    let (stream, client) = listener.accept().unwrap();
    let mut request = BufReader::new(stream);
    read_request(&mut request);
    assert_eq!(sockets(child.id()), [("tcp", client, server)]);
    answer(request.get_mut(), "晴");
    assert!(child.wait().unwrap().success());
}

fn read_request(request: &mut BufReader<TcpStream>) {
    let mut length = 0;
    loop {
        let mut line = String::new();
        request.read_line(&mut line).unwrap();
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            return request.read_exact(&mut vec![0; length]).unwrap();
        }
    }
}

fn answer(stream: &mut TcpStream, text: &str) {
    let body = json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}).to_string();
    write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
        .unwrap();
}

/// The network sockets that a process has open: protocol, its own address, the other's.
fn sockets(process: u32) -> Vec<(&'static str, SocketAddr, SocketAddr)> {
    let open = std::fs::read_dir(format!("/proc/{process}/fd")).unwrap();
    let open = open.filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok());
    let open: HashSet<String> = open.filter_map(|link| inode(link.to_str()?)).collect();
    let mut found = Vec::new();
    for protocol in ["tcp", "tcp6", "udp", "udp6"] {
        // Without IPv6 there is no such file.
        let table = std::fs::read_to_string(format!("/proc/{process}/net/{protocol}")).unwrap_or_default();
        for line in table.lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            if open.contains(fields[9]) {
                found.push((protocol, address(fields[1]), address(fields[2])));
            }
        }
    }
    found
}

/// `socket:[4711]` → `4711`.
fn inode(link: &str) -> Option<String> {
    Some(link.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())
}

/// `0100007F:1F90` → `127.0.0.1:8080`. Words are written as the machine keeps them.
fn address(text: &str) -> SocketAddr {
    let (host, port) = text.split_once(':').unwrap();
    let words = host
        .as_bytes()
        .chunks(8)
        .map(|word| u32::from_str_radix(std::str::from_utf8(word).unwrap(), 16).unwrap());
    let bytes: Vec<u8> = words.flat_map(u32::to_ne_bytes).collect();
    let port = u16::from_str_radix(port, 16).unwrap();
    match <[u8; 4]>::try_from(&bytes[..]) {
        Ok(four) => (four, port).into(),
        Err(_) => (<[u8; 16]>::try_from(&bytes[..]).unwrap(), port).into(),
    }
}

#[test]
fn addresses_are_read_as_the_kernel_writes_them() {
    let little = cfg!(target_endian = "little");
    assert_eq!(
        address(if little { "0100007F:1F90" } else { "7F000001:1F90" }),
        "127.0.0.1:8080".parse().unwrap()
    );
}
