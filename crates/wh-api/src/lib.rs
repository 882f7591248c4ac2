//! wh-api
