// Package pty opens pseudo-terminals for tests.
package pty

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// Open opens a pseudo-terminal. It returns the end of the user, which is closed after the test, and the name of the
// end of programs. It skips the test where there are no terminals.
func Open(tb testing.TB) (user *os.File, line string) {
	tb.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		tb.Skip("no terminals here:", err)
	}
	tb.Cleanup(func() { _ = user.Close() })
	if err := unix.IoctlSetPointerInt(int(user.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		tb.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(user.Fd()), unix.TIOCGPTN)
	if err != nil {
		tb.Fatal(err)
	}
	return user, fmt.Sprintf("/dev/pts/%d", number)
}
