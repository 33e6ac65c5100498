//! What others test their readers with, as judges of ours. The tests are in `judges/`: each has a list of the cases in which
//! we differ on purpose.

pub mod differences;
