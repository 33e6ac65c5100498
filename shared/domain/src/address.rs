//! Which addresses Dragline never talks to.
