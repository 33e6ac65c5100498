//! Pages in a real browser. The tests are in `engine/`, and `tests/browser_engine/run` runs them.
