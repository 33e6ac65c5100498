//! A PostgreSQL of the tests' own, which listens on a socket in a temporary directory.
//!
//! Each test is a process of its own, and starting a cluster takes a second: so the first test
//! starts it, and the others use it. A test holds a shared lock while it runs. Whoever started the
//! cluster left a shell that waits until nobody holds the lock, however the last test ended, and
//! then stops and removes the cluster.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use dragline_sink::{Address, SchemaName, Start, Target};
use tokio_postgres::{Client, NoTls};

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
pub(crate) struct Database {
    name: String,
    dir: PathBuf,
    _lock: File,
}

impl Database {
    /// Creates an empty database, and starts the cluster if nobody did.
    pub(crate) async fn create() -> Self {
        static CREATED: AtomicU32 = AtomicU32::new(0);
        assert!(
            Path::new(BIN).join("initdb").exists(),
            "these tests need PostgreSQL 15 in {BIN}: run `make setup`, or `apt-get install postgresql-15`"
        );
        let dir = std::env::temp_dir().join(format!("dragline-sink-{}", rustix::process::getuid().as_raw()));
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
        if let Some(client) = connect(&self.socket("postgres", "postgres")).await {
            return client;
        }
        start_cluster(&self.dir);
        for _look in 0..LOOKS_MAX {
            if let Some(client) = connect(&self.socket("postgres", "postgres")).await {
                return client;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        let log = fs::read_to_string(self.dir.join("log")).unwrap_or_default();
        panic!("PostgreSQL does not start: {log}");
    }

    fn socket(&self, user: &str, name: &str) -> String {
        format!("host={} user={user} dbname={name}", self.dir.display())
    }

    /// Returns the socket of the cluster.
    pub(crate) fn socket_path(&self) -> PathBuf {
        self.dir.join(".s.PGSQL.5432")
    }

    /// Returns the address for a user.
    pub(crate) fn address(&self, user: &str) -> String {
        self.socket(user, &self.name)
    }

    /// Returns its name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns where to write, with few rows a transaction and no patience.
    pub(crate) fn target(&self) -> Target {
        target(&self.address("postgres"))
    }

    /// Connects as the owner.
    pub(crate) async fn client(&self) -> Client {
        connect(&self.address("postgres")).await.unwrap()
    }

    /// Runs statements as the owner.
    pub(crate) async fn run(&self, sql: &str) {
        self.client().await.batch_execute(sql).await.unwrap();
    }

    /// Returns the first value of each row as text, in the order of the statement.
    pub(crate) async fn values(&self, sql: &str) -> Vec<Option<String>> {
        let sql = format!("SELECT v::text FROM ({sql}) q (v)");
        self.client().await.query(&sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
    }

    /// Returns the first value of the only row as text.
    pub(crate) async fn value(&self, sql: &str) -> Option<String> {
        let values = self.values(sql).await;
        assert_eq!(values.len(), 1, "{sql}: {values:?}");
        values.into_iter().next().flatten()
    }
}

/// Returns where to write, with few rows a transaction and no patience.
pub(crate) fn target(address: &str) -> Target {
    let address: Address = address.parse().unwrap();
    Target {
        address,
        schema: SchemaName::default(),
        reader: None,
        start: Start::Continue,
        patience: Duration::ZERO,
        batch_rows: Some(3),
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
    let settings =
        ["fsync=off", "full_page_writes=off", "listen_addresses=", "shared_buffers=64MB", "max_wal_size=4GB"];
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
