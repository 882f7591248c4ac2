//! The HTTP edge: who may connect, and how connections are served.

pub mod guard;
pub mod serve;
