//go:build linux && (amd64 || arm64)

package powercut

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// call is a system call of a thread: its number and arguments when it was called, and
// what it returned.
type call struct {
	thread int
	number uint64
	args   [6]uint64
	result int64
	began  int // operations that were in the log then
}

// info is struct ptrace_syscall_info, which is the same on each architecture.
type info struct {
	op       uint8
	_        [3]byte
	arch     uint32
	pointer  uint64
	stack    uint64
	returned int64 // or the number of the call
	args     [6]uint64
	_        uint64
}

const (
	requestInfo = 0x420e // PTRACE_GET_SYSCALL_INFO
	infoEntry   = 1
	infoExit    = 2
	options     = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_EXITKILL
	callStop    = syscall.SIGTRAP | 0x80
)

// trace runs a program to its end and shows each system call of each of its threads to
// entered, when it is called, and to left, when it has returned. The functions run
// while the thread stands still, one after the other.
func trace(path string, args, env []string, files []uintptr, entered func(*call), left func(*call)) (syscall.WaitStatus, error) {
	runtime.LockOSThread() // only the tracing thread may control a thread
	defer runtime.UnlockOSThread()
	pid, err := syscall.ForkExec(path, append([]string{path}, args...), &syscall.ProcAttr{
		Env: env, Files: files, Sys: &syscall.SysProcAttr{Ptrace: true},
	})
	if err != nil {
		return 0, err
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil {
		return status, err
	}
	if err := errors.Join(syscall.PtraceSetOptions(pid, options), syscall.PtraceSyscall(pid, 0)); err != nil {
		return status, errors.Join(err, syscall.Kill(pid, syscall.SIGKILL))
	}
	calls := map[int]*call{} // that were entered, by thread
	for {
		thread, err := syscall.Wait4(-1, &status, unix.WALL|unix.WNOTHREAD, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return status, err
		case thread == pid && (status.Exited() || status.Signaled()):
			return status, nil
		case !status.Stopped():
			continue // a thread has ended
		}
		signal := status.StopSignal()
		switch signal {
		case callStop:
			signal = 0
			if err := stop(thread, calls, entered, left); err != nil {
				return status, err
			}
		case syscall.SIGTRAP, syscall.SIGSTOP: // a thread was made, and stands still at first
			signal = 0
		default:
		}
		if err := syscall.PtraceSyscall(thread, int(signal)); err != nil && !errors.Is(err, syscall.ESRCH) {
			return status, err
		}
	}
}

// stop handles a thread that stands before or behind a system call.
func stop(thread int, calls map[int]*call, entered, left func(*call)) error {
	var now info
	_, _, failed := syscall.Syscall6(syscall.SYS_PTRACE, requestInfo, uintptr(thread), unsafe.Sizeof(now), uintptr(unsafe.Pointer(&now)), 0, 0)
	switch {
	case failed == syscall.ESRCH: // it was killed meanwhile
		return nil
	case failed != 0:
		return fmt.Errorf("trace thread %d: %w", thread, failed)
	case now.op == infoEntry:
		number, args := modern(uint64(now.returned), now.args)
		calls[thread] = &call{thread: thread, number: number, args: args}
		entered(calls[thread])
	case now.op == infoExit && calls[thread] != nil:
		calls[thread].result = now.returned
		left(calls[thread])
		delete(calls, thread)
	}
	return nil
}

// peek reads the memory of a thread.
func peek(thread int, address, n uint64) ([]byte, error) {
	into := make([]byte, n)
	if n == 0 {
		return into, nil
	}
	local := []unix.Iovec{{Base: &into[0]}}
	local[0].SetLen(int(n))
	got, err := unix.ProcessVMReadv(thread, local, []unix.RemoteIovec{{Base: uintptr(address), Len: int(n)}}, 0)
	return into[:max(got, 0)], err
}

// peekPath reads a string of a thread, which ends with a zero.
func peekPath(thread int, address uint64) (string, error) {
	var path []byte
	for {
		n := uint64(os.Getpagesize()) - address%uint64(os.Getpagesize()) // the next page may be missing
		part, err := peek(thread, address, n)
		if err != nil {
			return "", err
		}
		for i, b := range part {
			if b == 0 {
				return string(append(path, part[:i]...)), nil
			}
		}
		path = append(path, part...)
		address += n
	}
}
