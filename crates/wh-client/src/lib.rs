//! wh-client
