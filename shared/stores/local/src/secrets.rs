//! Values in the environment, in files, and on the command line.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use dragline_domain::definition::SecretReference;
use dragline_ports::secrets::{Secret, SecretError, SecretFuture, Secrets};

/// The limit on a file, in bytes: browsers' files of cookies are far smaller.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// The values of a machine.
#[derive(Debug, Default)]
pub struct LocalSecrets {
    flags: HashMap<String, Secret>,
}

impl LocalSecrets {
    /// Returns the values of a machine, and these of the command line, by the names of
    /// [`SecretReference::Flag`].
    #[must_use]
    pub const fn with_flags(flags: HashMap<String, Secret>) -> Self {
        Self { flags }
    }

    /// Returns a value.
    ///
    /// # Errors
    /// It is not there, or others than its owner can read it.
    pub fn find(&self, reference: &SecretReference) -> Result<Secret, SecretError> {
        let value = match reference {
            SecretReference::Variable(name) => std::env::var(name).map_err(|error| match error {
                std::env::VarError::NotPresent => "is not set".to_owned(),
                std::env::VarError::NotUnicode(_) => "is not UTF-8".to_owned(),
            }),
            SecretReference::File(path) => read_private(Path::new(path)).map_err(|error| error.to_string()),
            SecretReference::Managed(_) => {
                Err("is in AWS Secrets Manager, which only a stack reads: name it `env:NAME` or `file:PATH`".to_owned())
            }
            SecretReference::Flag(name) => {
                let missing = || format!("was on the command line, and is stored nowhere: give `{name}` again");
                self.flags.get(name).map(|secret| secret.reveal().to_owned()).ok_or_else(missing)
            }
        };
        let failed = |why| SecretError { reference: reference.clone(), why };
        value.map(|value| Secret::new(&value)).map_err(failed)
    }
}

impl Secrets for LocalSecrets {
    fn read<'a>(&'a self, reference: &'a SecretReference) -> SecretFuture<'a> {
        Box::pin(async { self.find(reference) })
    }
}

/// Reads a file that its owner alone can read.
fn read_private(path: &Path) -> io::Result<String> {
    let file = File::open(path).map_err(|error| io::Error::new(error.kind(), format!("cannot be read: {error}")))?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("is no file"));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // What systemd hands to a service is its own, though its mode says more (LoadCredential).
        let is_handed = std::env::var_os("CREDENTIALS_DIRECTORY").is_some_and(|folder| path.starts_with(folder));
        if metadata.permissions().mode() & 0o077 != 0 && !is_handed {
            return Err(io::Error::other(format!("can be read by others: `chmod 600 {}`", path.display())));
        }
    }
    let mut text = String::new();
    let read = file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text);
    read.map_err(|error| io::Error::new(error.kind(), format!("cannot be read: {error}")))?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(io::Error::other(format!("is longer than {FILE_BYTES_MAX} bytes")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_from_where_they_are() {
        let directory = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str, mode: u32| {
            use std::os::unix::fs::PermissionsExt as _;
            let path = directory.path().join(name);
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            format!("file:{}", path.display())
        };
        let flags = HashMap::from([("--header X-Key".to_owned(), Secret::new("given"))]);
        let secrets = LocalSecrets::with_flags(flags);
        for (reference, expected, why) in [
            (file("good", "one\n", 0o600), Ok("one"), "without the line break at its end"),
            (file("open", "one", 0o644), Err("chmod 600"), "others can read it"),
            (file("binary", "\u{1}", 0o600), Ok("\u{1}"), "whatever it contains"),
            (format!("file:{}", directory.path().display()), Err("is no file"), "a directory"),
            ("file:/nothing/there".to_owned(), Err("cannot be read"), "no file"),
            ("env:DRAGLINE_NO_SUCH_VARIABLE".to_owned(), Err("is not set"), "no variable"),
            ("secret:a/login".to_owned(), Err("only a stack reads: name it `env:NAME`"), "in AWS"),
            ("flag:--header X-Key".to_owned(), Ok("given"), "on the command line"),
            ("flag:--header Other".to_owned(), Err("give `--header Other` again"), "not this time"),
        ] {
            let read = secrets.find(&reference.parse().unwrap());
            match (read, expected) {
                (Ok(value), Ok(expected)) => assert_eq!(value.reveal(), expected, "{why}"),
                (Err(error), Err(said)) => assert!(error.to_string().contains(said), "{why}: {error}"),
                (read, _) => panic!("{why}: {read:?}"),
            }
        }
    }
}
