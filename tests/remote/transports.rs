//! Real transports: `git daemon`, `git http-backend` behind a small server, sshd on loopback, and a
//! network that is cut.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::{bare, contents, head, home_with_host, ok, on, path, refused, verified};
use crate::readme::check_page;
use crate::support::{Home, every, has_peer, stderr, stdout};

/// A server that ends with the test.
pub(super) struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// A port that is free now.
pub(super) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

fn serve(mut command: Command, port: u16) -> Server {
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let server = Server(child.spawn().expect("starts"));
    let begun = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "the server does not answer"
        );
        thread::sleep(Duration::from_millis(20));
    }
    server
}

pub(super) fn daemon(base: &Path, port: u16) -> Server {
    // `git daemon` would go on after the `git` that began it.
    let programs = Command::new("git").arg("--exec-path").output();
    let programs = ok(&programs.expect("git runs"));
    let mut daemon = Command::new(Path::new(programs.trim()).join("git-daemon"));
    daemon.args(["--reuseaddr", "--export-all", "--enable=receive-pack"]);
    daemon
        .arg("--listen=127.0.0.1")
        .arg(format!("--port={port}"));
    daemon
        .arg(format!("--base-path={}", path(base)))
        .env("GIT_CONFIG_GLOBAL", "/dev/null");
    serve(daemon, port)
}

/// The whole story over one transport.
fn story(home: &Home, url: &str) {
    ok(&home.run(&["remote", "add", "host", url]));
    ok(&home.run(&["push", "host"]));
    ok(&home.run(&["keys", "backup", "keys.age"]));
    ok(&home.run(&["clone", url, "copy", "--keys", "keys.age"]));
    ok(&home.run(&["clone", url, "sealed"]));
    ok(&on(home, "copy", &["create", "c.md", "--text", "three\n"]));
    ok(&on(home, "copy", &["push"]));
    ok(&on(home, "sealed", &["pull"]));
    ok(&on(home, "copy", &["keys", "backup", "newer.age"]));
    ok(&home.run(&["pull", "host", "--keys", "newer.age"]));
    assert_eq!(
        refused(&home.run(&["push", "nobody", "--json"])).1,
        "no_remote"
    );
    for copy in ["copy", "sealed"] {
        assert_eq!(head(&home.path().join(copy)), head(&home.store()));
    }
    assert_eq!(verified(home, "store"), Some(0));
    assert_eq!(verified(home, "copy"), Some(0));
    assert_eq!(verified(home, "sealed"), Some(3));
    machines(home, url);
}

/// A second machine and an auditor's, each in a home of its own, and an erasure that reaches both.
fn machines(owner: &Home, url: &str) {
    ok(&owner.run(&["sync", "host"]));
    let asks = |name: &str, role: &str, more: &[&str]| {
        let machine = Home::empty();
        // How a host is reached is in the user's own settings.
        let settings = owner.path().join(".gitconfig");
        if settings.exists() {
            fs::copy(settings, machine.path().join(".gitconfig")).expect("copied");
        }
        let store = machine.store();
        let clone = ["clone", url, path(&store), "--name", name, "--json"];
        let cloned = ok(&machine.run(&[&clone[..], more].concat()));
        let cloned: serde_json::Value = serde_json::from_str(&cloned).expect("JSON");
        let code = cloned["code"].as_str().expect("a code");
        let add = ["replicas", "add", name, "--code", code, "--role", role];
        ok(&owner.run(&[&add[..], &["--remote", "host"]].concat()));
        ok(&machine.run(&["sync"]));
        machine
    };
    let ci = asks("ci", "reader", &[]);
    let olga = asks("olga", "auditor", &["--audit"]);
    ok(&ci.run(&["sync"]));
    assert!(ok(&ci.run(&["view", "c.md"])).contains("three"));
    ok(&ci.run(&["create", "ci.md", "--text", "of ci"]));
    ok(&ci.run(&["sync"]));
    ok(&owner.run(&["sync", "host"]));
    assert!(ok(&owner.run(&["view", "ci.md"])).contains("of ci"));
    ok(&owner.run(&["erase", "ci.md", "--yes", "--reason", "x"]));
    ok(&owner.run(&["sync", "host"]));
    for machine in [&ci, &olga] {
        ok(&machine.run(&["sync"]));
    }
    ok(&owner.run(&["sync", "host"]));
    let receipt = ok(&owner.run(&["receipt", "show"]));
    assert_eq!(receipt.matches("destroyed by").count(), 2, "{receipt}");
    assert_eq!(
        refused(&ci.run(&["view", "ci.md", "--at", "HEAD~2", "--json"])).0,
        Some(4)
    );
    assert!(ok(&olga.run(&["log", "-n", "1"])).contains("erase"));
}

