//! Notices about bodies that were cut for their size.

use dragline_domain::frontier::ReadAs;
use dragline_ports::fetcher::{BodyLimit, FetchedResponse, Fetchers};
use dragline_ports::notifier::Notice;

use super::TurnWork;
use crate::World;
use crate::tell::tell_once;

/// The first body that each limit cut in a turn.
#[derive(Debug, Default)]
pub(super) struct CutBodies {
    first: Vec<(BodyLimit, CutNotice)>,
}

/// Whether people are told about a body.
#[derive(Debug)]
enum CutNotice {
    /// Not before its segment is committed: until then another worker may fetch it again.
    NotYet {
        url: String,
    },
    Told,
}

impl CutBodies {
    fn add(&mut self, limit: BodyLimit, url: String) {
        if !self.first.iter().any(|(known, _)| *known == limit) {
            self.first.push((limit, CutNotice::NotYet { url }));
        }
    }

    /// Takes those that people are to be told about now.
    fn take(&mut self) -> Vec<(BodyLimit, String)> {
        let taken = self.first.iter_mut().filter_map(|(limit, told)| match std::mem::replace(told, CutNotice::Told) {
            CutNotice::NotYet { url } => Some((*limit, url)),
            CutNotice::Told => None,
        });
        taken.collect()
    }
}

impl<W: World, S: Fetchers> TurnWork<W, S> {
    /// Notes a body that was cut for its size. Returns the number of such bodies, one or none.
    pub(super) fn note_cut(&mut self, url: &impl ToString, read_as: ReadAs, response: &FetchedResponse) -> u64 {
        if read_as == ReadAs::Check {
            return 0;
        }
        let limit = self.context.limits_for(read_as).cutting_limit(response);
        limit.into_iter().for_each(|limit| self.segments.cut.add(limit, url.to_string()));
        u64::from(limit.is_some())
    }

    /// Tells people about the first body that each limit cut in the iteration. The others are only
    /// counted.
    pub(super) async fn tell_of_cut(&mut self) {
        let notice = |(limit, url)| Notice::BodyCut { origin: self.origin.clone(), url, limit };
        let notices: Vec<_> = self.segments.cut.take().into_iter().map(notice).collect();
        if !notices.is_empty() {
            tell_once(&*self.world, self.lease.iteration, notices).await;
        }
    }
}
