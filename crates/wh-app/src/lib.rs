//! wh-app
