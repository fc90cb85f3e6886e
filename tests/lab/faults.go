//go:build libvirt_dlopen

package lab

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"vjob/cluster"
	"vjob/hypervisor/libvirt"
)

// PowerOff cuts the power of a host: its daemon and its machines vanish at once, without a
// message on the network.
func (l *Lab) PowerOff(node cluster.NodeID) {
	l.t.Helper()
	l.CutLink(node)
	l.host(node).powerOff()
}

// PowerOn boots a host that was off and waits until its daemon answers.
func (l *Lab) PowerOn(node cluster.NodeID) {
	l.t.Helper()
	l.RestoreLink(node)
	l.must(l.host(node).powerOn())
	l.must(l.host(node).untilUp(2 * time.Minute))
}

const (
	daemonPID = "/run/libvirt/libvirtd.pid"
	locksPID  = "/run/libvirt/virtlockd.pid"
)

// KillDaemon kills libvirtd with SIGKILL; its machines continue.
func (l *Lab) KillDaemon(node cluster.NodeID) {
	l.t.Helper()
	l.must(l.host(node).run("sh", "-c", killed(daemonPID)))
}

// RestartDaemon starts libvirtd after KillDaemon and waits until it answers.
func (l *Lab) RestartDaemon(node cluster.NodeID) {
	l.t.Helper()
	h := l.host(node)
	_ = os.Remove(h.socket())
	l.must(h.run("sh", "-c", "PATH=/usr/sbin:/usr/bin:/sbin:/bin "+h.startDaemon()))
	l.must(h.untilUp(2 * time.Minute))
}

// KillLocks ends virtlockd without warning: what its host had locked is locked no more.
func (l *Lab) KillLocks(node cluster.NodeID) {
	l.t.Helper()
	l.must(l.host(node).run("sh", "-c", killed(locksPID)))
}

// RestartLocks starts virtlockd after KillLocks. libvirtd has to be started again after it,
// to tell it the lockspace.
func (l *Lab) RestartLocks(node cluster.NodeID) {
	l.t.Helper()
	l.must(l.host(node).run("sh", "-c", "PATH=/usr/sbin:/usr/bin:/sbin:/bin "+startLocks))
}

// killed is a shell command that kills a process and waits for its end: the successor
// needs the lock on the PID file.
func killed(pidFile string) string {
	return "pid=$(cat " + pidFile + "); kill -9 $pid; while kill -0 $pid 2>/dev/null; do sleep 0.02; done"
}

// FreezeHost stops all processes of a host: its daemons and its guests.
func (l *Lab) FreezeHost(node cluster.NodeID) {
	l.t.Helper()
	l.must(l.host(node).run("sh", "-c", "kill -STOP -1"))
}

// ThawHost ends FreezeHost.
func (l *Lab) ThawHost(node cluster.NodeID) {
	l.t.Helper()
	l.must(l.host(node).run("sh", "-c", "kill -CONT -1"))
}

// FreezeGuests stops the QEMUs of a host, but not its daemons.
func (l *Lab) FreezeGuests(node cluster.NodeID) {
	l.t.Helper()
	l.signalGuests(node, syscall.SIGSTOP)
}

// ThawGuests ends FreezeGuests.
func (l *Lab) ThawGuests(node cluster.NodeID) {
	l.t.Helper()
	l.signalGuests(node, syscall.SIGCONT)
}

func (l *Lab) signalGuests(node cluster.NodeID, sig syscall.Signal) {
	l.t.Helper()
	l.must(l.host(node).run("sh", "-c", fmt.Sprintf(
		"for f in /run/libvirt/qemu/vjob-*.pid; do [ -e $f ] && kill -%d $(cat $f) 2>/dev/null; done; true", int(sig))))
}

// Freeze stops libvirtd without ending it: it takes connections and answers none.
func (l *Lab) Freeze(node cluster.NodeID) {
	l.t.Helper()
	l.must(l.host(node).signal(syscall.SIGSTOP, daemonPID))
}

// Thaw ends Freeze.
func (l *Lab) Thaw(node cluster.NodeID) {
	l.t.Helper()
	l.must(l.host(node).signal(syscall.SIGCONT, daemonPID))
}

// CutScheduler cuts the scheduler off from a host; the other hosts still reach it.
// What was sent meanwhile arrives after JoinScheduler.
func (l *Lab) CutScheduler(node cluster.NodeID) {
	l.t.Helper()
	l.host(node).relay.setCut(true)
}

// JoinScheduler ends CutScheduler.
func (l *Lab) JoinScheduler(node cluster.NodeID) {
	l.t.Helper()
	l.host(node).relay.setCut(false)
}

// CutLink cuts a host off from the others. The scheduler still reaches it.
func (l *Lab) CutLink(node cluster.NodeID) {
	l.t.Helper()
	l.must(l.net.link(l.host(node).number, "down"))
}

// RestoreLink connects the host again.
func (l *Lab) RestoreLink(node cluster.NodeID) {
	l.t.Helper()
	l.must(l.net.link(l.host(node).number, "up"))
}

// DropFinish makes the next migration to a host lose its last reply: the host has
// taken the machine over, and its peer hears the connection break. The channel is
// closed when that has happened.
func (l *Lab) DropFinish(to cluster.NodeID) <-chan struct{} {
	l.t.Helper()
	return l.proxy.dropFinish(l.host(to).number)
}

// KeepFinish ends DropFinish when there was no migration.
func (l *Lab) KeepFinish(to cluster.NodeID) {
	l.t.Helper()
	l.proxy.keepFinish(l.host(to).number)
}

// SignalGuest sends a signal to the QEMU of a VM.
func (l *Lab) SignalGuest(node cluster.NodeID, vm cluster.VMID, sig syscall.Signal) {
	l.t.Helper()
	l.must(l.host(node).signal(sig, guestPID(vm)))
}

// KillGuest kills the QEMU of a VM. It fails when that has ended, which only the
// caller can know to be wrong.
func (l *Lab) KillGuest(node cluster.NodeID, vm cluster.VMID) error {
	l.t.Helper()
	return l.host(node).signal(syscall.SIGKILL, guestPID(vm))
}

// Squeeze lets a VM run only on the first processor, which all VMs share that are squeezed.
func (l *Lab) Squeeze(node cluster.NodeID, vm cluster.VMID) error {
	l.t.Helper()
	return l.host(node).run("sh", "-c", "taskset -a -p -c 0 $(cat "+guestPID(vm)+")")
}

func guestPID(vm cluster.VMID) string {
	return fmt.Sprintf("/run/libvirt/qemu/vjob-%d-%d.pid", vm.VJob, vm.Rank)
}

// OtherRelease gives a host a QEMU of another release, with this machine type instead of
// pc-i440fx-7.2; "" restores the first. The lab must have been started with SlowImages.
func (l *Lab) OtherRelease(node cluster.NodeID, machine string) {
	l.t.Helper()
	l.must(os.WriteFile(l.path("faults", l.host(node).name+".machine"), []byte(machine), 0o644))
}

// Strange starts a machine that is not vjob's on a host, and returns its name.
func (l *Lab) Strange(node cluster.NodeID) string {
	l.t.Helper()
	const name = "stranger"
	l.must(startStranger(l.host(node).uri(), name, l.path("guest.elf")))
	return name
}

// ConsolePath is where a VM prints.
func ConsolePath(cfg libvirt.Config, vm cluster.VMID) string {
	return fmt.Sprintf("%s/%s.console", cfg.ConsoleDir, vm)
}
