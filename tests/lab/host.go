//go:build libvirt_dlopen

package lab

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// host is one host of the lab: the first process of a process namespace, with
// libvirtd and all its machines below it, and private directories under the usual
// names.
type host struct {
	lab    *Lab
	name   string
	number int // from 1
	dir    string

	relay *relay // by which the scheduler reaches the daemon

	mu   sync.Mutex
	init int           // process that is 1 in the namespace; 0: no power
	gone chan struct{} // closed when it has ended
}

// private are the directories that each host has for itself.
var private = map[string]string{
	"etc": "/etc/libvirt", "run": "/run/libvirt", "lib": "/var/lib/libvirt", "log": "/var/log/libvirt",
}

// cached is where libvirtd keeps what it has found out about the QEMUs of the machine. All hosts of
// all labs share it: to find it out takes a start of each QEMU, and libvirtd does it again when a
// QEMU, libvirt itself or the kernel has changed.
const cached = "/var/cache/libvirt"

// cacheDir is the directory that labs mount there; it outlives them.
func cacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil { // there is no home
		dir = os.TempDir()
	}
	dir = filepath.Join(dir, "vjob-lab")
	return dir, errors.Join(os.MkdirAll(dir, 0o755), os.MkdirAll(cached, 0o755))
}

func newHost(l *Lab, number int) *host {
	name := fmt.Sprintf("h%d", number)
	return &host{lab: l, name: name, number: number, dir: l.path(name)}
}

// uri reaches the daemon past the network of the hosts.
func (h *host) uri() string { return "qemu:///system?socket=" + h.relaySocket() }

func (h *host) relaySocket() string { return filepath.Join(h.dir, "relay") }

func (h *host) socket() string { return filepath.Join(h.dir, "run", "libvirt-sock") }

