//! The network of an agent without one: the CONNECT proxy and the model gateways, on real sockets of the loopback interface.

mod harness;
mod hosts;
mod limits;
mod model;
mod tls;
