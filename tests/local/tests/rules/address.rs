//! Private addresses are refused unless the user allows them.

use dragline_domain::address::AddressPolicy;
use dragline_domain::outcome::Outcome;
use dragline_testkit::whole_crawls::{Crawled, Network, definition};

use super::scripted::{ScriptedSite, page};

#[tokio::test]
async fn nothing_is_sent_to_a_private_address() {
    let site = ScriptedSite::start(|_| page("inside")).await;
    let seeds = [site.url("/by-address"), site.named("inside.example", "/by-name"), site.named("localhost", "/local")];
    let network = Network { address_policy: AddressPolicy::PublicOnly, ..Network::default() };
    let crawled = Crawled::over(network, &definition(&seeds, |_| {})).await;
    crawled.assert_outcomes(&[
        ("/by-address", Outcome::BlockedPrivateAddress, "the address itself"),
        (&seeds[1], Outcome::BlockedPrivateAddress, "a name of it"),
        (&seeds[2], Outcome::BlockedPrivateAddress, "a name that says so"),
    ]);
    assert!(site.log().is_empty(), "not even robots.txt is requested");
    assert!(crawled.log.iter().all(|row| row.detail.is_some() && row.duration_ms.is_none()), "{:?}", crawled.log);
}
