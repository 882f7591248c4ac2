//! Refusals about a session's policy, tier and allowed hosts.

use wh_domain::{Advice, ArgumentValue, ErrorCode, HostsRefusal, PolicyRefusal, Tier, TierRefusal};

use super::Explain;

impl Explain for PolicyRefusal {
    fn code(&self) -> ErrorCode {
        ErrorCode::InvalidInput
    }
}

impl Explain for TierRefusal {
    fn code(&self) -> ErrorCode {
        ErrorCode::Forbidden
    }

    fn advice(&self) -> Vec<Advice> {
        vec![Advice::setting("containment.minimum", "lower the minimum")]
    }
}

impl Explain for HostsRefusal {
    fn code(&self) -> ErrorCode {
        match self {
            Self::NotAllowed { .. } => ErrorCode::Forbidden,
            Self::NotIsolated => ErrorCode::InvalidInput,
        }
    }

    fn advice(&self) -> Vec<Advice> {
        match self {
            Self::NotAllowed { .. } => {
                vec![Advice::config_file(
                    "containment",
                    "hosts",
                    "allow the host",
                )]
            }
            Self::NotIsolated => [Tier::Strict, Tier::Container]
                .map(|tier| {
                    let value = ArgumentValue::Text(tier.as_str());
                    Advice::set("tier", value, format!("use the tier {tier}"))
                })
                .into(),
        }
    }
}
