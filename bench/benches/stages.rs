//! The stages of a crawl, one by one: `cargo bench --package dragline-bench`.

fn main() {
    divan::main();
}
