//! What must hold after every run.
