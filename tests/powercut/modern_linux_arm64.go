package powercut

import "golang.org/x/sys/unix"

// modern expresses an old system call by the one that has replaced it. Only
// renameat is left of the old ones here.
func modern(number uint64, a [6]uint64) (uint64, [6]uint64) {
	if number == unix.SYS_RENAMEAT {
		return unix.SYS_RENAMEAT2, [6]uint64{a[0], a[1], a[2], a[3]}
	}
	return number, a
}
