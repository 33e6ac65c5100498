//! Objects that may be too large for memory, on their way to and from S3.

use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};

use aws_sdk_s3::operation::get_object::GetObjectOutput;
use aws_sdk_s3::primitives::{ByteStream, SdkBody};
use bytes::Bytes;
use dragline_formats::blob::{Blob, BlobReader, Spool};
use http_body::{Body, Frame, SizeHint};

use crate::errors::StoreError;

/// The bytes of a file that are read at once.
const WINDOW_BYTES: usize = 256 << 10;

/// Returns the body of a put. The SDK may send it again.
pub(crate) fn put_body(blob: &Blob) -> ByteStream {
    match blob.in_memory() {
        Some(bytes) => bytes.clone().into(),
        None => {
            let blob = blob.clone();
            ByteStream::new(SdkBody::retryable(move || SdkBody::from_body_1_x(FileBody::new(&blob))))
        }
    }
}

/// Receives an object, in memory if it is short.
pub(crate) async fn receive(mut output: GetObjectOutput, spool: &Spool) -> Result<Blob, StoreError> {
    let failed = |error| StoreError::file(Path::new("a temporary file"), error);
    let mut writer = spool.begin();
    while let Some(bytes) = output.body.next().await {
        let bytes = bytes.map_err(|error| StoreError::broken_off("GetObject", error))?;
        writer.write_all(&bytes).map_err(failed)?;
    }
    writer.finish().map_err(failed)
}

/// A file that is read while it is sent.
struct FileBody {
    reader: BlobReader,
    left_bytes: u64,
}

impl FileBody {
    fn new(blob: &Blob) -> Self {
        Self { reader: blob.reader(), left_bytes: blob.len_bytes() }
    }

    fn window(&mut self) -> io::Result<Bytes> {
        let mut window = vec![0; usize::try_from(self.left_bytes).unwrap_or(usize::MAX).min(WINDOW_BYTES)];
        match self.reader.read(&mut window)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            bytes => {
                window.truncate(bytes);
                self.left_bytes -= bytes as u64;
                Ok(window.into())
            }
        }
    }
}

impl Body for FileBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        Poll::Ready((self.left_bytes > 0).then(|| self.window().map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.left_bytes == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left_bytes)
    }
}
