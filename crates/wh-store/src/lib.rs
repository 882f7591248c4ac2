//! wh-store
