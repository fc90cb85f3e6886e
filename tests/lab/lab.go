//go:build libvirt_dlopen

package lab

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/hypervisor/libvirt"
)

// Options say what kind of cluster to build.
type Options struct {
	Hosts int // 0 means 3; at most 9
	// Locks gives every host a virtlockd with one lockspace for all, and every
	// machine a lease.
	Locks bool
	// SlowImages lets tests slow down or break how QEMU reads images: see ImageStore.LimitReads.
	SlowImages bool
	// Controllers are the controllers of control groups that libvirt may use; nil: those that it
	// needs to cap, to weigh and to measure CPU, if they are there.
	Controllers []string
	// ImageDiskMiB is the size of the disk for saved VMs. 0 means 192.
	ImageDiskMiB int
}

// Lab is a running cluster. Its methods fail the test when the lab itself breaks;
// all may be called from any goroutine.
type Lab struct {
	Images ImageStore

	t     testing.TB
	opts  Options
	dir   string
	cache string // see cached
	net   network
	hosts []*host
	proxy *proxy

	stop sync.Once
}

// Images of the catalogue.
const (
	// GuestImage counts on its console; its words are those of guest/guest.c.
	GuestImage = "counter"
	// DiskImage boots from a disk and prints DISK.
	DiskImage = "disk"
)

const prefix = "vjlab-" // of everything that a lab makes outside of its directory

var started atomic.Int32 // labs of this process

// Start builds a cluster and waits until every host answers. It stops it when the
// test ends. Where it cannot be built it skips the test, or fails it when CI=true.
func Start(tb testing.TB, opts Options) *Lab {
	tb.Helper()
	require(tb)
	if opts.Hosts == 0 {
		opts.Hosts = 3
	}
	if opts.ImageDiskMiB == 0 {
		opts.ImageDiskMiB = 192
	}
	clearStale(tb)
	name := fmt.Sprintf("%s%d-%d", prefix, os.Getpid(), started.Add(1))
	l := &Lab{t: tb, opts: opts, dir: filepath.Join(os.TempDir(), name), net: network{name}}
	l.Images = ImageStore{l}
	tb.Cleanup(l.Stop)
	l.build()
	return l
}

func (l *Lab) build() {
	for _, dir := range []string{"", "images", "shared", "shared/lockd", "consoles", "seeds", "faults"} {
		l.must(os.Mkdir(l.path(dir), 0o755))
	}
	size := fmt.Sprintf("size=%dm,mode=0755", l.opts.ImageDiskMiB)
	l.must(syscall.Mount(prefix, l.path("images"), "tmpfs", 0, size))
	l.must(compile(l.dir))
	var err error
	l.cache, err = cacheDir()
	l.must(err)
	l.must(l.net.createSwitch())
	for n := 1; n <= l.opts.Hosts; n++ {
		h := newHost(l, n)
		l.hosts = append(l.hosts, h)
		l.must(h.configure())
		l.must(l.net.addHost(h.name, n))
	}
	l.proxy, err = startProxy(l.net, len(l.hosts))
	l.must(err)
	for _, h := range l.hosts {
		h.relay, err = startRelay(h.relaySocket(), h.socket(), func(fault string) { l.t.Errorf("lab: %s: %s", h.name, fault) })
		l.must(err)
		l.must(h.powerOn())
	}
	for _, h := range l.hosts {
		l.must(h.untilUp(2 * time.Minute))
	}
	_, err = libvirt.InitStore(l.t.Context(), l.Config(), false)
	l.must(err)
}

func (l *Lab) path(parts ...string) string {
	return filepath.Join(append([]string{l.dir}, parts...)...)
}

func (l *Lab) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatalf("lab: %v", err)
	}
}

// Stop ends every process of the lab and removes what it made. Start has arranged
// for it already.
func (l *Lab) Stop() {
	l.stop.Do(func() {
		if l.t.Failed() {
			l.dumpLogs()
			l.dumpStacks()
		}
		for _, h := range l.hosts {
			h.powerOff()
			h.removeGroups()
			if h.relay != nil {
				h.relay.close()
			}
		}
		if l.proxy != nil {
			l.proxy.close()
		}
		l.net.remove()
		removeDir(l.dir)
	})
}

