//go:build libvirt_dlopen

package lab

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// needed is a tool, and the Debian package that brings it.
type needed struct{ tool, pkg string }

// packages are those of the lab.
var packages = []needed{
	{"libvirtd", "libvirt-daemon"},
	{"virtlockd", "libvirt-daemon"},
	{"qemu-system-x86_64", "qemu-system-x86"},
	{"ip", "iproute2"},
	{"nsenter", "util-linux"},
	{"unshare", "util-linux"},
	{"gcc", "gcc"},
	{"ld", "binutils"},
}

// tool is the path of a program, also of one in a directory for administrators.
func tool(name string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	for _, dir := range []string{"/usr/sbin", "/sbin", "/usr/bin", "/bin"} {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path
		}
	}
	return name
}

// command runs a tool to its end. What makes and removes a lab must also run while
// a test is being given up, so no context ends it.
func command(name string, args ...string) *exec.Cmd {
	return exec.CommandContext(context.Background(), tool(name), args...)
}

func installed(name string) bool { return filepath.IsAbs(tool(name)) }

// require installs what is missing. Where no lab can be, the test is skipped, or
// fails on machines that are there to run it.
func require(tb testing.TB) {
	tb.Helper()
	err := possible()
	if err == nil {
		err = install(packages)
	}
	if err == nil {
		return
	}
	message := fmt.Sprintf("NO REAL LAB: %v. Nothing of libvirt was tested.", err)
	fmt.Fprintln(os.Stderr, message)
	if os.Getenv("CI") == "true" {
		tb.Fatal(message)
	}
	tb.Skip(message)
}

func possible() error {
	switch {
	case runtime.GOOS != "linux" || runtime.GOARCH != "amd64":
		return fmt.Errorf("it needs Linux on amd64, this is %s on %s", runtime.GOOS, runtime.GOARCH)
	case os.Geteuid() != 0:
		return fmt.Errorf("it needs root, this is user %d", os.Geteuid())
	}
	// Containers may be root and yet not allowed to make namespaces.
	if out, err := command("unshare", "-m", "-n", "-p", "-f", "true").CombinedOutput(); err != nil {
		return fmt.Errorf("namespaces cannot be made: %w: %s", err, out)
	}
	return nil
}

func install(packages []needed) error {
	var missing []string
	for _, p := range packages {
		if !installed(p.tool) {
			missing = append(missing, p.pkg)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if !installed("apt-get") {
		return fmt.Errorf("missing: %s, and no apt-get to install them", strings.Join(missing, ", "))
	}
	fmt.Fprintf(os.Stderr, "lab: installing %s\n", strings.Join(missing, " "))
	update := []string{"update"}
	get := append([]string{"install", "-y", "--no-install-recommends"}, missing...)
	for _, args := range [][]string{update, get} {
		cmd := command("apt-get", args...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("apt-get %s: %w: %s", strings.Join(args, " "), err, out)
		}
	}
	return nil
}

// clearStale removes what labs of processes that are no more have left.
func clearStale(tb testing.TB) {
	tb.Helper()
	names := namespaces(prefix)
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*")) // the pattern is good
	for _, dir := range dirs {
		names = append(names, filepath.Base(dir))
	}
	for _, name := range names {
		parts := strings.Split(strings.TrimPrefix(name, prefix), "-")
		pid, err := strconv.Atoi(parts[0])
		if err != nil || len(parts) < 2 || syscall.Kill(pid, 0) == nil {
			continue
		}
		lab := prefix + parts[0] + "-" + parts[1]
		tb.Logf("lab: clearing what process %d left: %s", pid, lab)
		network{lab}.remove()
		removeDir(filepath.Join(os.TempDir(), lab))
		clearGroups(lab)
	}
}
