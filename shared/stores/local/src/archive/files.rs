//! Opening files despite a temporary shortage of file descriptors.

use std::io;
use std::thread::sleep;
use std::time::Duration;

/// How soon to try again.
const PAUSE: Duration = Duration::from_millis(50);

/// The most tries: about a minute. Connections that hold files open end sooner.
const TRIES: u32 = 1_200;

/// Opens something. Waits while the process or the machine has too many files open, so call it only
/// on threads that may block.
///
/// # Errors
/// Returns any other error at once, and a lasting shortage after a minute.
pub(super) fn patiently<T>(mut open: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    for _ in 1..TRIES {
        match open() {
            // `ENFILE` and `EMFILE`, for which `ErrorKind` has no name.
            Err(e) if matches!(e.raw_os_error(), Some(23 | 24)) => sleep(PAUSE),
            answer => return answer,
        }
    }
    open()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_too_many_open_files_are_waited_out() {
        for (error, tries, opens) in [(24, 3, true), (23, 3, true), (13, 1, false)] {
            let mut tried = 0;
            let opened = patiently(|| {
                tried += 1;
                if tried == 3 { Ok(()) } else { Err(io::Error::from_raw_os_error(error)) }
            });
            assert_eq!((tried, opened.is_ok()), (tries, opens), "error {error}");
        }
    }
}