#[test]
fn by_git_daemon() {
    let (home, _) = home_with_host();
    let port = free_port();
    let server = daemon(home.path(), port);
    story(&home, &format!("git://127.0.0.1:{port}/host.git"));
    drop(server);
    for (waits, verb) in [(0, "push"), (1, "sync"), (2, "push")] {
        let away = home.run(&[verb, "host", "--json"]);
        assert_eq!(refused(&away), (Some(16), "unreachable".into()));
        let told = stderr(&away);
        let said = match waits {
            0 => !told.contains("here for it"),
            1 => told.contains("1 event waits here for it"),
            _ => told.contains("2 events wait here for it"),
        };
        assert!(said, "{waits}: {told}");
        ok(&home.run(&["create", &format!("{waits}.md"), "--text", "goes on\n"]));
    }
}

/// `git http-backend` behind Python's server for CGI programs, as small as it can be. With a certificate it
/// speaks TLS, and asks for a password.
const HTTP: &str = r"
import base64, http.server, os, ssl, subprocess, sys
certificate = sys.argv[3] if len(sys.argv) > 3 else None
wanted = 'Basic ' + base64.b64encode(b'agent:' + os.environb.get(b'PASSWORD', b'')).decode()
class Handler(http.server.BaseHTTPRequestHandler):
    def do(self):
        if certificate and self.headers.get('Authorization') != wanted:
            self.send_response(401); self.send_header('WWW-Authenticate', 'Basic realm=git')
            self.send_header('Content-Length', '0'); return self.end_headers()
        path, _, query = self.path.partition('?')
        body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
        if self.headers.get('Transfer-Encoding') == 'chunked':
            while True:
                size = int(self.rfile.readline(), 16)
                piece = self.rfile.read(size); self.rfile.readline()
                if not size: break
                body += piece
        env = dict(os.environ, GIT_PROJECT_ROOT=sys.argv[2], GIT_HTTP_EXPORT_ALL='1', PATH_INFO=path,
                   QUERY_STRING=query, REQUEST_METHOD=self.command, REMOTE_USER='x',
                   CONTENT_TYPE=self.headers.get('Content-Type') or '', CONTENT_LENGTH=str(len(body)),
                   HTTP_CONTENT_ENCODING=self.headers.get('Content-Encoding') or '',
                   GIT_PROTOCOL=self.headers.get('Git-Protocol') or '')
        out = subprocess.run(['git', 'http-backend'], input=body, stdout=subprocess.PIPE, env=env).stdout
        head, _, rest = out.partition(b'\r\n\r\n')
        fields = [line.split(': ', 1) for line in head.decode().split('\r\n')]
        status = next((int(v.split()[0]) for k, v in fields if k == 'Status'), 200)
        self.send_response(status)
        for k, v in fields:
            if k != 'Status': self.send_header(k, v)
        self.send_header('Content-Length', str(len(rest))); self.end_headers(); self.wfile.write(rest)
    do_GET = do_POST = do
server = http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Handler)
if certificate:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER); context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
";

/// Starts a server for the repositories in a home's folder.
fn http_server(home: &Home, certificate: Option<&Path>) -> (Server, u16) {
    ok(&crate::support::git(
        &home.path().join("host.git"),
        &["config", "http.receivepack", "true"],
    ));
    let port = free_port();
    let mut python = Command::new("python3");
    python
        .args(["-c", HTTP, &port.to_string()])
        .arg(home.path())
        .args(certificate)
        .env("PASSWORD", PASSWORD);
    (serve(python, port), port)
}

const PASSWORD: &str = "tr0ub4dor";

#[test]
fn by_http() {
    if !has_peer("python3", "a host is reached by HTTP") {
        return;
    }
    let (home, _) = home_with_host();
    let (_server, port) = http_server(&home, None);
    let url = format!("http://127.0.0.1:{port}/host.git");
    ok(&home.run(&["remote", "add", "host", &url]));
    ok(&home.run(&["push", "host"]));
    ok(&home.run(&["clone", &url, "sealed"]));
    assert_eq!(verified(&home, "sealed"), Some(3));
    let none = url.replace("host.git", "nothing.git");
    let none = home.run(&["clone", &none, "made", "--json"]);
    assert_eq!(refused(&none), (Some(16), "unreachable".into()));
}

