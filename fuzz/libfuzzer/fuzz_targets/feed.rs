#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| dragline_fuzz::feed(data));
