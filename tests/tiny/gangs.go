package tiny

import "vjob/repack"

// gangs joins VMs that begin and end alike into one gang or two.
func (g *generator) gangs() {
	var gangs [2][]int
	for vm := range g.in.VMs {
		i := g.IntN(3)
		if v := &g.in.VMs[vm]; i == 2 || v.Stays || len(gangs[i]) > 0 && !alike(v, &g.in.VMs[gangs[i][0]]) {
			continue
		}
		gangs[i] = append(gangs[i], vm)
	}
	for _, vms := range gangs {
		if len(vms) == 0 {
			continue
		}
		g.in.Gangs = append(g.in.Gangs, vms)
		paused, sleepable := g.one(3), g.one(2)
		for _, vm := range vms {
			g.in.VMs[vm].Paused, g.in.VMs[vm].Sleepable = paused, sleepable
		}
	}
}

// alike reports whether two VMs begin in one state and end in one.
func alike(a, b *repack.VM) bool { return a.State == b.State && a.Want == b.Want }

// transfers has some nodes carry few transfers at once, and some carry one from before.
func (g *generator) transfers() {
	if g.one(2) {
		return
	}
	for n := range g.in.Nodes {
		if g.one(3) {
			continue
		}
		g.in.Nodes[n].Transfers = 1 + g.IntN(2)
		if g.one(4) {
			g.in.Nodes[n].Busy = []repack.Ticks{g.ticks(4)}
		}
	}
}
