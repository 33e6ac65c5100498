//! A socket between the sink and PostgreSQL, which cuts connections.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinHandle;

use crate::cluster::Database;

/// Which side of a commit a connection is cut on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// PostgreSQL never gets the statement.
    Before,
    /// It carries it out, and its answer is lost.
    After,
}

/// A running proxy, which ends with the test.
pub(crate) struct Proxy {
    dir: TempDir,
    to: PathBuf,
    name: String,
    commits: Arc<AtomicUsize>,
    accepting: Option<JoinHandle<()>>,
    cut: Option<(usize, Cut)>,
}

impl Proxy {
    /// Starts one that cuts the connection at a commit, counted from 1 over all connections; `None`
    /// for never.
    pub(crate) fn start(database: &Database, cut: Option<(usize, Cut)>) -> Self {
        let mut proxy = Self {
            dir: tempfile::tempdir().unwrap(),
            to: database.socket_path(),
            name: database.name().to_owned(),
            commits: Arc::default(),
            accepting: None,
            cut,
        };
        proxy.come_back();
        proxy
    }

    /// Returns the address of the database through it.
    pub(crate) fn address(&self) -> String {
        format!("host={} user=postgres dbname={}", self.dir.path().display(), self.name)
    }

    /// Returns how many commits it has seen.
    pub(crate) fn commits(&self) -> usize {
        self.commits.load(Ordering::SeqCst)
    }

    /// Accepts no more connections, as if the server were away.
    pub(crate) fn go_away(&mut self) {
        if let Some(accepting) = self.accepting.take() {
            accepting.abort();
        }
        let _ = std::fs::remove_file(self.socket());
    }

    /// Accepts connections again.
    pub(crate) fn come_back(&mut self) {
        let listener = UnixListener::bind(self.socket()).unwrap();
        let (to, commits, cut) = (self.to.clone(), Arc::clone(&self.commits), self.cut);
        self.accepting = Some(tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(relay(stream, to.clone(), Arc::clone(&commits), cut));
            }
        }));
    }

    fn socket(&self) -> PathBuf {
        Path::new(self.dir.path()).join(".s.PGSQL.5432")
    }
}

async fn relay(mut client: UnixStream, to: PathBuf, commits: Arc<AtomicUsize>, cut: Option<(usize, Cut)>) {
    let mut server = UnixStream::connect(to).await.unwrap();
    let (mut from_client, mut from_server) = (vec![0; 64 << 10], vec![0; 64 << 10]);
    loop {
        tokio::select! {
            read = client.read(&mut from_client) => {
                let bytes = match read { Ok(0) | Err(_) => return, Ok(count) => &from_client[..count] };
                // A simple query: its type, its length, and its text.
                if bytes.windows(12).any(|at| at == b"Q\0\0\0\x0bCOMMIT\0") {
                    let nth = commits.fetch_add(1, Ordering::SeqCst) + 1;
                    match cut.filter(|(at, _)| *at == nth) {
                        Some((_, Cut::Before)) => return,
                        Some((_, Cut::After)) => {
                            server.write_all(bytes).await.unwrap();
                            let _ = server.read(&mut from_server).await;
                            return;
                        }
                        None => {}
                    }
                }
                if server.write_all(bytes).await.is_err() { return; }
            }
            read = server.read(&mut from_server) => {
                let bytes = match read { Ok(0) | Err(_) => return, Ok(count) => &from_server[..count] };
                if client.write_all(bytes).await.is_err() { return; }
            }
        }
    }
}
