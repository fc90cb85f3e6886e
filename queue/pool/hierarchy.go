package pool

import (
	"fmt"
	"maps"
	"slices"

	"vjob/cluster"
)

// Root is the name of the cluster above all pools. A daemon gives it to no pool.
const Root = "cluster"

// Pool is a pool as administrators state it.
type Pool struct {
	Name   string
	Parent string // the pool that it is in; "" is the cluster
	Settings
}

// Member is the cluster, a pool or a VM of a hierarchy.
type Member struct {
	Name   string
	VM     bool
	Parent int // the index of its pool; -1 for the cluster
	Depth  int // 0 for the cluster
	Settings
	// Reserved is what it keeps of its pool: its own reservation, or what is reserved in it if that is more.
	Reserved cluster.Resources
}

// Hierarchy is a cluster with its pools and their VMs. It honours all reservations in it: a member that it
// could not honour is refused.
type Hierarchy struct {
	members []Member            // the first is the cluster; each pool stands before what is in it
	within  []cluster.Resources // reserved by what is in each member
	pools   map[string]int      // by name; "" is the cluster
	trees   []*Tree             // of the last division: one for each resource

	// DemandFirst divides as [Tree.DemandFirst] does. It is set before the first division.
	DemandFirst bool
}

// NewHierarchy returns a cluster of some capacity with pools, in any order, and without VMs. Its errors are
// [cluster.FieldError] with fields such as pools[2].parent.
func NewHierarchy(capacity cluster.Resources, pools []Pool) (*Hierarchy, error) {
	return newHierarchy(capacity, pools, true)
}

// KeptHierarchy is as [NewHierarchy] for pools that were checked on a cluster of another capacity: reservations
// that exceed the present one are no error. Each pool then gets less than it has reserved, in proportion.
func KeptHierarchy(capacity cluster.Resources, pools []Pool) (*Hierarchy, error) {
	return newHierarchy(capacity, pools, false)
}

func newHierarchy(capacity cluster.Resources, pools []Pool, honours bool) (*Hierarchy, error) {
	root := Member{Name: Root, Parent: -1}
	for _, r := range resources {
		*r.of(&root.Settings) = Controls{Limit: *r.amount(&capacity), Shares: 1}
	}
	h := &Hierarchy{members: []Member{root}, within: make([]cluster.Resources, 1), pools: map[string]int{"": 0}}
	order, err := parentsFirst(pools)
	if err != nil {
		return nil, err
	}
	for _, i := range order {
		p := &pools[i]
		at, err := h.add(Member{Name: p.Name, Settings: p.Settings}, "parent", p.Parent, honours)
		if err != nil {
			return nil, cluster.WithPath(fmt.Sprintf("pools[%d]", i), err)
		}
		h.pools[p.Name] = at
	}
	return h, nil
}

// parentsFirst returns the indices of the pools, each after the pool that it is in.
func parentsFirst(pools []Pool) (order []int, err error) {
	index := map[string]int{}
	for i := range pools {
		field := fmt.Sprintf("pools[%d].name", i)
		if !cluster.IsName(pools[i].Name) {
			return nil, cluster.BadField(field, pools[i].Name, "a name")
		}
		if first, twice := index[pools[i].Name]; twice {
			return nil, cluster.BadField(field, pools[i].Name, fmt.Sprintf("a name that no other pool has, such as pools[%d]", first))
		}
		index[pools[i].Name] = i
	}
	listed, start := make([]bool, len(pools)), make([]int, len(pools))
	for i := range pools {
		var path []int // from the pool up to one that is listed
		for k, known := i, true; known && !listed[k]; k, known = index[pools[k].Parent] {
			if start[k] == i+1 {
				return nil, cluster.Fault(fmt.Sprintf("pools[%d].parent", k), "%q is in itself", pools[k].Name)
			}
			start[k], path = i+1, append(path, k)
			if pools[k].Parent == "" {
				break
			}
		}
		for _, k := range slices.Backward(path) {
			listed[k] = true
			order = append(order, k)
		}
	}
	return order, nil
}

// Add adds a VM to a pool, "" for none, and returns its index. It refuses with a [cluster.FieldError] an
// unknown pool, settings that contradict each other, and a reservation that the pool, one above it or the
// cluster cannot honour beside those of others; the hierarchy is then as before.
func (h *Hierarchy) Add(vm, pool string, s Settings) (int, error) {
	return h.add(Member{Name: vm, VM: true, Settings: s}, "pool", pool, true)
}

