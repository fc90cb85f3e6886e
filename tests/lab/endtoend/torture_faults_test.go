//go:build libvirt_dlopen

package endtoend

import (
	"syscall"
	"time"

	"vjob/cluster"
)

// fault is something that strikes a node, or all, and is healed after a while.
type fault struct {
	name         string
	strike, heal func(*torture, cluster.NodeID)
	daemon       bool // no order is taken meanwhile
}

// faults are all kinds.
var faults = []fault{
	{
		"kill -9 of vjobd", func(tt *torture, _ cluster.NodeID) { tt.d.kill() },
		func(tt *torture, _ cluster.NodeID) { tt.startDaemon() }, true,
	},
	{
		"vjobd frozen", func(tt *torture, _ cluster.NodeID) { tt.signal(syscall.SIGSTOP) },
		func(tt *torture, _ cluster.NodeID) { tt.signal(syscall.SIGCONT) }, true,
	},
	{
		"clock of vjobd an hour ahead", func(tt *torture, _ cluster.NodeID) { tt.must(tt.clock.Step(time.Hour)) },
		func(tt *torture, _ cluster.NodeID) { tt.must(tt.clock.Step(0)) }, false,
	},
	{
		"clock of vjobd an hour behind", func(tt *torture, _ cluster.NodeID) { tt.must(tt.clock.Step(-time.Hour)) },
		func(tt *torture, _ cluster.NodeID) { tt.must(tt.clock.Step(0)) }, false,
	},
	{
		"kill -9 of libvirtd", func(tt *torture, n cluster.NodeID) { tt.lab.KillDaemon(n) },
		func(tt *torture, n cluster.NodeID) { tt.lab.RestartDaemon(n) }, false,
	},
	{"kill -9 of virtlockd", func(tt *torture, n cluster.NodeID) { tt.lab.KillLocks(n) }, func(tt *torture, n cluster.NodeID) {
		tt.lab.RestartLocks(n)
		tt.lab.KillDaemon(n)
		tt.lab.RestartDaemon(n)
	}, false},
	{
		"libvirtd frozen", func(tt *torture, n cluster.NodeID) { tt.lab.Freeze(n) },
		func(tt *torture, n cluster.NodeID) { tt.lab.Thaw(n) }, false,
	},
	{
		"host frozen", func(tt *torture, n cluster.NodeID) { tt.lab.FreezeHost(n) },
		func(tt *torture, n cluster.NodeID) { tt.lab.ThawHost(n) }, false,
	},
	{
		"guests frozen", func(tt *torture, n cluster.NodeID) { tt.lab.FreezeGuests(n) },
		func(tt *torture, n cluster.NodeID) { tt.lab.ThawGuests(n) }, false,
	},
	{
		"link of a host cut", func(tt *torture, n cluster.NodeID) { tt.lab.CutLink(n) },
		func(tt *torture, n cluster.NodeID) { tt.lab.RestoreLink(n) }, false,
	},
	{
		"vjobd cut off from a host", func(tt *torture, n cluster.NodeID) { tt.lab.CutScheduler(n) },
		func(tt *torture, n cluster.NodeID) { tt.lab.JoinScheduler(n) }, false,
	},
	{
		"last reply of a migration lost", func(tt *torture, n cluster.NodeID) { tt.lab.DropFinish(n) },
		func(tt *torture, n cluster.NodeID) { tt.lab.KeepFinish(n) }, false,
	},
	{
		"image store full", func(tt *torture, _ cluster.NodeID) { tt.lab.Images.Fill(0) },
		func(tt *torture, _ cluster.NodeID) { tt.lab.Images.Empty() }, false,
	},
	{
		"image store out of inodes", func(tt *torture, _ cluster.NodeID) { tt.lab.Images.UseUpInodes(0) },
		func(tt *torture, _ cluster.NodeID) { tt.lab.Images.FreeInodes() }, false,
	},
	{
		"image store not mounted", func(tt *torture, _ cluster.NodeID) { tt.lab.Images.Unmount() },
		func(tt *torture, _ cluster.NodeID) { tt.lab.Images.Mount() }, false,
	},
	{
		"images read with errors", func(tt *torture, n cluster.NodeID) { tt.lab.Images.LimitReads(n, 0, 2000) },
		func(tt *torture, n cluster.NodeID) { tt.lab.Images.LimitReads(n, 0, 0) }, false,
	},
	{
		"images read slowly", func(tt *torture, n cluster.NodeID) { tt.lab.Images.LimitReads(n, 1024, 0) },
		func(tt *torture, n cluster.NodeID) { tt.lab.Images.LimitReads(n, 0, 0) }, false,
	},
	{
		"QEMU of another release", func(tt *torture, n cluster.NodeID) { tt.lab.OtherRelease(n, "pc-i440fx-6.2") },
		func(tt *torture, n cluster.NodeID) { tt.lab.OtherRelease(n, "") }, false,
	},
}

func (tt *torture) signal(sig syscall.Signal) {
	tt.Helper()
	tt.must(tt.d.cmd.Process.Signal(sig))
}

// drawFault draws a fault, where it strikes, whether that is before the orders, and how
// long it lasts. Every kind comes before one comes again.
func (tt *torture) drawFault() (f fault, node cluster.NodeID, early bool, length time.Duration) {
	if len(tt.faults) == 0 {
		for _, i := range tt.random.Perm(len(faults)) {
			tt.faults = append(tt.faults, faults[i])
		}
	}
	f, tt.faults = tt.faults[0], tt.faults[1:]
	hosts := tt.lab.Hosts()
	node = hosts[tt.random.IntN(len(hosts))]
	early = tt.random.IntN(3) == 0
	length = time.Duration(200+tt.random.IntN(4000)) * time.Millisecond
	return f, node, early, length
}
