//go:build libvirt_dlopen

package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// network is the lab's own: a namespace with a bridge, and one for each host. The
// addresses never leave them, so every lab has the same.
type network struct{ lab string }

// address is where host n is found on the lab's network.
func address(n int) string { return fmt.Sprintf("10.77.0.%d", 10+n) }

// switchAddress is the end of the bridge, where the proxy listens.
const switchAddress = "10.77.0.254"

func (n network) sw() string { return n.lab + "-sw" }

func (n network) host(name string) string { return n.lab + "-" + name }

func (n network) createSwitch() error {
	return ip(
		"netns add "+n.sw(),
		"-n "+n.sw()+" link set lo up",
		"-n "+n.sw()+" link add br0 type bridge",
		"-n "+n.sw()+" addr add "+switchAddress+"/24 dev br0",
		"-n "+n.sw()+" link set br0 up",
	)
}

func (n network) addHost(name string, number int) error {
	return ip(
		"netns add "+n.host(name),
		fmt.Sprintf("link add port%d netns %s type veth peer name eth0 netns %s", number, n.sw(), n.host(name)),
		fmt.Sprintf("-n %s link set port%d master br0 up", n.sw(), number),
		fmt.Sprintf("-n %s addr add %s/24 dev eth0", n.host(name), address(number)),
		fmt.Sprintf("-n %s link set eth0 up", n.host(name)),
		fmt.Sprintf("-n %s link set lo up", n.host(name)),
	)
}

func (n network) link(number int, state string) error {
	return ip(fmt.Sprintf("-n %s link set port%d %s", n.sw(), number, state))
}

// remove deletes the namespaces with whatever still runs in them.
func (n network) remove() {
	for _, name := range namespaces(n.lab + "-") {
		out, err := command("ip", "netns", "pids", name).Output()
		if err == nil {
			for field := range strings.FieldsSeq(string(out)) {
				if pid, err := strconv.Atoi(field); err == nil && pid != os.Getpid() {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}
		}
		_ = ip("netns del " + name) // best effort: the next Start tries again
	}
}

// namespaces lists network namespaces by the beginning of their names.
func namespaces(beginning string) []string {
	paths, _ := filepath.Glob("/run/netns/" + beginning + "*") // the pattern is good
	for i, p := range paths {
		paths[i] = filepath.Base(p)
	}
	return paths
}

// ip runs commands of iproute2.
func ip(commands ...string) error {
	for _, c := range commands {
		if out, err := command("ip", strings.Fields(c)...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %w: %s", c, err, out)
		}
	}
	return nil
}
