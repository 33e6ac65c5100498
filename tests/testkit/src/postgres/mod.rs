//! A PostgreSQL of the tests' own, which listens on a socket in a temporary directory, and with TLS
//! on a port of this machine.
//!
//! Each test is a process of its own, and starting a cluster takes a second: so the first test
//! starts it, and the others use it. A test holds a shared lock while it runs. Whoever started the
//! cluster left a shell that waits until nobody holds the lock, however the last test ended, and
//! then stops and removes the cluster.

#![expect(clippy::unwrap_used, reason = "a database that cannot be set up fails the test that needs it")]

mod equal;

use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio_postgres::{Client, NoTls};

use crate::hostile::Authority;

pub use equal::assert_equal;

/// The role that owns everything.
pub const OWNER: &str = "postgres";

/// The name in the server's certificate.
const HOST: &str = "localhost";

/// Where Debian's package has the programs.
const BIN: &str = "/usr/lib/postgresql/15/bin";

/// How often the cluster is asked while it starts.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How many times: two minutes.
const LOOKS_MAX: usize = 2_400;

/// What stops and removes the cluster: `$1` is its directory, `$2` the lock of its users.
const KEEPER: &str = r#"
    exec 9<"$2"
    dir=$1
    shift 2
    "$@" & pid=$!
    flock --exclusive 9
    kill -QUIT "$pid"
    wait "$pid"
    rm -rf "$dir"
"#;

/// A database of one test, which holds the lock of the cluster.
pub struct Database {
    name: String,
    dir: PathBuf,
    _lock: File,
}

impl Database {
    /// Creates an empty database, and starts the cluster if nobody did.
    ///
    /// # Panics
    /// If PostgreSQL is not installed, or does not start.
    pub async fn create() -> Self {
        static CREATED: AtomicU32 = AtomicU32::new(0);
        assert!(
            Path::new(BIN).join("initdb").exists(),
            "these tests need PostgreSQL 15 in {BIN}: run `make setup`, or `apt-get install postgresql-15`"
        );
        let dir = std::env::temp_dir().join(format!("dragline-postgres-{}", rustix::process::getuid().as_raw()));
        let lock = lock_file(&dir.with_extension("users"));
        lock.lock_shared().unwrap();
        let name = format!("t{}_{}", std::process::id(), CREATED.fetch_add(1, Ordering::Relaxed));
        let database = Self { name, dir, _lock: lock };
        let client = database.start().await;
        client.batch_execute(&format!("CREATE DATABASE {}", database.name)).await.unwrap();
        database
    }

