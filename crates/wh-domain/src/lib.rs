//! wh-domain
