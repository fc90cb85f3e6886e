package repack

// Cost is K of thesis eq. 8.1: the sum over the actions on VMs of what each copies and
// of the cost of the steps before its own, where a step costs as much as its dearest
// action. The unit is that of memory.
//
// A plan here has dependencies instead of steps: an action that waits for nothing is
// in the first, any other in the one after the last that it waits for. What makes no
// sense in a plan costs nothing; see [Check].
func (in *Instance) Cost(p *Plan) int64 {
	var steps []int64
	level := make([]int, len(p.Actions))
	local := make([]int64, len(p.Actions))
	for i := range p.Actions {
		a := &p.Actions[i]
		for _, before := range a.After {
			if before >= 0 && before < i {
				level[i] = max(level[i], level[before]+1)
			}
		}
		for len(steps) <= level[i] {
			steps = append(steps, 0)
		}
		local[i] = in.copied(a)
		steps[level[i]] = max(steps[level[i]], local[i])
	}
	before := make([]int64, len(steps)+1)
	for i, k := range steps {
		before[i+1] = before[i] + k
	}
	var sum int64
	for i := range p.Actions {
		if k := p.Actions[i].Kind; !k.OnNode() && k != Allocate {
			sum += before[level[i]] + local[i]
		}
	}
	return sum
}

// copied is what an action copies (thesis table 8.3).
func (in *Instance) copied(a *Action) int64 {
	if a.Kind != Migrate && a.Kind != Suspend && a.Kind != Resume || a.VM < 0 || a.VM >= len(in.VMs) {
		return 0
	}
	v := VM{State: Running, Host: a.From, Next: in.VMs[a.VM].Next}
	if a.Kind == Resume {
		v.State = Sleeping
	}
	if a.Kind == Suspend {
		return v.CostTo(Nowhere)
	}
	return v.CostTo(a.To)
}
