//go:build linux && (amd64 || arm64)

package libvirt

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A file system under test fails one call: seccomp hands the calls of one thread to the
// test, which carries them out or answers with an error. The code under test stays as it
// is, and needs no seam.

// watchedCalls are the system calls that can fail, and which argument is a path; a relative
// one begins at the folder in the argument before. -1: the first argument is an open file.
var watchedCalls = map[uint32]struct {
	name string
	path int
}{
	unix.SYS_OPENAT:     {"open", 1},
	statNumber:          {"stat", 1},
	unix.SYS_UNLINKAT:   {"unlink", 1},
	unix.SYS_MKDIRAT:    {"mkdir", 1},
	unix.SYS_LINKAT:     {"link", 3},
	unix.SYS_RENAMEAT:   {"rename", 3},
	unix.SYS_RENAMEAT2:  {"rename", 3},
	unix.SYS_STATFS:     {"statfs", 0},
	unix.SYS_FSYNC:      {"sync", -1},
	unix.SYS_FADVISE64:  {"forget", -1},
	unix.SYS_FSTAT:      {"fstat", -1},
	unix.SYS_LSEEK:      {"seek", -1},
	unix.SYS_READ:       {"read", -1},
	unix.SYS_PREAD64:    {"pread", -1},
	unix.SYS_WRITE:      {"write", -1},
	unix.SYS_CLOSE:      {"close", -1},
	unix.SYS_GETDENTS64: {"list", -1},
}

// fault is what becomes of a call.
type fault struct {
	errno syscall.Errno // 0: it is carried out
	late  bool          // it is carried out, and answered with an error all the same
}

// notice is struct seccomp_notif, and answer is struct seccomp_notif_resp.
type (
	notice struct {
		id            uint64
		thread, flags uint32
		number, arch  uint32
		instruction   uint64
		args          [6]uint64
	}
	answer struct {
		id    uint64
		value int64
		error int32
		flags uint32
	}
)

// over is a descriptor: its sync tells that the code under test has returned.
const over = 1<<31 - 1

// watch runs do and asks decide about each call on what lies below a folder: "sync h1/12.3.g1.a1".
// What is opened to be read may be closed without a query.
func watch(t *testing.T, folder string, decide func(call string) fault, do func()) {
	t.Helper()
	type installation struct {
		listener int
		err      error
	}
	installed, returned := make(chan installation, 1), make(chan struct{})
	go func() {
		runtime.LockOSThread() // for good: the thread ends with its filter
		listener, err := installFilter()
		installed <- installation{listener, err}
		if err != nil {
			return
		}
		defer func() {
			close(returned)
			_ = unix.Fsync(over)
		}()
		do()
	}()
	got := <-installed
	if got.err != nil {
		t.Skipf("this kernel hands no system calls to a test, which takes Linux 5.19 and its consent: %v", got.err)
	}
	listener := got.listener
	defer unix.Close(listener) //nolint:errcheck // nothing is kept in it
	for {
		var n notice
		if errno := control(listener, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)); errno == syscall.EINTR || errno == syscall.ENOENT {
			continue
		} else if errno != 0 {
			t.Fatal(errno)
		}
		end := n.number == unix.SYS_FSYNC && n.args[0] == over
		a := answer{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		if call, ours := callOf(t, folder, n); ours && !end {
			a = reply(n, decide(call))
		}
		if errno := control(listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&a)); errno != 0 {
			t.Fatal(errno)
		}
		if end {
			<-returned // closed before; the race detector does not see the kernel's order
			return
		}
	}
}

// reply carries out what a fault says. A close is always carried out.
func reply(n notice, f fault) answer {
	if f.errno == 0 {
		return answer{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	}
	if f.late || n.number == unix.SYS_CLOSE {
		a := n.args
		_, _, _ = syscall.Syscall6(uintptr(n.number), uintptr(a[0]), uintptr(a[1]), uintptr(a[2]), uintptr(a[3]), uintptr(a[4]), uintptr(a[5]))
	}
	return answer{id: n.id, error: -int32(f.errno)}
}

func control(listener int, request uintptr, argument unsafe.Pointer) syscall.Errno {
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(listener), request, uintptr(argument))
	return errno
}

// installFilter makes this thread ask before each watched call, and returns where.
func installFilter() (int, error) {
	program := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}} // the number of the call
	for number := range watchedCalls {
		if number == unix.SYS_READ || number == unix.SYS_WRITE {
			continue
		}
		program = append(program,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: number, Jf: 1},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF})
	}
	program = append(program, // the runtime of Go wakes itself with reads and writes of 8 bytes, and must not wait for us
		unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_READ, Jt: 2},
		unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_WRITE, Jt: 1},
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 32}, // how many bytes
		unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: 8, Jf: 1},
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF})
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return -1, fmt.Errorf("seccomp: %w", err)
	}
	text := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	listener, _, errno := syscall.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, uintptr(unsafe.Pointer(&text)))
	if errno != 0 {
		return -1, fmt.Errorf("seccomp: %w", errno)
	}
	return int(listener), nil
}

// callOf names a call and the file below the folder that it is about.
func callOf(t *testing.T, folder string, n notice) (string, bool) {
	t.Helper()
	call := watchedCalls[n.number]
	var path string
	if call.path < 0 {
		path = opensAs(int(int32(n.args[0])))
	} else {
		path = textAt(t, n.args[call.path])
		if !filepath.IsAbs(path) {
			path = filepath.Join(opensAs(int(int32(n.args[call.path-1]))), path)
		}
	}
	if n.number == unix.SYS_OPENAT && n.args[2]&unix.O_CREAT != 0 {
		call.name = "create"
	}
	if n.number == unix.SYS_FADVISE64 && (n.args[1] != 0 || n.args[2] != 0 || n.args[3] != unix.FADV_DONTNEED) {
		call.name = "advise"
	}
	if n.number == unix.SYS_CLOSE {
		flags, err := unix.FcntlInt(uintptr(n.args[0]), unix.F_GETFL, 0)
		if err != nil || flags&unix.O_ACCMODE == unix.O_RDONLY {
			return "", false
		}
	}
	if path == folder {
		return call.name + " .", true
	}
	name, ours := strings.CutPrefix(path, folder+"/")
	return call.name + " " + name, ours
}

// opensAs is the path of an open file, or "".
func opensAs(fd int) string {
	path, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	return path
}

// textAt reads the path that a call gives.
func textAt(t *testing.T, address uint64) string {
	t.Helper()
	text := make([]byte, unix.PathMax)
	local := []unix.Iovec{{Base: &text[0]}}
	local[0].SetLen(len(text))
	n, err := unix.ProcessVMReadv(os.Getpid(), local, []unix.RemoteIovec{{Base: uintptr(address), Len: len(text)}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	path, _, ended := bytes.Cut(text[:n], []byte{0})
	if !ended {
		t.Fatal("a path that is longer than the system allows")
	}
	return string(path)
}

// openBelow lists what is open below a folder.
func openBelow(t *testing.T, folder string) (list []string) {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		path, err := os.Readlink("/proc/self/fd/" + fd.Name())
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if strings.HasPrefix(path, folder) {
			list = append(list, path)
		}
	}
	return list
}