// Clone returns an independent copy.
func (h *Hierarchy) Clone() *Hierarchy {
	c := *h
	c.members, c.within, c.pools, c.trees = slices.Clone(h.members), slices.Clone(h.within), maps.Clone(h.pools), nil
	return &c
}

// add adds a member to a pool; the field is that of the name of the pool. With honours it refuses reservations that
// cannot be honoured.
func (h *Hierarchy) add(m Member, field, pool string, honours bool) (int, error) {
	at, known := h.pools[pool]
	if !known {
		return 0, cluster.BadField(field, pool, "the name of a pool")
	}
	m.Parent, m.Depth = at, h.members[at].Depth+1
	if m.Depth > MaxDepth {
		return 0, cluster.Fault(field, "%q is in more than %d pools", m.Name, MaxDepth)
	}
	if err := m.Check(); err != nil {
		return 0, err
	}
	m.Reserved = reservations(&m.Settings)
	if err := h.check(at, m.Reserved); err != nil && honours {
		return 0, err
	}
	h.reserve(at, m.Reserved)
	h.members, h.within, h.trees = append(h.members, m), append(h.within, cluster.Resources{}), nil
	return len(h.members) - 1, nil
}

// Put adds a VM that runs already, whatever is reserved beside it: nodes may have been lost since it started.
// The pool is that of a known name.
func (h *Hierarchy) Put(vm, pool string, s Settings) int {
	at := h.pools[pool]
	m := Member{Name: vm, VM: true, Parent: at, Depth: h.members[at].Depth + 1, Settings: s, Reserved: reservations(&s)}
	h.reserve(at, m.Reserved)
	h.members, h.within, h.trees = append(h.members, m), append(h.within, cluster.Resources{}), nil
	return len(h.members) - 1
}

func reservations(s *Settings) (r cluster.Resources) {
	for _, resource := range resources {
		*resource.amount(&r) = resource.of(s).Reservation
	}
	return r
}

// Honours returns the error with which [Hierarchy.Add] would refuse VMs that reserve so much in a pool together.
func (h *Hierarchy) Honours(pool string, more cluster.Resources) error {
	at, known := h.pools[pool]
	if !known {
		return cluster.BadField("pool", pool, "the name of a pool")
	}
	return h.check(at, more)
}

// check returns an error if more cannot be reserved in a member.
func (h *Hierarchy) check(at int, more cluster.Resources) error {
	l, lacks := h.lack(at, more)
	switch {
	case !lacks:
		return nil
	case l.at == 0:
		return cluster.Fault(l.name+".reservation", "%s would be reserved, the cluster has %s", l.text(l.reserved+l.more), l.text(l.limit))
	default:
		return cluster.Fault(l.name+".reservation", "%s would be reserved in pool %s, its limit is %s",
			l.text(l.reserved+l.more), h.members[l.at].Name, l.text(l.limit))
	}
}

// lack is a limit that a further reservation exceeds.
type lack struct {
	*resource
	at                    int // the member with the limit
	reserved, more, limit int64
}

// lack returns the first limit, from a member up, that more reservations in it would exceed.
func (h *Hierarchy) lack(at int, more cluster.Resources) (l lack, lacks bool) {
	for i := at; i >= 0; i = h.members[i].Parent {
		m := &h.members[i]
		for k := range resources {
			r := &resources[k]
			l = lack{r, i, *r.amount(&h.within[i]), *r.amount(&more), r.of(&m.Settings).Limit}
			if l.more > 0 && l.reserved+l.more > l.limit {
				return l, true
			}
		}
		more = h.raise(i, more).Minus(m.Reserved)
	}
	return lack{}, false
}

// raise returns what a member keeps when more is reserved in it.
func (h *Hierarchy) raise(i int, more cluster.Resources) cluster.Resources {
	m, sum := &h.members[i], h.within[i].Plus(more)
	return cluster.Resources{CPU: max(m.Reserved.CPU, sum.CPU), Memory: max(m.Reserved.Memory, sum.Memory)}
}

// reserve reserves more in a member, and so in those above it.
func (h *Hierarchy) reserve(at int, more cluster.Resources) {
	for i := at; i >= 0; i = h.members[i].Parent {
		kept := h.raise(i, more)
		h.within[i] = h.within[i].Plus(more)
		more, h.members[i].Reserved = kept.Minus(h.members[i].Reserved), kept
	}
}

// Members returns the cluster, the pools and the VMs, by index. The caller must not change it.
func (h *Hierarchy) Members() []Member { return h.members }

// Pool returns the index of a pool by name; "" is the cluster.
func (h *Hierarchy) Pool(name string) (i int, known bool) {
	i, known = h.pools[name]
	return i, known
}