// removeDir removes a directory of a lab with the file system that is mounted in it.
func removeDir(dir string) {
	_ = syscall.Unmount(filepath.Join(dir, "images"), syscall.MNT_DETACH)
	_ = syscall.Unmount(filepath.Join(dir, "away"), syscall.MNT_DETACH)
	_ = os.RemoveAll(dir) // best effort: it lies in the directory for temporary files
}

// dumpLogs shows the ends of the daemons' logs, to explain a failed test.
func (l *Lab) dumpLogs() {
	for _, h := range l.hosts {
		for _, name := range []string{"log/libvirtd.log", "boot.log"} {
			text, err := os.ReadFile(l.path(h.name, name))
			if err != nil || len(text) == 0 {
				continue
			}
			l.t.Logf("%s %s:\n%s", h.name, name, text[max(0, len(text)-4000):])
		}
	}
}

// Context ends shortly before the lab does.
func (l *Lab) Context() context.Context { return l.t.Context() }

// Hosts names the nodes: h1, h2 and so on.
func (l *Lab) Hosts() []cluster.NodeID {
	var names []cluster.NodeID
	for _, h := range l.hosts {
		names = append(names, cluster.NodeID(h.name))
	}
	return names
}

// Config is how vjob reaches the cluster, for [libvirt.New] or a settings file.
func (l *Lab) Config() libvirt.Config {
	cfg := libvirt.Config{
		Installation: l.installation(),
		ImageDir:     l.path("images"), ConsoleDir: l.path("consoles"), SeedDir: l.path("seeds"),
		Images: []libvirt.CatalogueImage{
			{ID: GuestImage, Kind: libvirt.KindKernel, Kernel: l.path("guest.elf"), Description: "counts on its console"},
			{ID: DiskImage, Kind: libvirt.KindDisk, Disk: l.path("disk.img"), Format: "raw", Description: "prints DISK"},
		},
		DomainType:          "qemu",
		TranslationCacheMiB: 8,
		UnsafeMigration:     true, // the disks lie on a local file system that all hosts see
		Timeouts:            libvirt.Timeouts{KeepaliveSeconds: 2, KeepaliveCount: 3, RedialSeconds: 1, DialSeconds: 5, CloseSeconds: 60},
	}
	if l.opts.SlowImages {
		cfg.Emulator = l.path("qemu-wrap")
	}
	if l.opts.Locks {
		cfg.Lease = &libvirt.Lease{Lockspace: "lockd", Path: l.path("shared")}
	}
	for _, h := range l.hosts {
		cfg.Hosts = append(cfg.Hosts, libvirt.Host{
			Node: cluster.NodeID(h.name), URI: h.uri(),
			PeerURI: l.proxy.uri(h.number), MigrateURI: "tcp://" + address(h.number),
		})
	}
	return cfg
}

// installation is what the image store is marked with: a daemon takes it over.
func (l *Lab) installation() string {
	mark, err := os.ReadFile(l.path("images", l.hosts[0].name, ".vjob-store"))
	if err != nil {
		return "lab"
	}
	return strings.TrimSpace(string(mark))
}

// Driver opens a driver for the cluster, with the settings changed by change if
// that is not nil, and closes it when the test ends.
func (l *Lab) Driver(change func(*libvirt.Config)) *libvirt.Driver {
	l.t.Helper()
	cfg := l.Config()
	if change != nil {
		change(&cfg)
	}
	d, err := libvirt.New(cfg, slog.New(slog.DiscardHandler))
	l.must(err)
	l.t.Cleanup(func() {
		if err := d.Close(); err != nil {
			l.t.Errorf("lab: %v", err)
		}
	})
	return d
}

func (l *Lab) host(node cluster.NodeID) *host {
	l.t.Helper()
	i := slices.IndexFunc(l.hosts, func(h *host) bool { return h.name == string(node) })
	if i < 0 {
		l.t.Fatalf("lab: no host %q", node)
	}
	return l.hosts[i]
}