/// With a certificate, and a password that git gets from the user's own helper.
#[test]
fn by_https() {
    if !has_peer("python3", "a host is reached by HTTPS")
        || !has_peer("openssl", "a host is reached by HTTPS")
    {
        return;
    }
    let (home, _) = home_with_host();
    let certificate = home.path().join("certificate.pem");
    let mut openssl = Command::new("openssl");
    openssl
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
        ])
        .args(["-nodes", "-days", "2", "-subj", "/CN=localhost"])
        .args(["-addext", "subjectAltName=IP:127.0.0.1"]);
    openssl.arg("-keyout").arg(&certificate).arg("-out");
    ok(&openssl
        .arg(home.path().join("public.pem"))
        .output()
        .expect("runs"));
    let public = fs::read_to_string(home.path().join("public.pem")).expect("read");
    let key = fs::read_to_string(&certificate).expect("read");
    fs::write(&certificate, key + &public).expect("written");
    let (_server, port) = http_server(&home, Some(&certificate));
    let url = format!("https://127.0.0.1:{port}/host.git");
    // Else git reads all authorities of this machine too, for a tenth of a second each time.
    let others = home.path().join("no-authorities");
    fs::create_dir(&others).expect("made");
    let settings = |password: &str, authority: &str| {
        let text = format!(
            "[http]\n\tsslCAInfo = {}\n\tsslCAPath = {}\n[credential]\n\thelper = \"!f() {{ echo \
             username=agent; echo password={password}; }}; f\"\n",
            path(&home.path().join(authority)),
            path(&others),
        );
        fs::write(home.path().join(".gitconfig"), text).expect("written");
    };
    settings(PASSWORD, "public.pem");
    story(&home, &url);
    let away = |why: &str| {
        let away = home.run(&["sync", "host", "--json"]);
        assert_eq!(refused(&away), (Some(16), "unreachable".into()));
        let told = stderr(&away);
        assert!(told.contains(why) && !told.contains(PASSWORD), "{told}");
    };
    settings("other", "public.pem");
    away("Authentication failed");
    // Somebody else's certificate.
    fs::write(home.path().join("none.pem"), "").expect("written");
    settings(PASSWORD, "none.pem");
    away("certificate");
}

/// sshd on loopback, for one key.
struct Sshd {
    _server: Server,
    /// Everything before the path of a URL.
    host: String,
    /// How ssh is started, so that it uses that key.
    ssh: String,
    authorized: PathBuf,
}

impl Sshd {
    /// Starts it with files of its own in a new folder; `None` where there is none.
    fn start(folder: &Path) -> Option<Self> {
        let sshd = "/usr/sbin/sshd";
        if !has_peer(sshd, "a host is reached by ssh")
            || !has_peer("ssh", "a host is reached by ssh")
        {
            return None;
        }
        fs::create_dir(folder).expect("made");
        for key in ["host", "user"] {
            let mut keygen = Command::new("ssh-keygen");
            keygen.args(["-q", "-t", "ed25519", "-N", "", "-f"]);
            ok(&keygen.arg(folder.join(key)).output().expect("runs"));
        }
        let authorized = folder.join("authorized");
        fs::copy(folder.join("user.pub"), &authorized).expect("copied");
        let port = free_port();
        let config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\n\
             StrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin yes\n\
             SetEnv HOME={}\n",
            path(&folder.join("host")),
            path(&authorized),
            // The shell that sshd starts reads the account's own files, and those may do anything.
            path(folder),
        );
        fs::write(folder.join("config"), config).expect("written");
        // sshd wants its folder for separating privileges.
        drop(fs::create_dir_all("/run/sshd"));
        let mut server = Command::new(sshd);
        server.args(["-D", "-e", "-f"]).arg(folder.join("config"));
        let user = Command::new("id").arg("-un").output().expect("runs");
        // The usual exchange of keys takes a tenth of a second of both ends, and there are dozens of them.
        let ssh = format!(
            "ssh -i {} -o IdentitiesOnly=yes -o StrictHostKeyChecking=accept-new \
             -o UserKnownHostsFile={} -F /dev/null -o KexAlgorithms=curve25519-sha256",
            path(&folder.join("user")),
            path(&folder.join("known")),
        );
        Some(Self {
            _server: serve(server, port),
            host: format!("ssh://{}@127.0.0.1:{port}", stdout(&user).trim()),
            ssh,
            authorized,
        })
    }
}

#[test]
fn by_ssh() {
    let (home, host) = home_with_host();
    let Some(sshd) = Sshd::start(&home.path().join("ssh")) else {
        return;
    };
    // The user's own settings say how a host is reached.
    let settings = format!("[core]\n\tsshCommand = {}\n", sshd.ssh);
    fs::write(home.path().join(".gitconfig"), settings).expect("written");
    story(&home, &format!("{}{}", sshd.host, path(&host)));
    // A stranger's key is refused, in the host's words.
    fs::write(&sshd.authorized, "").expect("written");
    let refusal = home.run(&["push", "host", "--json"]);
    assert_eq!(refused(&refusal), (Some(16), "unreachable".into()));
    assert!(
        stderr(&refusal).contains("Permission denied"),
        "{}",
        stderr(&refusal)
    );
}

