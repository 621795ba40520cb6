//! The short list of what is refused in every mode.
