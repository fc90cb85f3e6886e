//go:build libvirt_dlopen

package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"libvirt.org/go/libvirt"
)

// listingTime is how long a daemon may take to list its machines before it counts
// as hanging.
const listingTime = 10 * time.Second

// dumpStacks shows where the daemons are that do not answer, and the children of
// theirs that have not become a QEMU. It takes gdb to see more than what the kernel
// knows.
func (l *Lab) dumpStacks() {
	for _, h := range l.hosts {
		h.mu.Lock()
		init := h.init
		h.mu.Unlock()
		if init == 0 || h.lists() {
			continue
		}
		l.t.Logf("%s HANGS: it has not listed its machines in %s", h.name, listingTime)
		for _, pid := range processes(init) {
			l.t.Log(stacks(pid))
		}
	}
}

// lists reports whether the daemon lists its machines.
func (h *host) lists() bool {
	listed := make(chan bool, 1)
	go func() { // it may hang as long as the host does
		conn, err := libvirt.NewConnect("qemu:///system?socket=" + h.socket())
		if err == nil {
			_, err = conn.GetAllDomainStats(nil, libvirt.DOMAIN_STATS_STATE, libvirt.CONNECT_GET_ALL_DOMAINS_STATS_NOWAIT)
		}
		listed <- err == nil
	}()
	select {
	case ok := <-listed:
		return ok
	case <-time.After(listingTime):
		return false
	}
}

// processes are those of a host but for its QEMUs, by the number of its first.
func processes(init int) []int {
	space := func(pid int) string {
		name, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", pid))
		if err != nil {
			return ""
		}
		return name
	}
	var list []int
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is good
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || space(pid) != space(init) {
			continue
		}
		program, err := os.Readlink(dir + "/exe")
		if err == nil && !strings.Contains(program, "qemu-system") {
			list = append(list, pid)
		}
	}
	return list
}

// stacks returns what the threads of a process wait for.
func stacks(pid int) string {
	var text strings.Builder
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid)) // the pattern is good
	for _, task := range tasks {
		comm, _ := os.ReadFile(task + "/comm") // best effort: it may have ended
		where, _ := os.ReadFile(task + "/wchan")
		fmt.Fprintf(&text, "%s %s: %s\n", strings.TrimPrefix(task, "/proc/"), strings.TrimSpace(string(comm)), where)
	}
	if installed("gdb") {
		out, _ := command("timeout", "60", "gdb", "-p", strconv.Itoa(pid), "-batch", "-ex", "thread apply all bt 12").CombinedOutput()
		text.Write(out)
	}
	return text.String()
}