/// What the docs tell a reader to do for a copy off site, a second machine and an auditor's, with a host that
/// three homes reach by ssh.
#[test]
fn the_page_on_copies_by_ssh() {
    let home = Home::empty();
    let Some(sshd) = Sshd::start(&home.path().join("ssh")) else {
        return;
    };
    let url = format!("{}{}/host.git", sshd.host, path(home.path()));
    let by_ssh = |script: &str| {
        let script = script.replace("add off-site host.git", &format!("add off-site {url}"));
        script.replace("agekeep clone host.git", &format!("agekeep clone {url}"))
    };
    let (page, ssh) = (
        "docs/backup-and-restore.md",
        ("GIT_SSH_COMMAND", &*sshd.ssh),
    );
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page));
    let there = by_ssh(&text.expect("the page")).matches(&url).count();
    assert_eq!(there, 6, "the page names its host otherwise now");
    check_page(page, &home, &[ssh], by_ssh);
}

/// Passes on what two ends say to each other, and cuts the line after so many bytes from the host.
fn cutting_proxy(to: u16, bytes: usize) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        // The look at the branch passes whole: the transfer after it is cut.
        for (connection, client) in listener.incoming().enumerate() {
            let Ok(client) = client else { return };
            let server = TcpStream::connect(("127.0.0.1", to)).expect("the host");
            let (mut from, mut into) = (
                client.try_clone().expect("a stream"),
                server.try_clone().expect("a stream"),
            );
            thread::spawn(move || {
                let _ = std::io::copy(&mut from, &mut into);
                let _ = into.shutdown(Shutdown::Write);
            });
            thread::spawn(move || {
                let (mut server, mut client, mut passed) = (server, client, 0);
                let mut piece = [0; 512];
                while let Ok(count @ 1..) = server.read(&mut piece) {
                    passed += count;
                    if connection > 0 && passed > bytes {
                        break;
                    }
                    if client.write_all(&piece[..count]).is_err() {
                        break;
                    }
                }
                let _ = client.shutdown(Shutdown::Both);
                let _ = server.shutdown(Shutdown::Both);
            });
        }
    });
    port
}

#[test]
fn a_network_that_is_cut_loses_nothing_and_the_next_try_does_the_rest() {
    let home = Home::with_store();
    let host = home.path().join("host.git");
    bare(&host);
    for number in 0..12 {
        // Random text does not compress, so that there is something to cut.
        let text = format!(
            "{:x?}",
            std::array::from_fn::<u64, 64, _>(|at| {
                (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(2 * number + 1))
            })
        );
        ok(&home.run(&["create", &format!("{number}.md"), "--text", &text]));
    }
    let port = free_port();
    let _server = daemon(home.path(), port);
    ok(&home.run(&[
        "remote",
        "add",
        "host",
        &format!("git://127.0.0.1:{port}/host.git"),
    ]));
    let mut cuts = 0;
    for bytes in (0..24_000).step_by(1_600 * every(2)) {
        let proxy = cutting_proxy(port, bytes);
        let url = format!("git://127.0.0.1:{proxy}/host.git");
        ok(&home.run(&["remote", "add", "cut", &url]));
        // A push whose answer is lost: the host may have taken it.
        let push = home.run(&["push", "cut", "--json"]);
        if !push.status.success() {
            cuts += 1;
            assert_eq!(refused(&push), (Some(16), "unreachable".into()), "{bytes}");
        }
        let sync = home.run(&["sync", "cut", "--json"]);
        if !sync.status.success() {
            cuts += 1;
            assert_eq!(refused(&sync), (Some(16), "unreachable".into()), "{bytes}");
        }
        ok(&home.run(&["remote", "rm", "cut"]));
        ok(&home.run(&["sync", "host"]));
        let proxy = cutting_proxy(port, bytes);
        let url = format!("git://127.0.0.1:{proxy}/host.git");
        let clone = home.run(&["clone", &url, "copy", "--json"]);
        let copy = home.path().join("copy");
        if clone.status.success() {
            assert_eq!(verified(&home, "copy"), Some(3));
            fs::remove_dir_all(&copy).expect("removes");
        } else {
            cuts += 1;
            assert_eq!(refused(&clone), (Some(16), "unreachable".into()), "{bytes}");
            assert!(!copy.exists());
        }
        ok(&home.run(&["create", &format!("more-{bytes}.md"), "--text", "x"]));
    }
    assert!(cuts > 4, "{cuts}");
    ok(&home.run(&["push", "host"]));
    assert_eq!(head(&host), head(&home.store()));
    assert_eq!(verified(&home, "store"), Some(0));
    let left = contents(&home.store());
    assert!(!left.iter().any(|name| name.contains("init-")), "{left:?}");
}
