//! wh-store-sqlite
