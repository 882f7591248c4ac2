//! Tries everything that a contained agent must not be able to do, and prints one line of JSON for each attempt:
//! `{"name": …, "denied": …, "detail": …}`. Run it as the agent would run a command; its argument is a [`Plan`] as JSON.
//!
//! An attempt is denied when the system refused it, whatever the error: a file that does not exist is as good as one that cannot
//! be opened. A name that begins with `~` is reported and not judged: it may change a private copy, so the test looks at the
//! real file afterwards.

#![expect(
    unsafe_code,
    reason = "it makes system calls that nothing wraps, to see them refused"
)]

use std::{
    ffi::CString,
    fs,
    io::{self, Read, Write},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket},
    os::{
        fd::{AsRawFd, FromRawFd, OwnedFd},
        linux::net::SocketAddrExt,
        unix::{ffi::OsStrExt, net::UnixStream},
    },
    path::{Path, PathBuf},
    time::Duration,
};

use serde::Deserialize;
use serde_json::json;

/// What is to be tried, as far as it depends on the test.
#[derive(Deserialize)]
struct Plan {
    /// Files that must not be readable.
    #[serde(default)]
    secrets: Vec<PathBuf>,
    /// Directories that must not be listable, or be empty.
    #[serde(default)]
    private_dirs: Vec<PathBuf>,
    /// Unix sockets that must not answer.
    #[serde(default)]
    sockets: Vec<PathBuf>,
    /// An abstract Unix socket that must not answer.
    abstract_socket: Option<String>,
    /// Files that must not change; the test looks at them afterwards.
    #[serde(default)]
    untouchable: Vec<PathBuf>,
    /// Processes outside that must be neither visible nor signalled.
    #[serde(default)]
    processes: Vec<u32>,
    /// What of these processes must not be readable.
    #[serde(default)]
    process_files: Vec<String>,
    /// Addresses that must not be reachable, by TCP and UDP.
    #[serde(default)]
    addresses: Vec<SocketAddr>,
    /// What the proxy must refuse: targets of CONNECT, and whole requests.
    #[serde(default)]
    proxied: Vec<String>,
    /// Families of sockets that must not be available.
    #[serde(default)]
    socket_families: Vec<i32>,
}

/// The proxy of an agent that has a network of its own.
const PROXY: (&str, u16) = ("127.0.0.1", 3128);

/// How long an address may take to answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(2);

#[expect(clippy::print_stdout, reason = "printing is all that it does")]
fn main() {
    let plan = std::env::args().nth(1).unwrap_or_default();
    let plan: Plan = serde_json::from_str(&plan).expect("the argument is a plan");
    for (name, outcome) in files(&plan)
        .into_iter()
        .chain(processes(&plan))
        .chain(network(&plan))
        .chain(kernel())
    {
        let (denied, detail) = match outcome {
            Ok(detail) => (false, detail),
            Err(error) => (true, error.to_string()),
        };
        println!(
            "{}",
            json!({"name": name, "denied": denied, "detail": detail})
        );
    }
}

type Attempts = Vec<(String, io::Result<String>)>;

