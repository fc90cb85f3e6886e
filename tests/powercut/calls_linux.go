//go:build linux && (amd64 || arm64)

package powercut

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"vjob/tests/powercut/disk"
)

// entered handles what counts before a call does anything.
func (r *recorder) entered(c *call) {
	c.began = len(r.log.Ops)
	fd := int(int32(c.args[0]))
	switch c.number {
	case unix.SYS_CLOSE:
		delete(r.open, fd)
	case unix.SYS_WRITE:
		if fd == marker {
			text, err := peek(c.thread, c.args[1], c.args[2])
			r.log.Append(disk.Op{Kind: disk.Mark, Text: string(text)})
			r.check(err)
		}
	}
}

// left handles a call that has returned.
func (r *recorder) left(c *call) {
	if c.result < 0 || r.err != nil {
		return
	}
	switch c.number {
	case unix.SYS_OPENAT:
		r.opened(c)
	case unix.SYS_UNLINKAT:
		r.named(c, c.args[0], c.args[1], r.unlink)
	case unix.SYS_MKDIRAT:
		r.named(c, c.args[0], c.args[1], func(name string) { r.create(name, true) })
	case unix.SYS_RENAMEAT2:
		r.paired(c, c.args[4] == 0 || c.args[4] == unix.RENAME_NOREPLACE, r.rename)
	case unix.SYS_LINKAT:
		r.paired(c, true, r.link)
	case unix.SYS_SYMLINKAT:
		r.named(c, c.args[1], c.args[2], func(name string) { r.fail("symbolic link %s", name) })
	case unix.SYS_OPENAT2:
		r.named(c, c.args[0], c.args[1], func(name string) { r.fail("openat2 %s", name) })
	case unix.SYS_TRUNCATE:
		r.named(c, unix.AT_FDCWD&(1<<64-1), c.args[0], func(name string) { r.fail("truncate %s by its name", name) })
	default:
		if inode, known := r.open[r.descriptor(c)]; known {
			r.onFile(c, inode)
		}
	}
}

// descriptor is the file that a call changes.
func (r *recorder) descriptor(c *call) int {
	switch c.number {
	case unix.SYS_MMAP:
		return int(int32(c.args[4]))
	case unix.SYS_COPY_FILE_RANGE, unix.SYS_SPLICE:
		return int(int32(c.args[2]))
	default:
		return int(int32(c.args[0]))
	}
}

// onFile handles a call on an open file.
func (r *recorder) onFile(c *call, inode int) {
	switch c.number {
	case unix.SYS_PWRITE64:
		r.write(c, inode, int64(c.args[3]))
	case unix.SYS_WRITE:
		r.write(c, inode, r.position(c)-c.result)
	case unix.SYS_FTRUNCATE:
		r.log.Append(disk.Op{Kind: disk.Truncate, Inode: inode, Offset: int64(c.args[1])})
	case unix.SYS_FSYNC, unix.SYS_FDATASYNC:
		r.log.Append(disk.Op{Kind: disk.Sync, Inode: inode, Since: c.began})
	case unix.SYS_MMAP:
		writes := c.args[2]&unix.PROT_WRITE != 0 && c.args[3]&unix.MAP_SHARED != 0
		if path := r.opensAs(c.thread, int(int32(c.args[4]))); writes && !strings.HasSuffix(path, "-shm") {
			r.fail("mapped writes to %s", path)
		}
	case unix.SYS_FCNTL:
		if c.args[1] == unix.F_DUPFD || c.args[1] == unix.F_DUPFD_CLOEXEC {
			r.open[int(c.result)] = inode
		}
	case unix.SYS_DUP, unix.SYS_DUP3, unix.SYS_WRITEV, unix.SYS_PWRITEV, unix.SYS_PWRITEV2, unix.SYS_FALLOCATE,
		unix.SYS_COPY_FILE_RANGE, unix.SYS_SENDFILE, unix.SYS_SPLICE:
		r.fail("system call %d on %s", c.number, r.opensAs(c.thread, r.descriptor(c)))
	}
}

func (r *recorder) write(c *call, inode int, offset int64) {
	data, err := peek(c.thread, c.args[1], uint64(c.result))
	r.check(err)
	r.log.Append(disk.Op{Kind: disk.Write, Inode: inode, Offset: offset, Data: data})
}

// opened notes a descriptor, and what opening has done to the file.
func (r *recorder) opened(c *call) {
	fd, flags := int(c.result), c.args[2]
	delete(r.open, fd)
	name, ours := r.below(r.opensAs(c.thread, fd))
	if !ours {
		return
	}
	if flags&(unix.O_DSYNC|unix.O_DIRECT) != 0 || flags&unix.O_TMPFILE == unix.O_TMPFILE {
		r.fail("open %s with flags %#x", name, flags)
	}
	inode, known := r.inodes[name]
	switch {
	case !known && flags&unix.O_CREAT == 0:
		r.fail("%s is there, and nothing has made it", name)
	case !known:
		r.create(name, false)
		inode = r.inodes[name]
	case flags&unix.O_TRUNC != 0:
		r.log.Append(disk.Op{Kind: disk.Truncate, Inode: inode})
	}
	r.open[fd] = inode
}

// named calls do with the name that a call gives by folder and path, if it is ours.
func (r *recorder) named(c *call, folder, path uint64, do func(name string)) {
	if name, ours := r.below(r.path(c, folder, path)); ours {
		do(name)
	}
}

// paired is named for a call that gives two names.
func (r *recorder) paired(c *call, modeled bool, do func(name, other string)) {
	name, ours := r.below(r.path(c, c.args[0], c.args[1]))
	other, also := r.below(r.path(c, c.args[2], c.args[3]))
	switch {
	case !ours && !also:
	case ours && also && modeled:
		do(name, other)
	default:
		r.fail("system call %d from %s to %s", c.number, name, other)
	}
}

// path is absolute.
func (r *recorder) path(c *call, folder, address uint64) string {
	path, err := peekPath(c.thread, address)
	r.check(err)
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	if int32(folder) == unix.AT_FDCWD {
		at, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", c.thread))
		r.check(err)
		return filepath.Join(at, path)
	}
	return filepath.Join(r.opensAs(c.thread, int(int32(folder))), path)
}

// opensAs is the path of an open file.
func (r *recorder) opensAs(thread, fd int) string {
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", thread, fd))
	r.check(err)
	return path
}

// position is where the next plain read or write of an open file is.
func (r *recorder) position(c *call) (at int64) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%d", c.thread, int(int32(c.args[0]))))
	r.check(err)
	_, err = fmt.Fscanf(bytes.NewReader(text), "pos:\t%d", &at)
	r.check(err)
	return at
}

func (r *recorder) check(err error) {
	if err != nil && r.err == nil {
		r.err = err
	}
}
