//! The system calls that no agent needs and that attacks on the other walls begin with.

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter, sock_filter,
};

use super::{
    SetupError,
    spec::{Mechanism, Sandbox},
};

/// Refused with `EPERM`, whatever the arguments.
const FORBIDDEN: &[i64] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    // Mounts and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    // Files without their paths.
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_fanotify_init,
    // The kernel.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
];

/// Refused with `ENOSYS`, which programs take as "this kernel does not have it" and do without. The flags of `clone3` lie in
/// memory where a filter cannot see them; libraries fall back to `clone`.
const ABSENT: &[i64] = &[
    libc::SYS_clone3,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
];

/// Every flag of `clone` and `unshare` that makes a namespace.
const NAMESPACE_FLAGS: &[i32] = &[
    libc::CLONE_NEWNS,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWCGROUP,
];

/// Pushes characters into a terminal's input.
const TIOCSTI: u64 = 0x5412;
/// Copies and pastes on a Linux console.
const TIOCLINUX: u64 = 0x541c;

/// Numbers from here on belong to the x32 ABI, which the lists above do not cover.
#[cfg(target_arch = "x86_64")]
const X32_SYSCALLS: u32 = 0x4000_0000;

/// Installs the filter for the calling thread and everything that it starts.
pub(super) fn filter(sandbox: &Sandbox) -> Result<(), SetupError> {
    let failed = |error: seccompiler::Error| {
        SetupError::new("filter system calls", std::io::Error::other(error))
    };
    for program in [
        refuse(ABSENT, Vec::new(), libc::ENOSYS),
        refuse(FORBIDDEN, conditional(sandbox), libc::EPERM),
    ] {
        apply_filter(&program.map_err(|error| failed(error.into()))?).map_err(failed)?;
    }
    Ok(())
}

type Rules = Vec<(i64, Vec<SeccompRule>)>;
type Built<T> = Result<T, seccompiler::BackendError>;

fn refuse(
    calls: &[i64],
    conditional: Vec<Built<(i64, Vec<SeccompRule>)>>,
    errno: i32,
) -> Built<BpfProgram> {
    let mut rules: Rules = calls.iter().map(|call| (*call, Vec::new())).collect();
    rules.extend(conditional.into_iter().collect::<Built<Rules>>()?);
    let errno = u32::try_from(errno).unwrap_or_default();
    let filter = SeccompFilter::new(
        rules.into_iter().collect(),
        SeccompAction::Allow,
        SeccompAction::Errno(errno),
        TargetArch::try_from(std::env::consts::ARCH)?,
    )?;
    let mut program: BpfProgram = filter.try_into()?;
    close_x32(&mut program);
    Ok(program)
}

/// Returns the calls that depend on their arguments.
fn conditional(sandbox: &Sandbox) -> Vec<Built<(i64, Vec<SeccompRule>)>> {
    let namespace = |argument: u8| -> Built<Vec<SeccompRule>> {
        let flags = NAMESPACE_FLAGS
            .iter()
            .map(|flag| u64::from(flag.cast_unsigned()));
        flags.map(|flag| has_flag(argument, flag)).collect()
    };
    let mut rules = vec![
        namespace(0).map(|rules| (libc::SYS_clone, rules)),
        namespace(0).map(|rules| (libc::SYS_unshare, rules)),
        [TIOCSTI, TIOCLINUX]
            .into_iter()
            .map(|request| equals(1, request))
            .collect::<Built<_>>()
            .map(|rules| (libc::SYS_ioctl, rules)),
    ];
    if sandbox.mechanism == Mechanism::Landlock {
        // Sockets lie in directories that cannot be hidden here: the server's, the session bus, Docker's.
        let unix = u64::from(libc::AF_UNIX.cast_unsigned());
        rules.push(equals(0, unix).map(|rule| (libc::SYS_socket, vec![rule])));
    }
    if sandbox.network.is_some() {
        // Some families, such as that of virtual machines, do not belong to a network namespace.
        let families = [
            libc::AF_UNIX,
            libc::AF_INET,
            libc::AF_INET6,
            libc::AF_NETLINK,
        ];
        rules.push(none_of(0, &families).map(|rule| (libc::SYS_socket, vec![rule])));
    }
    rules
}

fn has_flag(argument: u8, flag: u64) -> Built<SeccompRule> {
    let condition = SeccompCondition::new(
        argument,
        SeccompCmpArgLen::Qword,
        SeccompCmpOp::MaskedEq(flag),
        flag,
    )?;
    SeccompRule::new(vec![condition])
}

fn equals(argument: u8, value: u64) -> Built<SeccompRule> {
    let condition =
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)?;
    SeccompRule::new(vec![condition])
}

fn none_of(argument: u8, values: &[i32]) -> Built<SeccompRule> {
    let conditions = values.iter().map(|value| {
        let value = u64::from(value.cast_unsigned());
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value)
    });
    SeccompRule::new(conditions.collect::<Built<_>>()?)
}

/// Refuses every call of the x32 ABI, by three instructions in front of the filter.
#[cfg(target_arch = "x86_64")]
fn close_x32(program: &mut BpfProgram) {
    let load_number = sock_filter {
        code: 0x20,
        jt: 0,
        jf: 0,
        k: 0,
    };
    let is_x32 = sock_filter {
        code: 0x35,
        jt: 0,
        jf: 1,
        k: X32_SYSCALLS,
    };
    let absent = u32::try_from(libc::ENOSYS).unwrap_or_default();
    let refuse = sock_filter {
        code: 0x06,
        jt: 0,
        jf: 0,
        k: libc::SECCOMP_RET_ERRNO | absent,
    };
    program.splice(0..0, [load_number, is_x32, refuse]);
}

#[cfg(not(target_arch = "x86_64"))]
fn close_x32(_program: &mut BpfProgram) {}
