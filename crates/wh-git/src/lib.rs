//! wh-git
