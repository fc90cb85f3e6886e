package program

import (
	"fmt"
	"os"
)

// RefuseElevated ends the program if it is setuid or setgid: it would read files and identify
// its caller with the rights of the file's owner, not with those of its user.
func RefuseElevated(name string) {
	if err := elevated(os.Getuid(), os.Geteuid(), os.Getgid(), os.Getegid()); err != nil {
		_, _ = fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

func elevated(uid, euid, gid, egid int) error {
	const fix = "remove the setuid and setgid bits (chmod ug-s)"
	switch {
	case uid != euid:
		return fmt.Errorf("runs as uid %d for uid %d: %s", euid, uid, fix)
	case gid != egid:
		return fmt.Errorf("runs as gid %d for gid %d: %s", egid, gid, fix)
	}
	return nil
}
