package jobs

import (
	"slices"
	"time"

	"vjob/cluster"
	"vjob/hypervisor/simulated"
	"vjob/papers/consolidation"
	"vjob/sim/workload"
)

// usage is what an experiment of consolidation comes to: until the first application ends, as in the thesis.
type usage struct {
	nodeHours   float64       // of nodes with VMs
	nodes       float64       // mean
	unsatisfied float64       // mean number of active VMs that share a processor
	reaction    time.Duration // mean time from unsatisfied VMs to none
	overhead    float64       // of the run time of the first application
}

// repacker runs the VMs of a workload under dynamic consolidation by First Fit Decreasing (§10.2.2), in steps of a
// second: whenever the activity of VMs has changed and no plan is carried out, all VMs are packed anew, and those
// that are elsewhere migrate. A plan is a sequence of steps as in §8.3: each has all migrations that are feasible
// then, one at a time for each node, and if none is, one VM goes to a pivot node first. VMs that share a processor
// run more slowly.
type repacker struct {
	vms     []member
	room    [][]int64
	at      []int
	target  []int // nil: no plan
	moving  map[int]move
	pivoted map[int]bool // VMs that the plan has moved to a pivot node
	last    []bool       // activity for which VMs were packed
	now     time.Duration
}

// member is a VM: the work that is left, and on what it waits.
type member struct {
	job    int
	memory int64
	after  []int // VMs that have to end their work before
	left   float64
}

// move is a migration under way.
type move struct {
	to  int
	end time.Duration
}

// newRepacker reads the VMs of a workload: each does one piece of work.
func newRepacker(w *workload.Workload) *repacker {
	r := &repacker{moving: map[int]move{}}
	for _, n := range w.Nodes {
		r.room = append(r.room, []int64{int64(n.Capacity.CPU), int64(n.Capacity.Memory)})
	}
	for j := range w.Jobs {
		first := len(r.vms)
		for _, vm := range w.Jobs[j].Submission.VMs {
			m := member{job: j, memory: int64(vm.Reserved.Memory)}
			for _, s := range vm.Payload.Program.Steps {
				if s.CPU == 0 {
					continue
				}
				m.left = s.Duration.Seconds()
				for _, ref := range s.After {
					if ref.Index > 0 {
						m.after = append(m.after, first+ref.Rank)
					}
				}
			}
			r.vms = append(r.vms, m)
		}
	}
	r.at = consolidation.FirstFit(r.problem(make([]bool, len(r.vms))), 1)
	return r
}

// problem is the packing of the VMs: active ones need a processor.
func (r *repacker) problem(active []bool) *consolidation.Problem {
	p := &consolidation.Problem{Room: r.room}
	for i := range r.vms {
		cpu := int64(0)
		if active[i] {
			cpu = int64(cluster.CPU)
		}
		p.Need = append(p.Need, []int64{cpu, r.vms[i].memory})
	}
	return p
}

// activity returns which VMs compute.
func (r *repacker) activity() []bool {
	active := make([]bool, len(r.vms))
	for i := range r.vms {
		active[i] = r.vms[i].left > 0
		for _, before := range r.vms[i].after {
			active[i] = active[i] && r.vms[before].left <= 0
		}
	}
	return active
}

// run runs until the first application ends. Alone it takes the given time.
func (r *repacker) run(alone time.Duration) usage {
	u, crises, crisis := usage{}, 0, time.Duration(0)
	for !r.anyEnded() {
		active := r.activity()
		r.migrate(active)
		here := make([]int, len(r.room))
		used := map[int]bool{}
		for i, n := range r.at {
			used[n] = true
			if active[i] {
				here[n]++
			}
		}
		for _, m := range r.moving {
			used[m.to] = true
		}
		short := 0
		for i, n := range r.at {
			if active[i] {
				r.vms[i].left -= 1 / float64(here[n])
				if here[n] > 1 {
					short++
				}
			}
		}
		switch {
		case short > 0:
			if crisis == 0 {
				crises++
			}
			crisis += time.Second
			u.reaction += time.Second
		default:
			crisis = 0
		}
		u.nodeHours += float64(len(used)) / 3600
		u.unsatisfied += float64(short)
		r.now += time.Second
	}
	u.nodes, u.unsatisfied = u.nodeHours/r.now.Hours(), u.unsatisfied/r.now.Seconds()
	u.reaction /= time.Duration(max(1, crises))
	u.overhead = float64(r.now)/float64(alone) - 1
	return u
}

// anyEnded reports whether all VMs of some application have ended.
func (r *repacker) anyEnded() bool {
	open := map[int]bool{}
	jobs := 0
	for i := range r.vms {
		jobs = max(jobs, r.vms[i].job+1)
		open[r.vms[i].job] = open[r.vms[i].job] || r.vms[i].left > 0
	}
	for j := range jobs {
		if !open[j] {
			return true
		}
	}
	return false
}

// migrate completes migrations, and begins the next step of the plan, or another plan.
func (r *repacker) migrate(active []bool) {
	for i := range r.vms {
		if m, is := r.moving[i]; is && r.now >= m.end {
			r.at[i] = m.to
			delete(r.moving, i)
		}
	}
	if len(r.moving) > 0 {
		return // the step goes on
	}
	if r.target == nil && !slices.Equal(active, r.last) {
		r.pivoted = map[int]bool{}
		r.target, r.last = consolidation.FirstFit(r.problem(active), 1), slices.Clone(active)
	}
	if r.target == nil {
		return
	}
	if slices.Equal(r.target, r.at) {
		r.target = nil
		return
	}
	r.step(r.last)
}

// step begins the migrations of the next step: all that are feasible, or one to a pivot node. The plan counts VMs as
// active that were so when it was made.
func (r *repacker) step(active []bool) {
	free := r.free(active)
	busy := make([]bool, len(r.room))
	begin := func(vm, to int) bool {
		from, need := r.at[vm], r.problem(active).Need[vm]
		if from == to || busy[from] || busy[to] || free[to][0] < need[0] || free[to][1] < need[1] {
			return false
		}
		busy[from], busy[to] = true, true
		r.moving[vm] = move{to, r.now + simulated.Thesis.MigrateLive.Of(cluster.MiB(r.vms[vm].memory))}
		return true
	}
	for vm, to := range r.target {
		begin(vm, to)
	}
	for vm := 0; vm < len(r.at) && len(r.moving) == 0; vm++ {
		if r.at[vm] == r.target[vm] || r.pivoted[vm] {
			continue
		}
		for pivot := range r.room {
			if begin(vm, pivot) {
				r.pivoted[vm] = true
				break
			}
		}
	}
	if len(r.moving) == 0 {
		r.target = nil // not even a pivot is free
	}
}

// free returns what the VMs leave of each node.
func (r *repacker) free(active []bool) [][]int64 {
	free := make([][]int64, len(r.room))
	for n := range free {
		free[n] = slices.Clone(r.room[n])
	}
	for i, need := range r.problem(active).Need {
		for d := range need {
			free[r.at[i]][d] -= need[d]
		}
	}
	return free
}
