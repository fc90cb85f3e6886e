//go:build libvirt_dlopen

package lab

import (
	"fmt"
	"os"
	"syscall"

	"vjob/cluster"
)

// ReadImages limits the rate at which the QEMUs of a host read images, in KiB per second, and
// makes reads fail with an I/O error after some KiB. 0 is no limit and no failure. The lab must
// have been started with SlowImages.
func (l *Lab) ReadImages(node cluster.NodeID, perSecond, failAfter int) {
	l.t.Helper()
	l.must(os.WriteFile(l.path("faults", l.host(node).name), fmt.Appendf(nil, "%d %d\n", perSecond, failAfter), 0o644))
}

// OtherRelease gives a host a QEMU of another release, with this machine type instead of
// pc-i440fx-7.2; "" restores the first. The lab must have been started with SlowImages.
func (l *Lab) OtherRelease(node cluster.NodeID, machine string) {
	l.t.Helper()
	l.must(os.WriteFile(l.path("faults", l.host(node).name+".machine"), []byte(machine), 0o644))
}

// UnmountImages takes the image store away from the scheduler, and leaves the empty mount
// point. The hosts keep it.
func (l *Lab) UnmountImages() {
	l.t.Helper()
	l.must(os.MkdirAll(l.path("away"), 0o755))
	l.must(syscall.Mount(l.path("images"), l.path("away"), "", syscall.MS_BIND, ""))
	l.must(syscall.Unmount(l.path("images"), syscall.MNT_DETACH))
}

// MountImages ends UnmountImages.
func (l *Lab) MountImages() {
	l.t.Helper()
	l.must(syscall.Mount(l.path("away"), l.path("images"), "", syscall.MS_BIND, ""))
	l.must(syscall.Unmount(l.path("away"), syscall.MNT_DETACH))
}

// UseUpInodes leaves room for a number of further files in the image store.
func (l *Lab) UseUpInodes(leave int) {
	l.t.Helper()
	for tries := 100; ; tries-- {
		var fsys syscall.Statfs_t
		l.must(syscall.Statfs(l.path("images"), &fsys))
		used := fsys.Files - fsys.Ffree
		err := l.remountImages(fmt.Sprintf("nr_inodes=%d", used+uint64(leave)))
		if err == nil {
			return
		}
		if tries == 0 { // others make files meanwhile
			l.must(err)
		}
	}
}

// FreeInodes ends UseUpInodes.
func (l *Lab) FreeInodes() {
	l.t.Helper()
	l.must(l.remountImages("nr_inodes=100000"))
}

func (l *Lab) remountImages(option string) error {
	return syscall.Mount("", l.path("images"), "", syscall.MS_REMOUNT, fmt.Sprintf("size=%dm,%s", l.opts.ImageDiskMiB, option))
}
