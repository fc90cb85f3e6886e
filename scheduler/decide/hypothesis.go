package decide

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/placement"
	"vjob/internal/suggest"
	"vjob/queue/pool"
)

// Detach makes the facts independent of the executor, so that views of them can be made beside it.
func (f *Facts) Detach() { f.detach() }

func (f *Facts) detach() *keptBookings {
	k := &keptBookings{vms: make(map[cluster.VJobID][]execute.Booking, len(f.VJobs)), ways: map[cluster.VMID]keptWay{}}
	for i := range f.VJobs {
		r := &f.VJobs[i]
		vms := f.Bookings.Booked(r.Job.ID)
		for rank := range r.Job.VMs {
			vm := r.Job.VMs[rank].ID
			if f.Demand == nil || r.Job.State == cluster.Waiting {
				vms[rank].Demand = r.Job.VMs[rank].Reserved.CPU
			}
			if r.Busy() {
				k.ways[vm] = keptWay{f.Bookings.Destination(vm), f.Bookings.Holds(vm)}
			}
		}
		k.vms[r.Job.ID] = vms
	}
	f.Bookings, f.Demand = k, func(vm cluster.VMID) cluster.MilliCPU { return k.of(vm).Demand }
	f.Past, f.Waits, f.Reader = f.Past.Clone(), maps.Clone(f.Waits), f.Reader.Clone()
	return k
}

// Fork returns a copy of detached facts that can be changed.
func (f *Facts) Fork() *Facts {
	g := *f
	g.VJobs, g.Nodes = slices.Clone(f.VJobs), slices.Clone(f.Nodes)
	return &g
}

// keptBookings are bookings as they were, by vjob and rank.
type keptBookings struct {
	vms  map[cluster.VJobID][]execute.Booking
	ways map[cluster.VMID]keptWay // of VMs under way
}

// keptWay is where a VM goes, and where it holds resources until then.
type keptWay struct {
	to    cluster.NodeID
	holds []cluster.NodeID
}

// of returns what is kept of a VM; nothing is of an unknown one.
func (k *keptBookings) of(vm cluster.VMID) *execute.Booking {
	if vms := k.vms[vm.VJob]; vm.Rank < len(vms) {
		return &vms[vm.Rank]
	}
	return &execute.Booking{}
}

// Booked implements [Bookings].
func (k *keptBookings) Booked(id cluster.VJobID) []execute.Booking { return slices.Clone(k.vms[id]) }

// Need implements [Bookings].
func (k *keptBookings) Need(vm cluster.VMID) cluster.Resources { return k.of(vm).Need }

// Cap implements [Bookings].
func (k *keptBookings) Cap(vm cluster.VMID) cluster.MilliCPU { return k.of(vm).Cap }

// Destination implements [Bookings].
func (k *keptBookings) Destination(vm cluster.VMID) cluster.NodeID { return k.ways[vm].to }

// Holds implements [Bookings].
func (k *keptBookings) Holds(vm cluster.VMID) []cluster.NodeID { return k.ways[vm].holds }

// NewNode is a node that does not exist, like one that does.
type NewNode struct {
	Name cluster.NodeID // "" is the name of Like with the next free number
	Like cluster.NodeID
}

// AddNodes adds nodes that are on and empty, each with the capacity, the labels, the platforms, the image store, the
// power model and the network of another one. It returns the settings with these. An error is a
// [cluster.FieldError] with a field such as add[1].like; the facts are then of no use.
func (f *Facts) AddNodes(s *Settings, list []NewNode) (*Settings, error) {
	if len(list) == 0 {
		return s, nil
	}
	out := *s
	out.Energy.Power = maps.Clone(s.Energy.Power)
	if s.Network != nil {
		network := *s.Network
		network.NIC = maps.Clone(network.NIC)
		out.Network = &network
	}
	f.Nodes, f.Images, f.Reader = slices.Clone(f.Nodes), maps.Clone(f.Images), placement.NewReader()
	existing := len(f.Nodes)
	for i, n := range list {
		field := fmt.Sprintf("add[%d].", i)
		like := slices.IndexFunc(f.Nodes[:existing], func(o *execute.NodeReport) bool { return o.ID == n.Like })
		if like < 0 {
			return nil, cluster.BadField(field+"like", string(n.Like), nodeHint(f.Nodes[:existing], n.Like))
		}
		if n.Name == "" {
			n.Name = f.nextName(n.Like)
		}
		if f.hasNode(n.Name) {
			return nil, cluster.BadField(field+"name", string(n.Name), "the name of a new node: this one exists")
		}
		f.addNode(&out, n.Name, f.Nodes[like])
	}
	return &out, nil
}