fn files(plan: &Plan) -> Attempts {
    let mut attempts = Attempts::new();
    for path in &plan.secrets {
        attempts.push((format!("read {}", path.display()), read(path)));
    }
    for path in &plan.private_dirs {
        attempts.push((format!("list {}", path.display()), list(path)));
    }
    for path in &plan.sockets {
        let connected = UnixStream::connect(path).and_then(|mut stream| {
            stream.write_all(b"GET /api/v1/keys HTTP/1.1\r\nHost: localhost\r\n\r\n")?;
            Ok("connected".to_owned())
        });
        attempts.push((format!("connect to {}", path.display()), connected));
    }
    if let Some(name) = &plan.abstract_socket {
        let address = std::os::unix::net::SocketAddr::from_abstract_name(name);
        let connected = address.and_then(|address| UnixStream::connect_addr(&address));
        attempts.push((
            "connect to an abstract socket".to_owned(),
            connected.map(|_| String::new()),
        ));
    }
    for path in &plan.untouchable {
        attempts.extend(changes(path));
    }
    for path in [
        "/etc/wheelhouse-probe",
        "/usr/bin/wheelhouse-probe",
        "/wheelhouse-probe",
        "/var/lib/wheelhouse-probe",
    ] {
        attempts.push((format!("create {path}"), create(Path::new(path))));
    }
    for path in [
        "/proc/sys/kernel/core_pattern",
        "/proc/sysrq-trigger",
        "/sys/kernel/uevent_helper",
        "/sys/fs/cgroup/cgroup.procs",
    ] {
        let opened = fs::OpenOptions::new().write(true).open(path);
        attempts.push((format!("write {path}"), opened.map(|_| String::new())));
    }
    for dir in own_cgroups() {
        for name in ["cgroup.procs", "cgroup.kill", "memory.max", "pids.max"] {
            let path = dir.join(name);
            let opened = fs::OpenOptions::new().write(true).open(&path);
            attempts.push((
                format!("write {}", path.display()),
                opened.map(|_| String::new()),
            ));
        }
        let below = dir.join("wheelhouse-probe");
        let created = fs::create_dir(&below).map(|()| String::new());
        // The machine's, where nothing contains this program.
        fs::remove_dir(&below).ok();
        attempts.push((format!("create {}", below.display()), created));
    }
    attempts.push(("open a disk".to_owned(), open_disk()));
    attempts.push(("make a device".to_owned(), make_device()));
    attempts
}

/// Tries every way to put something else in the place of a file. What works in a private copy is seen by the test, not here.
fn changes(path: &Path) -> Attempts {
    let shown = path.display();
    let beside = path.with_extension("probe");
    let append = || -> io::Result<String> {
        let mut file = fs::OpenOptions::new().append(true).open(path)?;
        file.write_all(b"\n# planted\n")?;
        Ok(String::new())
    };
    vec![
        (format!("~append to {shown}"), append()),
        (
            format!("~replace {shown}"),
            fs::write(&beside, "planted")
                .and_then(|()| fs::rename(&beside, path))
                .map(|()| String::new()),
        ),
        (
            format!("~remove {shown}"),
            fs::remove_file(path)
                .or_else(|_| fs::remove_dir_all(path))
                .map(|()| String::new()),
        ),
        (
            format!("~create {shown}"),
            fs::write(path, "planted").map(|()| String::new()),
        ),
    ]
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = Vec::new();
    fs::File::open(path)?.take(64).read_to_end(&mut text)?;
    match text.is_empty() {
        true => Err(io::Error::other("it is empty")),
        false => Ok(String::from_utf8_lossy(&text).into_owned()),
    }
}

fn list(path: &Path) -> io::Result<String> {
    let names: Vec<_> = fs::read_dir(path)?
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    match names.is_empty() {
        true => Err(io::Error::other("it is empty")),
        false => Ok(names.join(" ")),
    }
}

fn create(path: &Path) -> io::Result<String> {
    fs::write(path, "planted")?;
    fs::remove_file(path)?;
    Ok(String::new())
}