    /// Connects to the cluster, and starts it before if it does not run.
    async fn start(&self) -> Client {
        let starting = lock_file(&self.dir.with_extension("start"));
        starting.lock().unwrap();
        if let Some(client) = connect(&self.socket(OWNER, OWNER)).await {
            return client;
        }
        start_cluster(&self.dir);
        for _look in 0..LOOKS_MAX {
            if let Some(client) = connect(&self.socket(OWNER, OWNER)).await {
                return client;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        let log = fs::read_to_string(self.dir.join("log")).unwrap_or_default();
        panic!("PostgreSQL does not start: {log}");
    }

    fn socket(&self, user: &str, name: &str) -> String {
        format!("host={} port={} user={user} dbname={name}", self.dir.display(), self.port())
    }

    /// Returns the port of the cluster, which names its socket, too; nothing before it was started.
    fn port(&self) -> String {
        fs::read_to_string(self.dir.join("port")).unwrap_or_default()
    }

    /// Returns the socket of the cluster.
    #[must_use]
    pub fn socket_path(&self) -> PathBuf {
        self.dir.join(format!(".s.PGSQL.{}", self.port()))
    }

    /// Returns the address for a user.
    #[must_use]
    pub fn address(&self, user: &str) -> String {
        self.socket(user, &self.name)
    }

    /// Returns its URL for the owner over TLS, without the parameters. The server's certificate is
    /// for `localhost`, and signed by an authority that nobody trusts who does not name
    /// [its file](Self::authority).
    #[must_use]
    pub fn tls_url(&self, host: &str) -> String {
        format!("postgres://{OWNER}@{host}:{}/{}", self.port(), self.name)
    }

    /// Returns the file of the authority that signed the server's certificate.
    #[must_use]
    pub fn authority(&self) -> PathBuf {
        self.dir.join("authority.pem")
    }

    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Connects as the owner.
    ///
    /// # Panics
    /// If it does not answer.
    pub async fn client(&self) -> Client {
        connect(&self.address(OWNER)).await.unwrap()
    }

    /// Runs statements as the owner.
    ///
    /// # Panics
    /// If the database refuses them.
    pub async fn run(&self, sql: &str) {
        self.client().await.batch_execute(sql).await.unwrap();
    }

    /// Returns the first value of each row as text, in the order of the statement.
    ///
    /// # Panics
    /// If the database refuses it.
    pub async fn values(&self, sql: &str) -> Vec<Option<String>> {
        let sql = format!("SELECT v::text FROM ({sql}) q (v)");
        self.client().await.query(&sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
    }

    /// Returns the first value of the only row as text.
    ///
    /// # Panics
    /// If the database refuses it, or has no or several rows.
    pub async fn value(&self, sql: &str) -> Option<String> {
        let values = self.values(sql).await;
        assert_eq!(values.len(), 1, "{sql}: {values:?}");
        values.into_iter().next().flatten()
    }
}

async fn connect(address: &str) -> Option<Client> {
    let (client, connection) = tokio_postgres::connect(address, NoTls).await.ok()?;
    tokio::spawn(connection);
    Some(client)
}

fn lock_file(path: &Path) -> File {
    File::options().create(true).truncate(false).write(true).read(true).open(path).unwrap()
}

/// Initialises and starts a cluster, as another user than root, which PostgreSQL refuses.
fn start_cluster(dir: &Path) {
    let _ = fs::remove_dir_all(dir);
    fs::create_dir(dir).unwrap();
    fs::set_permissions(dir, fs::Permissions::from_mode(0o777)).unwrap();
    let as_user: &[&str] = if rustix::process::getuid().is_root() {
        &["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    } else {
        &["env"]
    };
    let data = dir.join("data").display().to_string();
    let initdb = format!("{BIN}/initdb");
    let made = Command::new(as_user[0])
        .args(&as_user[1..])
        .args([&initdb, "--pgdata", &data, "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C"])
        .args(["--no-sync", "--no-instructions"])
        .current_dir(dir)
        .output()
        .unwrap();
    assert!(made.status.success(), "initdb failed: {}", String::from_utf8_lossy(&made.stderr));
    let log = File::create(dir.join("log")).unwrap();
    let postgres = format!("{BIN}/postgres");
    let socket = format!("unix_socket_directories={}", dir.display());
    let port = free_port();
    let port_setting = format!("port={port}");
    let settings = [
        "fsync=off",
        "full_page_writes=off",
        "listen_addresses=127.0.0.1",
        port_setting.as_str(),
        "ssl=on",
        "shared_buffers=64MB",
        "max_wal_size=4GB",
    ];
    put_certificate(dir, Path::new(&data));
    fs::write(dir.join("port"), &port).unwrap();
    let mut keeper = Command::new("setsid");
    keeper.args(["bash", "-c", KEEPER, "keeper"]).arg(dir).arg(dir.with_extension("users")).args(as_user);
    keeper.args([&postgres, "-D", &data, "-c", &socket]);
    for setting in settings {
        keeper.args(["-c", setting]);
    }
    keeper.current_dir(dir).stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
    let mut keeper = keeper.spawn().unwrap();
    // It outlives this process, for the others that use the cluster.
    std::thread::spawn(move || keeper.wait());
}

/// Returns a port that nobody listens on.
fn free_port() -> String {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port().to_string()
}

/// Puts the server's certificate and its key where it looks for them, readable for itself alone.
fn put_certificate(dir: &Path, data: &Path) {
    let authority = Authority::named("Authority of a database");
    fs::write(dir.join("authority.pem"), authority.root_pem()).unwrap();
    let (certificate, key) = authority.server_pems(HOST);
    let owner = fs::metadata(data).unwrap();
    for (name, text) in [("server.crt", certificate), ("server.key", key)] {
        let path = data.join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        std::os::unix::fs::chown(&path, Some(owner.uid()), Some(owner.gid())).unwrap();
    }
}
