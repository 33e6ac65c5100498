//! Faults between the SDK and S3, SQS and SNS: transient ones are retried, and completed work does
//! no harm.

use std::time::Duration;

use bytes::Bytes;
use dragline_aws::http_client;
use dragline_aws_tests::faults::{Fault, Faults};
use dragline_aws_tests::{Fresh, clients_over};
use dragline_domain::frontier::{LeftoverReason, ObjectKey, OriginKey};
use dragline_domain::ids::{Iteration, Turn};
use dragline_formats::blob::Blob;
use dragline_ports::archive::{Archive, PutResult};
use dragline_ports::error::PortErrorKind;
use dragline_ports::notifier::{Notice, Notifier};
use dragline_ports::queue::{Message, Queue, Ticket};

async fn faulty() -> (Faults, Fresh) {
    let faults = Faults::default();
    let fresh = Fresh::new(clients_over(faults.over(http_client())).await);
    (faults, fresh)
}

fn key() -> ObjectKey {
    ObjectKey::try_from("raw/docs/1/a.warc.gz".to_owned()).unwrap()
}

fn object() -> Blob {
    "an object".into()
}

async fn stored(archive: &impl Archive) -> Bytes {
    archive.get(&key(), 100).await.unwrap().unwrap().bytes().unwrap()
}

fn origin() -> OriginKey {
    OriginKey { crawl: "docs".parse().unwrap(), origin: "https://a.example".parse().unwrap() }
}

#[tokio::test]
async fn an_object_whose_answer_got_lost_is_there() {
    let (faults, fresh) = faulty().await;
    let archive = fresh.archive().await;
    faults.plan("PutObject", &[Fault::AnswerLost]);
    assert_eq!(
        archive.put_new(&key(), object()).await.unwrap(),
        PutResult::Exists,
        "the second try finds the first one's object"
    );
    assert!(faults.are_over());
    assert_eq!(stored(&archive).await, "an object");
}

#[tokio::test]
async fn a_put_waits_for_another_of_its_key() {
    let (faults, fresh) = faulty().await;
    let archive = fresh.archive().await;
    faults.plan("PutObject", &[Fault::Conflict; 7]);
    assert_eq!(archive.put_new(&key(), object()).await.unwrap(), PutResult::Stored, "the others failed in the end");
    assert!(faults.are_over());
    faults.plan("PutObject", &[Fault::Conflict; 100]);
    let error = archive.put_new(&key(), object()).await.unwrap_err();
    assert_eq!(error.kind, PortErrorKind::Unavailable, "retries are limited: {error}");
}

#[tokio::test]
async fn what_s3_puts_off_or_loses_is_asked_again() {
    let (faults, fresh) = faulty().await;
    let archive = fresh.archive().await;
    for fault in [Fault::Throttled, Fault::Lost] {
        for operation in ["PutObject", "GetObject", "ListObjectsV2", "DeleteObject"] {
            faults.plan(operation, &[fault; 2]);
        }
        assert_eq!(archive.put_new(&key(), object()).await.unwrap(), PutResult::Stored, "{fault:?}");
        assert_eq!(stored(&archive).await, "an object", "{fault:?}");
        assert_eq!(archive.list("raw/", None, 10).await.unwrap(), [key()], "{fault:?}");
        archive.delete(&key()).await.unwrap();
        assert!(faults.are_over(), "{fault:?}");
    }
    faults.plan("PutObject", &[Fault::Lost; 100]);
    assert_eq!(archive.put_new(&key(), object()).await.unwrap_err().kind, PortErrorKind::Unavailable);
}

#[tokio::test]
async fn a_message_is_sent_until_it_is_sent() {
    let (faults, fresh) = faulty().await;
    let (queue, urls) = fresh.queue().await;
    let ticket = Message::Ticket(Ticket { origin: origin(), iteration: Iteration::FIRST, turn: Turn(1) });
    for fault in [Fault::Throttled, Fault::Lost, Fault::AnswerLost] {
        faults.plan("SendMessage", &[fault; 2]);
        queue.send(ticket.clone(), Duration::ZERO).await.unwrap();
        assert!(faults.are_over(), "{fault:?}");
        let request = fresh.clients().sqs.receive_message().queue_url(&urls.turns).wait_time_seconds(20);
        let received = request.send().await.unwrap().messages.unwrap_or_default();
        assert!(!received.is_empty(), "{fault:?}: at least once");
    }
    faults.plan("SendMessage", &[Fault::Lost; 100]);
    assert_eq!(queue.send(ticket, Duration::ZERO).await.unwrap_err().kind, PortErrorKind::Unavailable);
}

#[tokio::test]
async fn a_notice_is_told_or_fails_as_what_passes() {
    let (faults, fresh) = faulty().await;
    let notifier = fresh.notifier().await;
    let notice = Notice::OriginEnded { origin: origin(), reason: LeftoverReason::Stopped, count: 7 };
    for fault in [Fault::Throttled, Fault::Lost, Fault::AnswerLost] {
        faults.plan("Publish", &[fault; 2]);
        notifier.notify(notice.clone(), jiff::Timestamp::UNIX_EPOCH).await.unwrap();
        assert!(faults.are_over(), "{fault:?}");
    }
    faults.plan("Publish", &[Fault::Lost; 100]);
    assert_eq!(
        notifier.notify(notice, jiff::Timestamp::UNIX_EPOCH).await.unwrap_err().kind,
        PortErrorKind::Unavailable,
        "worth another try"
    );
}
