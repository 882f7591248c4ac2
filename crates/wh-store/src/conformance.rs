//! Checks that every backend must pass, written against the trait alone.
