//! The network of an agent that runs in an empty network namespace: the only ways out, which the runner serves on listeners
//! inside that namespace.
//!
//! - [`serve_proxy`] is an HTTP proxy that takes CONNECT for the hosts of a list and nothing else. A name is resolved once and
//!   its addresses are kept for the life of the run; the TLS handshake inside the tunnel has to name the same host.
//! - [`serve_model`] is a reverse proxy to one model server. It adds the key, so that the agent never has it.
//!
//! Both share an [`EgressState`], which counts the bytes of all connections and ends them when the limit is reached.

mod counted_body;
mod hello;
mod meter;
mod model;
mod model_request;
mod proxy;
mod refusal;
mod resolve;
mod state;
mod tunnel;

use serde::{Deserialize, Serialize};
use wh_domain::HostList;

use crate::spec::Token;

pub use model::serve_model;
pub use proxy::serve_proxy;
pub use resolve::{Resolver, Resolving, SystemResolver};
pub use state::{EgressError, EgressLimits, EgressState, RefusedHost};

/// Network access of an agent. Part of the run's spec.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Egress {
    /// Hosts that the proxy connects to.
    #[serde(with = "host_list", default)]
    pub hosts: HostList,
    /// Those of them that may be on this machine or in a private network; the others have to have public addresses.
    #[serde(with = "host_list", default)]
    pub private_hosts: HostList,
    /// Maximum number of bytes sent and received over all connections of the run. Absent: unlimited.
    #[serde(default)]
    pub bytes_max: Option<u64>,
    /// Model servers that the agent reaches without having their keys.
    #[serde(default)]
    pub models: Vec<ModelGateway>,
}

/// A model server and the key that opens it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelGateway {
    /// The loopback port inside the agent's namespace.
    pub port: u16,
    /// The `http` or `https` URL that the path of each request is appended to.
    pub upstream: String,
    /// The header that carries the key, such as `authorization` or `x-api-key`.
    pub header: String,
    /// Prefix of the key in the header, such as `Bearer `.
    pub prefix: String,
    pub key: Token,
}

/// Writes a [`HostList`] as the texts of its rules.
mod host_list {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use wh_domain::HostList;

    pub(super) fn serialize<S: Serializer>(
        list: &HostList,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(list.rules().iter().map(ToString::to_string))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<HostList, D::Error> {
        let rules = Vec::<String>::deserialize(deserializer)?;
        HostList::parse(rules)
            .map_err(|(rule, refusal)| D::Error::custom(format!("host {rule:?}: {refusal}")))
    }
}
