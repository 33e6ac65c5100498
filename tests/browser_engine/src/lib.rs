//! Crawls of servers that misbehave in every way that crawlers meet: see
//! `docs/internals/hostile-web.md`. The tests are in `hostile/`.
