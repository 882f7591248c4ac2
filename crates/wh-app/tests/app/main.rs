//! The application on a real database, called the way the surfaces call it.

mod boards;
mod events;
mod harness;
mod identity;
mod records;
mod sessions;
