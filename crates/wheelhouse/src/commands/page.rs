//! Which part of a list to show.

use wh_api::NumberOrId;

/// Flags of every list.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct PageArgs {
    /// How many at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=200))]
    pub(crate) limit: Option<u32>,

    /// Continue after this cursor, which the previous page printed
    #[arg(long, value_name = "CURSOR")]
    pub(crate) cursor: Option<NumberOrId>,
}
