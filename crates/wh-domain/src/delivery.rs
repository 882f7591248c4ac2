//! Deliveries: a durable "tell X that Y happened".

/// Who is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeliveryKind {
    /// A parent session, by a prompt.
    Callback,
    /// An address, by a signed request.
    Webhook,
}

/// How a delivery stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeliveryState {
    Pending,
    Delivered,
    GivenUp,
}
