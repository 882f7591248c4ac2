//! wh-testkit