func (f *Facts) hasNode(id cluster.NodeID) bool {
	return slices.ContainsFunc(f.Nodes, func(o *execute.NodeReport) bool { return o.ID == id })
}

func nodeHint(nodes []*execute.NodeReport, name cluster.NodeID) string {
	names := make([]string, len(nodes))
	for i := range nodes {
		names[i] = string(nodes[i].ID)
	}
	if near := suggest.Nearest(string(name), names); near != "" {
		return "an existing node, such as " + near
	}
	return "an existing node"
}

// nextName returns the name of a node with the next number that no node has: n4 for n1 of n1, n2 and n3.
func (f *Facts) nextName(like cluster.NodeID) cluster.NodeID {
	stem := strings.TrimRight(string(like), "0123456789")
	digits := string(like)[len(stem):]
	number, _ := strconv.Atoi(digits)
	for {
		number++
		name := cluster.NodeID(fmt.Sprintf("%s%0*d", stem, len(digits), number))
		if !f.hasNode(name) {
			return name
		}
	}
}

func (f *Facts) addNode(s *Settings, name cluster.NodeID, like *execute.NodeReport) {
	n := &execute.NodeReport{
		Node: like.Node, Since: f.Now, On: true, Platforms: like.Platforms, PlatformClass: like.PlatformClass,
	}
	n.ID, n.State, n.Maintenance, n.Labels = name, cluster.Online, nil, maps.Clone(like.Labels)
	f.Nodes = append(f.Nodes, n)
	if space, known := f.Images[like.ID]; known {
		if !f.sharesImages(like.ID) {
			space.Pool = string(name)
		}
		f.Images[name] = space
	}
	if power, known := s.Energy.Power[like.ID]; known {
		s.Energy.Power[name] = power
	}
	if s.Network == nil {
		return
	}
	if rate, known := s.Network.NIC[like.ID]; known {
		s.Network.NIC[name] = rate
	}
}

// sharesImages reports whether a node saves images where other nodes do.
func (f *Facts) sharesImages(id cluster.NodeID) bool {
	for other, space := range f.Images {
		if other != id && space.Pool == f.Images[id].Pool {
			return true
		}
	}
	return len(f.Images) == 1
}

// DemandChange is another CPU demand of the VMs of some vjobs.
type DemandChange struct {
	// VJob, Owner and Pool select vjobs; if all are empty, every vjob. Pool includes the pools below it.
	VJob  cluster.VJobID
	Owner string
	Pool  string
	// Factor multiplies the demand of each VM; nil: it becomes CPU.
	Factor *float64
	CPU    cluster.MilliCPU
}

// mostDemand bounds demands so that sums stay far below the largest integer.
const mostDemand = 1 << 32

// Of returns the demand of a VM after the change.
func (c *DemandChange) Of(cpu cluster.MilliCPU) cluster.MilliCPU {
	if c.Factor == nil {
		return c.CPU
	}
	return cluster.MilliCPU(min(math.Round(float64(cpu)**c.Factor), mostDemand))
}

