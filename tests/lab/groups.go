//go:build libvirt_dlopen

package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"vjob/cluster"
)

// hierarchies are the control groups of version 1 that libvirt needs to cap and to measure a
// guest's CPU. Linux keeps them below control.
var hierarchies = []string{"cpu", "cpuacct"}

const control = "/sys/fs/cgroup"

// CanCap reports whether the hosts of a lab can cap the CPU of their guests here. That needs
// root and control groups of version 1 for the CPU: in version 2 every other process of the
// machine would have to be moved into a group first.
func CanCap() bool {
	for _, name := range hierarchies {
		if _, err := os.Stat(filepath.Join(control, name, "tasks")); err != nil {
			return false
		}
	}
	return true
}

// groups returns the control groups that are the roots of a host, by hierarchy. Each host has
// its own, so that machines of the same name on two hosts do not share a group.
func (h *host) groups() map[string]string {
	groups := map[string]string{}
	if CanCap() {
		for _, name := range hierarchies {
			groups[name] = filepath.Join(control, name, filepath.Base(h.lab.dir)+"-"+h.name)
		}
	}
	return groups
}

// makeGroups makes the groups of the host anew.
func (h *host) makeGroups() error {
	for _, group := range h.groups() {
		removeGroup(group)
		if err := os.Mkdir(group, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// mountGroups is the part of the boot script that makes the groups the host's roots. An
// empty hierarchy of version 2 beside them confuses libvirt.
func (h *host) mountGroups() string {
	groups := h.groups()
	if len(groups) == 0 {
		return ""
	}
	var script strings.Builder
	for _, name := range hierarchies {
		fmt.Fprintf(&script, "mount --bind %s %s\n", groups[name], filepath.Join(control, name))
	}
	script.WriteString("! mountpoint -q " + control + "/unified || umount " + control + "/unified\n")
	return script.String()
}

// controllers are those that libvirt may use.
func (h *host) controllers() string {
	use := hierarchies
	if h.lab.opts.Controllers != nil {
		use = h.lab.opts.Controllers
	}
	if !CanCap() || len(use) == 0 {
		return "cgroup_controllers = [ ]\n"
	}
	return fmt.Sprintf("cgroup_controllers = [ \"%s\" ]\n", strings.Join(use, `", "`))
}

// Shares reads the CPU weight of a VM from its control group.
func (l *Lab) Shares(node cluster.NodeID, vm cluster.VMID) (int, error) {
	l.t.Helper()
	name := fmt.Sprintf("qemu-*-vjob-%d-%d.libvirt-qemu", vm.VJob, vm.Rank)
	found, err := filepath.Glob(filepath.Join(l.host(node).groups()["cpu"], "machine", name, "cpu.shares"))
	if err != nil || len(found) != 1 {
		return 0, fmt.Errorf("control group of %s: %v, %w", vm, found, err)
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}

func (h *host) removeGroups() {
	for _, group := range h.groups() {
		removeGroup(group)
	}
}

// clearGroups removes what a lab has left.
func clearGroups(lab string) {
	for _, name := range hierarchies {
		groups, _ := filepath.Glob(filepath.Join(control, name, lab+"-*")) // the pattern is good
		for _, group := range groups {
			removeGroup(group)
		}
	}
}

// removeGroup removes a group and its subgroups, innermost first. Their processes must have
// ended.
func removeGroup(group string) {
	below, _ := filepath.Glob(filepath.Join(group, "*", ".")) // directories; the pattern is good
	for _, dir := range below {
		removeGroup(filepath.Clean(dir))
	}
	_ = os.Remove(group) // best effort: an empty group does no harm
}
