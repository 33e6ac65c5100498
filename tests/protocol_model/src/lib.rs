//! An explicit-state model of the commit protocol, over the rows and transitions of production.
