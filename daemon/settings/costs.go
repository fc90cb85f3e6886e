package settings

import (
	"cmp"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/hypervisor/simulated"
)

// SimulatedCosts returns the planner's estimates for simulated actions with the durations of the profile.
func SimulatedCosts(p simulated.Profile) ctxswitch.Costs {
	local := p.Restore.Of(cluster.GiB)
	c := ctxswitch.Costs{
		Boot: p.Boot, Stop: p.Shutdown, Pause: max(p.Pause, p.Unpause),
		Suspend: p.Save.Base + p.Seal.Base, SuspendPer: p.Save.PerGiB + p.Seal.PerGiB,
		Resume: p.Restore.Base, ResumePer: p.Restore.PerGiB,
		MigratePer: p.Migrate.Of(cluster.GiB), RemoteFactor: 1,
	}
	if local > 0 {
		c.RemoteFactor = float64(p.RestoreRemote.Of(cluster.GiB)) / float64(local)
	}
	return c
}

// tenGigabit is the default rate of a migration: 10 Gbit/s.
const tenGigabit cluster.Rate = 10_000_000_000 / 8

// LibvirtCosts returns the planner's estimates for real nodes. A save writes the image once and
// reads it once for the checksum. A restore reads the image twice: to verify and to load it.
// libvirt and QEMU add about a second to each. All nodes read the store at the same rate. Boots
// and stops take as long as in the thesis.
func (s *Settings) LibvirtCosts() ctxswitch.Costs {
	perGiB := func(rate cluster.Rate) time.Duration {
		return time.Duration(float64(time.Second) * (1 << 30) / float64(rate))
	}
	save, read := perGiB(cluster.Rate(s.Libvirt.SaveMiBps)<<20), perGiB(cluster.Rate(s.Libvirt.RestoreMiBps)<<20)
	return ctxswitch.Costs{
		Boot: ctxswitch.ThesisCosts.Boot, Stop: ctxswitch.ThesisCosts.Stop,
		Suspend: time.Second, SuspendPer: save + read,
		Resume: time.Second, ResumePer: 2 * read, RemoteFactor: 1,
		MigratePer: perGiB(s.Libvirt.migrationRate(s.Network.NIC.Rate)),
	}
}

// migrationRate returns the rate of a migration: that of the NIC (default 10 Gbit/s), and at
// most the limit of the settings.
func (l *Libvirt) migrationRate(nic cluster.Rate) cluster.Rate {
	rate := cmp.Or(nic, tenGigabit)
	if limit := cluster.Rate(l.MigrationMiBps) << 20; limit > 0 {
		rate = min(rate, limit)
	}
	return rate
}

// scaled returns the costs on a cluster that is faster by the factor speed.
func scaled(c ctxswitch.Costs, speed float64) ctxswitch.Costs {
	scale := func(d time.Duration) time.Duration { return time.Duration(float64(d) / speed) }
	c.Boot, c.Stop, c.Pause = scale(c.Boot), scale(c.Stop), scale(c.Pause)
	c.Suspend, c.Resume = scale(c.Suspend), scale(c.Resume)
	c.Migrate, c.BootPer, c.StopPer = scale(c.Migrate), scale(c.BootPer), scale(c.StopPer)
	c.MigratePer, c.SuspendPer, c.ResumePer = scale(c.MigratePer), scale(c.SuspendPer), scale(c.ResumePer)
	return c
}
