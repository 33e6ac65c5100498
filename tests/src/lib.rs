//! End-to-end tests of the built dragline command on real sites.