// ChangeDemand changes the CPU demand of VMs, one change after the other. It concerns vjobs that have started: others
// count for what they reserve until they run. Under a policy that packs by demand, the VMs also count for it.
// Memory counts as reserved in full, whatever is demanded. The facts are detached. An error is a
// [cluster.FieldError] with a field such as demand[0].pool.
func (f *Facts) ChangeDemand(s *Settings, changes []DemandChange) error {
	if len(changes) == 0 {
		return nil
	}
	books := f.detach()
	for i := range changes {
		c := &changes[i]
		concerned, err := f.concerned(s, c)
		if err != nil {
			return cluster.WithPath(fmt.Sprintf("demand[%d]", i), err)
		}
		for _, job := range concerned {
			for rank := range job.VMs {
				vm := books.of(job.VMs[rank].ID)
				was := vm.Demand
				vm.Demand = c.Of(was)
				if s.Needs(job, rank, was+1, true).CPU == was+1 { // it counts for its demand
					vm.Need = s.Needs(job, rank, vm.Demand, true)
				}
			}
		}
	}
	return nil
}

// concerned lists the vjobs that a change concerns and that have started.
func (f *Facts) concerned(s *Settings, c *DemandChange) (list []*cluster.VJob, err error) {
	in := func(*cluster.VJob) bool { return true }
	switch {
	case c.VJob != 0:
		in = func(job *cluster.VJob) bool { return job.ID == c.VJob }
	case c.Owner != "":
		in = func(job *cluster.VJob) bool { return job.Owner == c.Owner }
	case c.Pool != "":
		if in, err = f.inPool(s, c.Pool); err != nil {
			return nil, err
		}
	}
	some := false
	for i := range f.VJobs {
		job := f.VJobs[i].Job
		if !in(job) {
			continue
		}
		some = true
		if job.State != cluster.Waiting {
			list = append(list, job)
		}
	}
	switch {
	case some:
		return list, nil
	case c.VJob != 0:
		return nil, cluster.BadField("vjob", c.VJob, "the number of a vjob that has not ended")
	case c.Owner != "":
		return nil, cluster.BadField("owner", c.Owner, "the owner of a vjob that has not ended")
	}
	return nil, nil
}

// inPool returns whether a vjob is in a pool or below it. Vjobs inside a container are in its pool.
func (f *Facts) inPool(s *Settings, name string) (func(*cluster.VJob) bool, error) {
	if name == pool.Root {
		return func(*cluster.VJob) bool { return true }, nil
	}
	if f.Pools == nil {
		return nil, cluster.BadField("pool", name, "a pool: the cluster has no pools")
	}
	at, known := f.Pools.Pool(name)
	if !known || name == "" {
		var names []string
		for _, m := range f.Pools.Members() {
			names = append(names, m.Name)
		}
		if near := suggest.Nearest(name, names); near != "" {
			names = []string{near}
		}
		return nil, cluster.BadField("pool", name, "a pool, such as "+strings.Join(names[:min(len(names), 5)], ", "))
	}
	jobs := map[cluster.VJobID]*cluster.VJob{}
	for i := range f.VJobs {
		jobs[f.VJobs[i].Job.ID] = f.VJobs[i].Job
	}
	exists := func(name string) bool { _, known := f.Pools.Pool(name); return known }
	return func(job *cluster.VJob) bool {
		if outer := jobs[job.Inner]; outer != nil && job.Pool == "" {
			job = outer
		}
		own, _ := f.Pools.Pool(s.OrderingRules().Pool(job, exists))
		for i := own; i >= 0; i = f.Pools.Members()[i].Parent {
			if i == at {
				return true
			}
		}
		return false
	}, nil
}

// TurnOff lets the VMs of a node leave, and counts the node as off. It fails with ErrNotFound.
func (w *Variant) TurnOff(id cluster.NodeID) error {
	if err := w.SetNodeState(id, cluster.Draining); err != nil {
		return err
	}
	w.AssumeOff(id)
	w.setReport(id, func(n *execute.NodeReport) { n.On = false })
	return nil
}

// setReport changes what the facts say of a node.
func (w *Variant) setReport(id cluster.NodeID, change func(n *execute.NodeReport)) {
	for i, n := range w.facts.Nodes {
		if n.ID == id {
			changed := *n
			change(&changed)
			w.facts.Nodes[i] = &changed
		}
	}
}
