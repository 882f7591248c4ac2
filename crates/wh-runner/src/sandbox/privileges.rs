//! Gives up every privilege of the process for itself and all that it starts.

use rustix::{
    process::{Resource, Rlimit, setrlimit},
    thread::{
        CapabilitiesSecureBits, CapabilitySet, CapabilitySets, clear_ambient_capability_set,
        remove_capability_from_bounding_set, set_capabilities, set_capabilities_secure_bits,
        set_no_new_privs,
    },
};

use super::SetupError;

/// Drops all capabilities, for root too, forbids regaining any, and turns core dumps off.
pub(super) fn drop_all() -> Result<(), SetupError> {
    let no_core = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    setrlimit(Resource::Core, no_core)
        .map_err(|error| SetupError::new("turn core dumps off", error))?;
    let failed = |error| SetupError::new("drop capabilities", error);
    // Without a user namespace, an ordinary user has none to drop and may not change these.
    let has_some = rustix::thread::capabilities(None)
        .map_err(failed)?
        .permitted
        != CapabilitySet::empty();
    if has_some {
        let bits = CapabilitiesSecureBits::NO_ROOT
            | CapabilitiesSecureBits::NO_ROOT_LOCKED
            | CapabilitiesSecureBits::NO_SETUID_FIXUP
            | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
            | CapabilitiesSecureBits::KEEP_CAPS_LOCKED
            | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
            | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED;
        set_capabilities_secure_bits(bits).map_err(failed)?;
        for number in 0..u64::BITS {
            let capability = CapabilitySet::from_bits_retain(1 << number);
            match remove_capability_from_bounding_set(capability) {
                // A capability that this kernel does not know.
                Err(rustix::io::Errno::INVAL) => {}
                removed => removed.map_err(failed)?,
            }
        }
    }
    clear_ambient_capability_set().map_err(failed)?;
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, none).map_err(failed)?;
    set_no_new_privs(true).map_err(|error| SetupError::new("forbid new privileges", error))
}