/// Opens the first block device that the kernel knows, by every name it may have.
fn open_disk() -> io::Result<String> {
    let disks = fs::read_dir("/sys/class/block")?.flatten();
    let mut last = io::Error::other("the kernel shows none");
    for disk in disks {
        match fs::File::open(Path::new("/dev").join(disk.file_name())) {
            Ok(_) => return Ok(disk.file_name().to_string_lossy().into_owned()),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn make_device() -> io::Result<String> {
    let path = CString::new("/tmp/wheelhouse-probe-device")?;
    // SAFETY: the path is a C string.
    call(|| {
        unsafe { libc::mknod(path.as_ptr(), libc::S_IFBLK | 0o600, libc::makedev(8, 0)) }.into()
    })
}

fn processes(plan: &Plan) -> Attempts {
    let mut attempts = Attempts::new();
    for pid in &plan.processes {
        for file in &plan.process_files {
            let path = PathBuf::from(format!("/proc/{pid}/{file}"));
            let found = if file.ends_with("/.") {
                list(&path)
            } else {
                read(&path)
            };
            attempts.push((format!("read /proc of process {pid}: {file}"), found));
        }
        let signalled = call(|| unsafe { libc::kill(pid.cast_signed(), libc::SIGURG) }.into());
        attempts.push((format!("signal process {pid}"), signalled));
    }
    attempts
}

fn network(plan: &Plan) -> Attempts {
    let mut attempts = Attempts::new();
    for address in &plan.addresses {
        let connected = TcpStream::connect_timeout(address, ANSWER_WITHIN);
        let connected = connected.map(|_| "connected".to_owned());
        attempts.push((format!("connect to {address}"), connected));
        attempts.push((format!("send a datagram to {address}"), datagram(*address)));
    }
    for target in &plan.proxied {
        let name = format!("have the proxy connect to {}", target.escape_debug());
        attempts.push((name, ask_proxy(target)));
    }
    for family in &plan.socket_families {
        // SAFETY: the call takes numbers only; a descriptor that it returns stays open until this process ends.
        let opened = call(|| unsafe { libc::socket(*family, libc::SOCK_STREAM, 0) }.into());
        attempts.push((format!("open a socket of family {family}"), opened));
    }
    attempts
}

fn datagram(address: SocketAddr) -> io::Result<String> {
    let from: IpAddr = match address {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((from, 0))?;
    socket.connect(address)?;
    socket.send(b"probe")?;
    // Nobody listens at a closed port of this machine, which comes back as an error of the next call.
    socket.set_read_timeout(Some(Duration::from_millis(200)))?;
    match socket.recv(&mut [0]) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Err(error),
        _ => Ok("sent".to_owned()),
    }
}

fn ask_proxy(target: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(PROXY)?;
    stream.set_read_timeout(Some(ANSWER_WITHIN))?;
    write!(
        stream,
        "CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n"
    )?;
    let mut answer = [0; 512];
    let length = stream.read(&mut answer)?;
    let answer = String::from_utf8_lossy(&answer[..length]).into_owned();
    match answer.starts_with("HTTP/1.1 200") {
        true => Ok(answer),
        false => Err(io::Error::other(answer)),
    }
}

/// Calls of the kernel that no agent needs.
fn kernel() -> Attempts {
    let nothing = std::ptr::null::<libc::c_void>();
    let tmp = CString::new("/tmp").expect("no NUL");
    let tmpfs = CString::new("tmpfs").expect("no NUL");
    let proc = CString::new("/proc").expect("no NUL");
    let mut attempts = Attempts::new();
    let mut attempt =
        |name: &str, outcome: io::Result<String>| attempts.push((name.to_owned(), outcome));
    // SAFETY: every call below gets null pointers, C strings that outlive it, or zeroed buffers of the size it expects; each is
    // expected to be refused.
    unsafe {
        attempt(
            "ptrace",
            call(|| libc::syscall(libc::SYS_ptrace, libc::PTRACE_SEIZE, 1, 0, 0)),
        );
        attempt(
            "mount",
            call(|| libc::mount(tmpfs.as_ptr(), tmp.as_ptr(), tmpfs.as_ptr(), 0, nothing).into()),
        );
        attempt(
            "unmount /proc",
            call(|| libc::umount2(proc.as_ptr(), libc::MNT_DETACH).into()),
        );
        attempt("chroot", call(|| libc::chroot(tmp.as_ptr()).into()));
        for (name, flag) in [
            ("user", libc::CLONE_NEWUSER),
            ("mount", libc::CLONE_NEWNS),
            ("PID", libc::CLONE_NEWPID),
            ("network", libc::CLONE_NEWNET),
        ] {
            attempt(
                &format!("unshare the {name} namespace"),
                call(|| libc::unshare(flag).into()),
            );
        }
        let flags = [
            libc::CLONE_NEWUSER.cast_unsigned().into(),
            0,
            0,
            0,
            17_u64,
            0,
            0,
            0,
        ];
        attempt("clone3 with a user namespace", clone3(&flags));
        attempt("bpf", call(|| libc::syscall(libc::SYS_bpf, 0, nothing, 0)));
        attempt("keyctl", call(|| libc::syscall(libc::SYS_keyctl, 0, -3, 0)));
        attempt(
            "io_uring",
            call(|| libc::syscall(libc::SYS_io_uring_setup, 1, [0_u8; 120].as_mut_ptr())),
        );
        attempt(
            "perf_event_open",
            call(|| {
                libc::syscall(
                    libc::SYS_perf_event_open,
                    [0_u8; 128].as_ptr(),
                    0,
                    -1,
                    -1,
                    0,
                )
            }),
        );
        attempt(
            "userfaultfd",
            call(|| libc::syscall(libc::SYS_userfaultfd, 1)),
        );
        attempt(
            "setns",
            own_namespace().and_then(|fd| call(|| libc::setns(fd.as_raw_fd(), 0).into())),
        );
        attempt(
            "become root",
            call(|| libc::setuid(0).into()).and_then(has_privileges),
        );
        attempt("open a file by its handle", open_by_handle());
        attempt(
            "read another process's memory",
            call(|| libc::syscall(libc::SYS_process_vm_readv, 1, nothing, 0, nothing, 0, 0)),
        );
    }
    attempt(
        "have capabilities",
        status("CapEff").and_then(|value| nonzero(&value)),
    );
    attempt(
        "gain capabilities",
        status("CapBnd")
            .and_then(|value| nonzero(&value))
            .and_then(|_| status("NoNewPrivs"))
            .and_then(|value| match value.as_str() {
                "1" => Err(io::Error::other("no new privileges")),
                _ => Ok(value),
            }),
    );
    attempt("dump core", core_limit());
    attempts
}

fn call(it: impl FnOnce() -> libc::c_long) -> io::Result<String> {
    match it() {
        -1 => Err(io::Error::last_os_error()),
        value => Ok(value.to_string()),
    }
}

/// Forks into a new user namespace; the child ends at once.
fn clone3(arguments: &[u64; 8]) -> io::Result<String> {
    // SAFETY: the arguments ask for a plain copy of this process, and are of the size given.
    let child =
        unsafe { libc::syscall(libc::SYS_clone3, arguments.as_ptr(), size_of_val(arguments)) };
    if child == 0 {
        std::process::exit(0);
    }
    call(|| child)
}

/// Root stays root; what counts is whether that means anything.
fn has_privileges(_: String) -> io::Result<String> {
    status("CapEff").and_then(|value| nonzero(&value))
}

fn own_namespace() -> io::Result<OwnedFd> {
    Ok(fs::File::open("/proc/self/ns/mnt")?.into())
}

/// Asks for the handle of a file and opens it, as one who guesses inodes would.
fn open_by_handle() -> io::Result<String> {
    let path = CString::new(Path::new("/etc/hostname").as_os_str().as_bytes())?;
    let mut handle = [0_u8; 136];
    handle[0] = 128;
    let mut mount_id = 0_i32;
    // SAFETY: the buffer begins with the size of its rest, as the call expects.
    call(|| unsafe {
        libc::syscall(
            libc::SYS_name_to_handle_at,
            libc::AT_FDCWD,
            path.as_ptr(),
            handle.as_mut_ptr(),
            &raw mut mount_id,
            0,
        )
    })?;
    let root = fs::File::open("/")?;
    // SAFETY: the handle was filled in by the call above.
    let fd = call(|| unsafe {
        libc::syscall(
            libc::SYS_open_by_handle_at,
            root.as_raw_fd(),
            handle.as_ptr(),
            libc::O_RDONLY,
        )
    })?;
    // SAFETY: the call returned a new descriptor.
    drop(unsafe { OwnedFd::from_raw_fd(fd.parse().map_err(io::Error::other)?) });
    Ok(String::new())
}

fn status(field: &str) -> io::Result<String> {
    let text = fs::read_to_string("/proc/self/status")?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    line.map(|value| value.trim().to_owned())
        .ok_or_else(|| io::Error::other("not told"))
}

fn nonzero(value: &str) -> io::Result<String> {
    match value.bytes().all(|digit| digit == b'0') {
        true => Err(io::Error::other("none")),
        false => Ok(value.to_owned()),
    }
}

fn core_limit() -> io::Result<String> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the struct is ours and of the type that the call fills.
    call(|| unsafe { libc::getrlimit(libc::RLIMIT_CORE, &raw mut limit) }.into())?;
    match limit.rlim_max {
        0 => Err(io::Error::other("the limit is 0")),
        max => Ok(max.to_string()),
    }
}

/// Returns where this process's own cgroup v2 is visible, in every layout in which the hierarchy is mounted.
fn own_cgroups() -> Vec<PathBuf> {
    let table = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let own = table.lines().find_map(|line| line.strip_prefix("0::/"));
    let own = own.unwrap_or_default();
    let mounts = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].map(Path::new);
    let dirs = mounts.map(|mount| mount.join(own));
    dirs.into_iter().collect()
}
