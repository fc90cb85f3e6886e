package client

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"vjob/cluster"
)

// runDir is where root gives a daemon of another user a folder, as systemd does.
const runDir = "/run"

// dialSocket connects to a daemon's unix socket. The socket, its folder and the daemon must
// belong to root or to the caller, or to the user to which root has given a folder below
// /run: any other user could wait there for tokens.
func dialSocket(ctx context.Context, path string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if err := trustSocket(path, conn.(*net.UnixConn)); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

func trustSocket(path string, conn *net.UnixConn) error {
	folder := filepath.Dir(path)
	owner, _, err := ownerOf(folder)
	if err != nil {
		return err
	}
	file, _, err := ownerOf(path)
	if err != nil {
		return err
	}
	peer, err := peerOf(conn)
	if err != nil {
		return err
	}
	appointed := uint32(0)
	if uid, mode, err := ownerOf(runDir); err == nil && uid == 0 && mode&0o022 == 0 && filepath.Dir(folder) == runDir {
		appointed = owner
	}
	for _, part := range []struct {
		what string
		uid  uint32
	}{{"the folder " + folder, owner}, {"the socket " + path, file}, {"the daemon at " + path, peer}} {
		if part.uid != 0 && part.uid != appointed && int(part.uid) != os.Getuid() {
			return &untrusted{fmt.Sprintf("%s belongs to uid %d, neither to you nor to root: nothing was sent there; choose another server by --server or VJOB_SERVER", part.what, part.uid)}
		}
	}
	return nil
}

// ownerOf is the owner of a file, links followed.
func ownerOf(path string) (uid uint32, mode fs.FileMode, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, 0, err
	}
	return info.Sys().(*syscall.Stat_t).Uid, info.Mode().Perm(), nil
}

// peerOf is the user at the other end, as the kernel says.
func peerOf(conn *net.UnixConn) (uint32, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	var failed error
	if err := raw.Control(func(fd uintptr) { cred, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil {
		return 0, err
	}
	if failed != nil {
		return 0, failed
	}
	return cred.Uid, nil
}

// untrusted is a socket that another user may have put there.
type untrusted struct{ why string }

// Error names the owner.
func (u *untrusted) Error() string { return u.why }

// Is makes it something that is not allowed.
func (u *untrusted) Is(target error) bool { return target == cluster.ErrForbidden }
