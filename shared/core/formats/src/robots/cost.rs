//! Counts the octets that a verdict compares, so that the tests below do not depend on a machine's
//! speed. Compiled to nothing outside of tests.

#[cfg(test)]
use std::cell::Cell;

#[cfg(test)]
thread_local! {
    static OCTETS: Cell<usize> = const { Cell::new(0) };
}

/// Counts compared octets.
#[cfg(test)]
pub(super) fn count(octets: impl FnOnce() -> usize) {
    OCTETS.set(OCTETS.get() + octets());
}

/// Counts compared octets, in tests only.
#[cfg(not(test))]
pub(super) fn count(_octets: impl FnOnce() -> usize) {}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::super::{BODY_BYTES_MAX, Robots};
    use super::OCTETS;

    fn octets_read(robots: &Robots, path: &str) -> usize {
        OCTETS.set(0);
        let _ = robots.verdict(path);
        assert!(OCTETS.get() > 0, "nobody counts");
        OCTETS.get()
    }

    #[test]
    fn plain_rules_of_a_big_file_cost_little_per_url() {
        let mut body = String::from("User-agent: *\n");
        for i in 0..10_000 {
            writeln!(body, "Disallow: /shop/category/{i}/products/filtered").unwrap();
        }
        writeln!(body, "Disallow: /{}b", "*a".repeat(500)).unwrap();
        assert!(body.len() > BODY_BYTES_MAX * 9 / 10 && body.len() <= BODY_BYTES_MAX, "{}", body.len());
        let robots = Robots::parse(body.as_bytes(), "us");
        let total: usize =
            (0..1_000).map(|i| octets_read(&robots, &format!("/shop/category/{i}/{}", "a".repeat(600)))).sum();
        assert!(total < 1_000 * 3_000, "{total} octets for a thousand verdicts");
        assert!(!robots.verdict("/shop/category/77/products/filtered?x").is_allowed());
        assert!(!robots.verdict(&format!("/{}b", "a".repeat(500))).is_allowed());
    }

    #[test]
    fn wildcards_cost_linear_time() {
        for pattern in
            ["/*a".repeat(500), format!("/{}", "*a".repeat(5_000)), "/*".repeat(5_000) + "$", "*".repeat(10_000)]
        {
            let robots = Robots::parse(format!("User-agent: *\nDisallow: {pattern}b\n").as_bytes(), "us");
            for path in [format!("/{}", "a".repeat(2_000)), "/a".repeat(1_000), "/".repeat(2_000)] {
                let cost = octets_read(&robots, &path);
                assert!(cost <= pattern.len() + 2 * path.len() + 8, "{cost}");
            }
        }
    }

    #[test]
    fn nested_prefixes_cost_one_comparison_each() {
        let mut body = String::from("User-agent: *\n");
        for i in 1..1_000 {
            writeln!(body, "Disallow: /{}*z", "a".repeat(i)).unwrap();
        }
        let robots = Robots::parse(body.as_bytes(), "us");
        let path = format!("/{}", "a".repeat(1_000));
        let cost = octets_read(&robots, &path);
        assert!(cost < 1_000 * 1_000, "{cost}: at most what stands behind each prefix");
    }
}
