//! Finds out which mechanisms work on this machine, by trying them in a process that does nothing else.

use std::{io, path::Path};

use super::{
    SetupError, enter,
    spec::{Home, Mechanism, Root, Sandbox},
};

/// The lowest Landlock ABI that can carry a sandbox alone: older ones do not restrict truncation.
const LANDLOCK_ABI_MIN: i32 = 3;

/// Which mechanisms work here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Support {
    pub namespaces: Result<(), Unsupported>,
    /// Whether a built root and a network of its own work, beside namespaces.
    pub strict: Result<(), Unsupported>,
    /// The kernel's Landlock ABI; 0 when it has none or it is turned off.
    pub landlock_abi: i32,
}

/// Why something does not work here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// What failed.
    pub reason: String,
    /// What an administrator can do about it.
    pub remedy: String,
}

impl Support {
    /// Returns the better mechanism of those that work.
    pub fn best(&self) -> Option<Mechanism> {
        if self.namespaces.is_ok() {
            Some(Mechanism::Namespaces)
        } else if self.landlock_abi >= LANDLOCK_ABI_MIN {
            Some(Mechanism::Landlock)
        } else {
            None
        }
    }
}

/// Tries every mechanism. `scratch` is a directory on the file system that the sessions' homes will be on; it is created and
/// removed again.
pub fn probe(scratch: &Path) -> Support {
    Support {
        namespaces: try_root(scratch, Root::Whole),
        strict: try_root(scratch, Root::Built),
        landlock_abi: landlock_abi(),
    }
}

fn try_root(scratch: &Path, root: Root) -> Result<(), Unsupported> {
    let kind = match root {
        Root::Whole => "whole",
        Root::Built => "built",
    };
    let tried = std::fs::create_dir_all(scratch).and_then(|()| {
        let scratch = std::path::absolute(scratch)?;
        let mut command = crate::process::self_command();
        command
            .args(["probe-sandbox".as_ref(), scratch.as_os_str()])
            .arg(kind)
            // Entering a sandbox returns to the working directory, and that of the server need not exist in a built root.
            .current_dir("/")
            .output()
    });
    // Nothing of value is in it, and what stays does no harm.
    std::fs::remove_dir_all(scratch).ok();
    let failed = match tried {
        Ok(output) if output.status.success() => return Ok(()),
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        Err(error) => error.to_string(),
    };
    Err(Unsupported {
        reason: failed,
        remedy: remedy(&Machine::read()),
    })
}

/// Is the process that tries: builds a sandbox around itself in namespaces that are already made.
pub fn probe_child(scratch: &Path, root: Root) -> io::Result<()> {
    let dir = |name: &str| {
        let path = scratch.join(name);
        std::fs::create_dir_all(&path).map(|()| path)
    };
    let sandbox = Sandbox {
        mechanism: Mechanism::Namespaces,
        root,
        // Made already, as the other namespaces are.
        network: None,
        hidden: vec![dir("hidden")?],
        readable: Vec::new(),
        writable: vec![dir("work")?],
        git_writable: Vec::new(),
        mapped: Vec::new(),
        read_only: Vec::new(),
        home: Some(Home {
            path: dir("home")?,
            layer: dir("layer")?,
            shared: Vec::new(),
        }),
        tmp: dir("tmp")?,
    };
    enter(&sandbox).map_err(|error: SetupError| io::Error::other(error.to_string()))
}

/// What the machine's settings say about user namespaces.
#[derive(Default)]
struct Machine {
    is_root: bool,
    apparmor_restricts: bool,
    clone_disabled: bool,
    namespaces_max_zero: bool,
}

impl Machine {
    fn read() -> Self {
        let is = |path: &str, value: &str| {
            std::fs::read_to_string(path).is_ok_and(|text| text.trim() == value)
        };
        Self {
            is_root: rustix::process::geteuid().is_root(),
            apparmor_restricts: is(
                "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
                "1",
            ),
            clone_disabled: is("/proc/sys/kernel/unprivileged_userns_clone", "0"),
            namespaces_max_zero: is("/proc/sys/user/max_user_namespaces", "0"),
        }
    }
}

/// Returns what to change so that namespaces can be made, most exact first.
fn remedy(machine: &Machine) -> String {
    let text = match machine {
        Machine {
            namespaces_max_zero: true,
            ..
        } => "run `sysctl -w user.max_user_namespaces=15000` (and put it into /etc/sysctl.d)",
        Machine { is_root: true, .. } => {
            "the container that the server runs in forbids mounts: start it with `--cap-add SYS_ADMIN --security-opt apparmor=unconfined`, \
             or run the server as an ordinary user"
        }
        Machine {
            apparmor_restricts: true,
            ..
        } => {
            "install the AppArmor profile of docs/security.md as /etc/apparmor.d/wheelhouse and run `apparmor_parser -r \
             /etc/apparmor.d/wheelhouse`, or run `sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`"
        }
        Machine {
            clone_disabled: true,
            ..
        } => "run `sysctl -w kernel.unprivileged_userns_clone=1` (and put it into /etc/sysctl.d)",
        _ => {
            "in a systemd unit, remove `RestrictNamespaces=` and `ProtectProc=`; in a container, allow `unshare` and `mount` in its \
             seccomp profile"
        }
    };
    text.to_owned()
}

#[expect(
    unsafe_code,
    reason = "the landlock crate does not tell the ABI without a ruleset"
)]
fn landlock_abi() -> i32 {
    const VERSION: u32 = 1;
    // SAFETY: with this flag the kernel reads no attributes and returns the ABI.
    let abi = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<u8>(),
            0_usize,
            VERSION,
        )
    };
    i32::try_from(abi).unwrap_or(0).max(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remedy_names_what_this_machine_forbids() {
        let user = Machine::default();
        assert!(remedy(&user).contains("RestrictNamespaces"));
        let ubuntu = Machine {
            apparmor_restricts: true,
            ..Machine::default()
        };
        assert!(remedy(&ubuntu).contains("/etc/apparmor.d/wheelhouse"));
        let debian = Machine {
            clone_disabled: true,
            ..Machine::default()
        };
        assert!(remedy(&debian).contains("unprivileged_userns_clone=1"));
        let none = Machine {
            namespaces_max_zero: true,
            is_root: true,
            ..Machine::default()
        };
        assert!(remedy(&none).contains("max_user_namespaces"));
    }

    #[test]
    fn namespaces_are_preferred() {
        let no = || {
            Err(Unsupported {
                reason: "no".to_owned(),
                remedy: String::new(),
            })
        };
        let best = |namespaces: Result<(), Unsupported>, landlock_abi| {
            Support {
                strict: namespaces.clone(),
                namespaces,
                landlock_abi,
            }
            .best()
        };
        assert_eq!(best(Ok(()), 7), Some(Mechanism::Namespaces));
        assert_eq!(best(no(), 4), Some(Mechanism::Landlock));
        assert_eq!(best(no(), 2), None);
    }
}
