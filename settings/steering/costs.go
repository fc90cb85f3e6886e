package steering

import (
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/hypervisor/simulated"
)

// Costs are the planner's estimates of actions that take as long as the profile
// says.
func Costs(p simulated.Profile) ctxswitch.Costs {
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

// Scaled are the costs on a cluster that is so many times faster.
func Scaled(c ctxswitch.Costs, speed float64) ctxswitch.Costs {
	scale := func(d time.Duration) time.Duration { return time.Duration(float64(d) / speed) }
	c.Boot, c.Stop, c.Pause = scale(c.Boot), scale(c.Stop), scale(c.Pause)
	c.Suspend, c.Resume = scale(c.Suspend), scale(c.Resume)
	c.MigratePer, c.SuspendPer, c.ResumePer = scale(c.MigratePer), scale(c.SuspendPer), scale(c.ResumePer)
	return c
}
