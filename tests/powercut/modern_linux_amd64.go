package powercut

import "golang.org/x/sys/unix"

// modern expresses an old system call by the one that has replaced it: this
// architecture has both.
func modern(number uint64, a [6]uint64) (uint64, [6]uint64) {
	here := uint64(0xffffffffffffff9c) // AT_FDCWD
	switch number {
	case unix.SYS_OPEN:
		return unix.SYS_OPENAT, [6]uint64{here, a[0], a[1], a[2]}
	case unix.SYS_CREAT:
		return unix.SYS_OPENAT, [6]uint64{here, a[0], unix.O_CREAT | unix.O_WRONLY | unix.O_TRUNC, a[1]}
	case unix.SYS_UNLINK:
		return unix.SYS_UNLINKAT, [6]uint64{here, a[0]}
	case unix.SYS_RMDIR:
		return unix.SYS_UNLINKAT, [6]uint64{here, a[0], unix.AT_REMOVEDIR}
	case unix.SYS_MKDIR:
		return unix.SYS_MKDIRAT, [6]uint64{here, a[0], a[1]}
	case unix.SYS_RENAME:
		return unix.SYS_RENAMEAT2, [6]uint64{here, a[0], here, a[1]}
	case unix.SYS_RENAMEAT:
		return unix.SYS_RENAMEAT2, [6]uint64{a[0], a[1], a[2], a[3]}
	case unix.SYS_LINK:
		return unix.SYS_LINKAT, [6]uint64{here, a[0], here, a[1]}
	case unix.SYS_SYMLINK:
		return unix.SYS_SYMLINKAT, [6]uint64{a[0], here, a[1]}
	case unix.SYS_DUP2:
		return unix.SYS_DUP3, a
	default:
		return number, a
	}
}