// configure writes what the host finds in its private directories.
func (h *host) configure() error {
	for name, target := range private {
		if err := os.MkdirAll(filepath.Join(h.dir, name), 0o755); err != nil {
			return err
		}
		if err := os.MkdirAll(target, 0o755); err != nil { // to mount on
			return err
		}
	}
	passwd, err := withUser("/etc/passwd", "libvirt-qemu:x:64055:64055::/var/lib/libvirt:/usr/sbin/nologin")
	if err != nil {
		return err
	}
	group, err := withUser("/etc/group", "libvirt-qemu:x:64055:")
	if err != nil {
		return err
	}
	var hosts strings.Builder
	hosts.WriteString("127.0.0.1 localhost\n")
	for n := 1; n <= h.lab.opts.Hosts; n++ {
		fmt.Fprintf(&hosts, "%s h%d\n", address(n), n)
	}
	files := map[string]string{
		"passwd": passwd, "group": group, "hosts": hosts.String(), "boot.sh": h.bootScript(),
		"etc/libvirtd.conf": h.daemonConf(), "etc/qemu.conf": h.qemuConf(),
	}
	if h.lab.opts.Locks {
		files["etc/qemu-lockd.conf"] = fmt.Sprintf("auto_disk_leases = 1\nrequire_lease_for_disks = 0\nfile_lockspace_dir = %q\n",
			h.lab.path("shared", "lockd"))
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(h.dir, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// withUser adds a line to a user database. libvirtd looks up the user that it was
// compiled with before it reads that it shall use another.
func withUser(path, line string) (string, error) {
	text, err := os.ReadFile(path)
	return string(text) + line + "\n", err
}

func (h *host) daemonConf() string {
	return fmt.Sprintf(`listen_tls = 0
listen_tcp = 1
listen_addr = "0.0.0.0"
auth_tcp = "none"
auth_unix_ro = "none"
auth_unix_rw = "none"
host_uuid = "%08d-0000-4000-8000-%012d"
log_outputs = "2:file:/var/log/libvirt/libvirtd.log"
keepalive_interval = 2
keepalive_count = 3
`, h.number, h.number)
}

// quietMonitor keeps libvirt from questions that cost more than all else that a guest of the lab
// does. QEMU reads its monitor byte by byte, six system calls each. Libvirt asks at each start for
// every known property of the processor, some 400 questions, where the older question for all of
// them is one; and at each look for the counters of KVM, which emulated guests have not.
const quietMonitor = `capability_filters = [ "cpu-unavailable-features", "query-stats", "query-stats-schemas" ]`

func (h *host) qemuConf() string {
	conf := fmt.Sprintf(`user = "root"
group = "root"
dynamic_ownership = 0
remember_owner = 0
security_driver = "none"
security_default_confined = 0
namespaces = [ ]
stdio_handler = "file"
migration_address = "0.0.0.0"
migration_host = %q
keepalive_interval = 2
keepalive_count = 3
%s
`, address(h.number), quietMonitor)
	if h.lab.opts.Locks {
		conf += "lock_manager = \"lockd\"\n"
	}
	return conf + h.controllers()
}

const startLocks = "virtlockd -d -p /run/libvirt/virtlockd.pid"

// startDaemon is a shell command. GLib's own allocator has mutexes that a fork
// leaves locked, as has more of it: see preload/forklock.c.
func (h *host) startDaemon() string {
	return "G_SLICE=always-malloc LD_PRELOAD=" + h.lab.path(forkLock) +
		" libvirtd --listen -d -p /run/libvirt/libvirtd.pid -f /etc/libvirt/libvirtd.conf"
}

// bootScript is process 1 of the host. It must reap: a QEMU that stays a zombie
// takes libvirt more than a minute to destroy.
func (h *host) bootScript() string {
	var script strings.Builder
	script.WriteString("set -e\nPATH=/usr/sbin:/usr/bin:/sbin:/bin\nmount --make-rprivate /\nhostname " + h.name + "\n")
	for name, target := range private {
		fmt.Fprintf(&script, "mount --bind %s/%s %s\n", h.dir, name, target)
	}
	fmt.Fprintf(&script, "mount --bind %s %s\n", h.lab.cache, cached)
	for _, name := range []string{"passwd", "group", "hosts"} {
		fmt.Fprintf(&script, "mount --bind %s/%s /etc/%s\n", h.dir, name, name)
	}
	script.WriteString(h.mountGroups())
	if h.lab.opts.Locks {
		script.WriteString(startLocks + "\n")
	}
	script.WriteString(h.startDaemon() + "\nwhile :; do sleep 3600 & wait; done\n")
	return script.String()
}

// powerOn boots the host. A host that was cut off from power finds its old files,
// but for what it had in /run: libvirtd would take machines of before for running,
// and kill whatever has their process numbers now.
func (h *host) powerOn() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.init != 0 {
		return fmt.Errorf("%s has power", h.name)
	}
	log, err := os.OpenFile(filepath.Join(h.dir, "boot.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close() //nolint:errcheck // the child has its own
	if err := empty(filepath.Join(h.dir, "run")); err != nil {
		return err
	}
	if err := h.makeGroups(); err != nil {
		return err
	}
	cmd := command("nsenter", "--net=/run/netns/"+h.lab.net.host(h.name), tool("unshare"),
		"-m", "-u", "-p", "-f", "--mount-proc", "--kill-child", "bash", filepath.Join(h.dir, "boot.sh"))
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	gone := make(chan struct{})
	go func() {
		_ = cmd.Wait() // it is killed, or boot.log says why it failed
		close(gone)
	}()
	for deadline := time.Now().Add(time.Minute); h.init == 0; time.Sleep(5 * time.Millisecond) {
		h.init = onlyChild(cmd.Process.Pid)
		if time.Now().After(deadline) || isClosed(gone) {
			return fmt.Errorf("%s did not boot: see %s", h.name, log.Name())
		}
	}
	h.gone = gone
	return nil
}

// empty removes what is in a directory.
func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	return err
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// onlyChild is the child of a process, or 0.
func onlyChild(pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return 0
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return child
}

// powerOff kills process 1, and the kernel everything below it.
func (h *host) powerOff() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.init == 0 {
		return
	}
	_ = syscall.Kill(h.init, syscall.SIGKILL)
	<-h.gone
	h.init = 0
}

// untilUp waits for the daemon to take connections.
func (h *host) untilUp(most time.Duration) error {
	deadline := time.Now().Add(most)
	for {
		conn, err := new(net.Dialer).DialContext(h.lab.Context(), "unix", h.socket())
		if err == nil {
			return conn.Close()
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: libvirtd does not answer: %w", h.name, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// run runs a command inside of the host.
func (h *host) run(words ...string) error {
	h.mu.Lock()
	init := h.init
	h.mu.Unlock()
	if init == 0 {
		return fmt.Errorf("%s has no power", h.name)
	}
	args := append([]string{"-t", strconv.Itoa(init), "-m", "-u", "-n", "-p"}, words...)
	out, err := command("nsenter", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %s: %w: %s", h.name, strings.Join(words, " "), err, out)
	}
	return nil
}

// signal sends a signal to the process with the number in a file of the host.
func (h *host) signal(sig syscall.Signal, pidFile string) error {
	return h.run("sh", "-c", fmt.Sprintf("kill -%d \"$(cat %s)\"", int(sig), pidFile))
}
