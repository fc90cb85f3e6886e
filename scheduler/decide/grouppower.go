package decide

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/energy/budget"
	"vjob/hypervisor"
)

// feeds returns the budgets of groups of nodes as limits of placement: a vjob that finds no power
// in one rack can go to the next one. The budget of the whole cluster does not limit placement.
// It returns nil if there are no such budgets.
func (p *View) feeds(limits []budget.Limit) *ctxswitch.PowerFeeds {
	f := &ctxswitch.PowerFeeds{Least: map[cluster.VMID]int64{}}
	for _, l := range limits {
		if l.Group != (budget.Group{}) {
			f.List = append(f.List, p.feed(&l))
		}
	}
	if len(f.List) == 0 || len(p.settings.Energy.Power) == 0 {
		return nil
	}
	for i := range p.VJobs {
		job := p.VJobs[i].Job
		floor := minShare(job)
		for k := range job.VMs {
			vm := &job.VMs[k]
			f.Least[vm.ID] = int64(1000 * floor * float64(max(vm.Reserved.CPU, hypervisor.MinCap)))
		}
	}
	return f
}

func (p *View) feed(l *budget.Limit) ctxswitch.PowerFeed {
	f := ctxswitch.PowerFeed{Name: l.Group.Name(), Watts: l.Watts, Nodes: map[cluster.NodeID]ctxswitch.FeedNode{}}
	for _, n := range p.intended.Nodes() {
		if power, known := p.settings.Energy.Power[n.ID]; known && l.Group.Has(n.Labels) {
			f.Nodes[n.ID] = ctxswitch.FeedNode{Node: p.shareNode(&n, power)}
		}
	}
	return f
}

// feedsAhead returns the feeds at another instant. Nodes that are off wake when needed; with
// dark all nodes are off.
func (p *View) feedsAhead(at time.Time, dark bool) *ctxswitch.PowerFeeds {
	f := p.feeds(p.budgets.At(at))
	if f == nil {
		return nil
	}
	for _, feed := range f.List {
		for id, site := range feed.Nodes {
			site.Sleeps, site.Off, site.MinDraw = dark || site.Off, false, 0
			feed.Nodes[id] = site
		}
	}
	return f
}

// groupPowerConflict returns why group budgets leave a vjob with a reservation no places at an
// instant, beside other reservations and running vjobs that are not preempted. It returns "" if
// they leave places, or if the vjob has no places even without budgets.
func (p *View) groupPowerConflict(job *cluster.VJob, at time.Time, dark bool) string {
	feeds := p.feedsAhead(at, dark)
	if feeds == nil {
		return ""
	}
	kept, reserved := []cluster.VJobID(nil), []cluster.VJobID(nil)
	for i := range p.VJobs {
		switch r := &p.VJobs[i]; {
		case r.Job.ID == job.ID:
		case p.reservedAt(r, at):
			reserved = append(reserved, r.Job.ID)
		case p.runsAt(r, at) && p.settings.Keeps(r.Job):
			kept = append(kept, r.Job.ID)
		}
	}
	others := append(kept, reserved...)
	if p.fitsBeside(job.ID, others, feeds) || !p.fitsBeside(job.ID, others, nil) {
		return ""
	}
	text := "the power budgets leave it no places: " + feedFigures(feeds) + "; "
	if len(others) > 0 {
		text += "beside vjobs " + names(others) + " "
	}
	return text + fmt.Sprintf("it draws %s more with %.0f %% of its CPU", p.minShareWatts(job), 100*minShare(job))
}

// fitsBeside reports whether a vjob finds places beside some others alone.
func (p *View) fitsBeside(id cluster.VJobID, others []cluster.VJobID, feeds *ctxswitch.PowerFeeds) bool {
	counts := needs(p.intended)
	for vm := range counts {
		if vm.VJob != id && !slices.Contains(others, vm.VJob) {
			delete(counts, vm)
		}
	}
	room := ctxswitch.NewPacking(ctxswitch.PackingInput{
		Current: p.intended, Applicants: ctxswitch.NewApplicantQueue(p.applicants), Rules: p.rules, Avoid: p.avoid, Pinned: p.immovable, Needs: counts, Feeds: feeds,
	})
	for _, other := range others {
		room.Take(other)
	}
	fits, _ := room.Take(id)
	return fits
}

// feedFigures names feeds with what is left of them, the scarcest first: "rack=r1 has 50 W of
// 250 W beside idle nodes".
func feedFigures(f *ctxswitch.PowerFeeds) string {
	list := slices.Clone(f.List)
	slices.SortStableFunc(list, func(a, b ctxswitch.PowerFeed) int { return int(1000 * (a.Spare() - b.Spare())) })
	var parts []string
	for i := range list[:min(len(list), maxFigures)] {
		l := &list[i]
		parts = append(parts, fmt.Sprintf("%s has %s of %s beside idle nodes", l.Name, max(0, l.Spare()), l.Watts))
	}
	if rest := len(list) - maxFigures; rest > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", rest))
	}
	return strings.Join(parts, ", ")
}

// maxFigures is how many feeds a reason names before it only counts them.
const maxFigures = 3

func names(ids []cluster.VJobID) string {
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = id.String()
	}
	return strings.Join(list, ", ")
}
