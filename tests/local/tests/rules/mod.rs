//! What happens to a URL, rule by rule: whole crawls of small sites over HTTP, judged by what is stored and by what the server saw.

mod address;
mod ahead;
mod away;
mod beyond;
mod budget;
mod canonical;
mod clocks;
mod content;
mod crowd;
mod current;
mod diff;
mod directives;
mod failures;
mod hosts;
mod limits;
mod recrawl;
mod redirects;
mod replies;
mod retention;
mod robots;
mod scope;
mod scripted;
mod statuses;
mod unchanged;
mod watched;
