package format

import (
	"slices"
	"strings"

	"vjob/repack"
)

// resources reads the amounts of nodes and VMs. Which resources there are may be
// told after them: until then, unknown amounts are kept.
type resources struct {
	dims     []string
	keys     map[string]slot
	declared bool
	slab     []int64 // what the next amounts are cut from
	late     []late
}

// slot says what a key means.
type slot struct {
	dim  int
	next bool
}

// late is an amount that was read before its resource.
type late struct {
	key    string
	at     Place
	node   bool
	index  int
	amount int64
}

const nextSuffix = "_next"

func (r *resources) start(dims []string) {
	r.dims = dims
	r.keys = map[string]slot{}
	for d, name := range dims {
		r.keys[name] = slot{d, false}
		r.keys[name+nextSuffix] = slot{d, true}
	}
}

// cut takes amounts from a slab: one allocation serves a thousand VMs.
func (r *resources) cut(n int) []int64 {
	if len(r.slab) < n {
		r.slab = make([]int64, 2048*n)
	}
	list := r.slab[:n:n]
	r.slab = r.slab[n:]
	return list
}

func (r *resources) capacity() []int64 { return r.cut(len(r.dims)) }

// demand makes room for the amounts of a VM; what it asks for is not told yet.
func (r *resources) demand() (now, next []int64) {
	now, next = r.cut(len(r.dims)), r.cut(len(r.dims))
	for d := range next {
		next[d] = unset
	}
	return now, next
}

// list is the keys that are known, for messages.
func (r *resources) list(next bool) string {
	var keys []string
	for _, name := range r.dims {
		keys = append(keys, name)
		if next {
			keys = append(keys, name+nextSuffix)
		}
	}
	return strings.Join(keys, ", ") + ` (others are named by "resources" at the top)`
}

// read takes an amount; false: there is no such resource, and nothing was taken.
func (r *resources) read(d *document, key string, index int, node bool) bool {
	s, ok := r.keys[key]
	switch {
	case ok && s.next && node:
		return false
	case ok:
		amount := d.integer(0, maxQuantity, "")
		switch {
		case node:
			d.instance.Nodes[index].Capacity[s.dim] = amount
		case s.next:
			d.instance.VMs[index].Next[s.dim] = amount
		default:
			d.instance.VMs[index].Now[s.dim] = amount
		}
		return true
	case r.declared || d.peek() != '0' || !resourceName(strings.TrimSuffix(key, nextSuffix)):
		return false
	}
	at := d.from
	r.late = append(r.late, late{key, at, node, index, d.integer(0, maxQuantity, "")})
	return true
}

// declare reads the names of further resources.
func (d *document) declare() {
	r := &d.resources
	dims := slices.Clone(r.dims)
	d.list(func(int) {
		name := d.string("the name of a resource")
		switch {
		case d.err != nil:
		case len(dims) == maxDims:
			d.fail("more than 16 resources")
		case !resourceName(name):
			d.wrong(quoted(name), "small letters, digits and _, a letter first, and none of the other keys")
		case slices.Contains(dims, name):
			d.wrong(quoted(name), "each resource once; cpu and mem are there already")
		default:
			dims = append(dims, name)
		}
	})
	r.start(dims)
	r.declared, r.slab = true, nil
	d.instance.Dims = dims
	for i := range d.instance.Nodes {
		d.instance.Nodes[i].Capacity = r.widen(d.instance.Nodes[i].Capacity, 0)
	}
	for i := range d.instance.VMs {
		v := &d.instance.VMs[i]
		v.Now, v.Next = r.widen(v.Now, 0), r.widen(v.Next, unset)
	}
}

func (r *resources) widen(amounts []int64, with int64) []int64 {
	wide := r.cut(len(r.dims))
	for d := range wide {
		wide[d] = with
	}
	copy(wide, amounts)
	return wide
}

// resourceName reports whether a resource may have that name.
func resourceName(s string) bool {
	reserved := vmKeys + "rack, transfers, busy, "
	if s == "" || len(s) > 32 || s[0] < 'a' || s[0] > 'z' || strings.HasSuffix(s, nextSuffix) ||
		strings.HasPrefix(reserved, s+", ") || strings.Contains(reserved, " "+s+", ") {
		return false
	}
	return !strings.ContainsFunc(s, func(c rune) bool {
		return c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9')
	})
}

// settle assigns the amounts that came before their resources, and gives VMs without a next
// demand their current one.
func (r *resources) settle(d *document) {
	for _, l := range r.late {
		s, ok := r.keys[l.key]
		path := "vms[" + itoa(int64(l.index)) + "]"
		if l.node {
			path = "nodes[" + itoa(int64(l.index)) + "]"
		}
		if !ok || l.node && s.next {
			d.wrongAt(l.at, path, "the key "+quoted(l.key), `a key that is known, or a resource that "resources" names at the top`)
			return
		}
		switch {
		case l.node:
			d.instance.Nodes[l.index].Capacity[s.dim] = l.amount
		case s.next:
			d.instance.VMs[l.index].Next[s.dim] = l.amount
		default:
			d.instance.VMs[l.index].Now[s.dim] = l.amount
		}
	}
	for i := range d.instance.VMs {
		keep(&d.instance.VMs[i])
	}
}

// keep fills in the demands that a VM does not tell: as now.
func keep(v *repack.VM) {
	for k := range v.Next {
		if v.Next[k] == unset {
			v.Next[k] = v.Now[k]
		}
	}
}
