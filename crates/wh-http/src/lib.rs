//! wh-http
