//! Each function's process, with doubles of the Runtime API and of AWS around it, and the template
//! of the stack beside them.

mod batches;
mod publisher;
mod searcher;
mod sweeper;
mod template;
