// Package permit tells which moves of running VMs placement rules permit, one move after the other, for package
// balance. It knows where VMs are and follows their moves.
package permit

import (
	"slices"

	"vjob/repack"
)

// Permit has the rules of a cluster and the nodes of its VMs.
type Permit struct {
	in     *repack.Instance
	rules  []posted
	ofVM   [][]int // rules that concern a VM
	ofAll  []int   // rules that concern every VM
	rooted map[int]string
	on     [][]int // the nodes of each VM: the last is where it is, those before it is leaving
}

// posted is what one rule asks of placements.
type posted struct {
	text    string
	nodes   []int // sorted: only moves from or to these; nil for all
	guard   repack.Guard
	watch   repack.Watch
	refused map[[2]int]bool // VM and node
	allowed map[int][]int   // nodes of a VM, sorted
}

// New returns the permit of rules for an instance of running VMs. Soft rules count like others: balance is no reason to
// break one. Rules about the order of actions and about the number of nodes that are on restrict no placement. A
// VM may stay where a rule forbids it.
func New(in *repack.Instance, rules []repack.Posted) *Permit {
	p := &Permit{in: in, ofVM: make([][]int, len(in.VMs)), rooted: map[int]string{}, on: make([][]int, len(in.VMs))}
	for _, r := range rules {
		r.Post(&poster{p, r.String()})
	}
	for vm := range in.VMs {
		host := in.VMs[vm].Host
		p.on[vm] = []int{host}
		for r := range p.rulesOf(vm) {
			if g := p.rules[r].guard; g != nil && p.rules[r].concerns(repack.Nowhere, host) {
				g.Move(vm, repack.Nowhere, host)
			}
			if w := p.rules[r].watch; w != nil && p.rules[r].concerns(repack.Nowhere, host) {
				w.Come(vm, host)
			}
		}
	}
	return p
}

// rulesOf yields the rules that concern a VM.
func (p *Permit) rulesOf(vm int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for _, list := range [][]int{p.ofVM[vm], p.ofAll} {
			for _, r := range list {
				if !yield(r) {
					return
				}
			}
		}
	}
}

// concerns reports whether a rule concerns moves between two nodes.
func (r *posted) concerns(from, to int) bool {
	if r.nodes == nil {
		return true
	}
	_, leaves := slices.BinarySearch(r.nodes, from)
	_, comes := slices.BinarySearch(r.nodes, to)
	return leaves || comes
}

// Fixed returns the rule that keeps a VM from migrating, or "".
func (p *Permit) Fixed(vm int) string { return p.rooted[vm] }

// Compatible returns the rule that VMs would break if all of them were on a node, beside the VMs that are there, or "".
func (p *Permit) Compatible(vms []int, node int) string {
	if len(vms) == 1 {
		for k := range p.rulesOf(vms[0]) {
			if p.rules[k].breaches(vms[0], p.at(vms[0]), node) > 0 {
				return p.rules[k].text
			}
		}
		return ""
	}
	sum, why := map[int]int{}, ""
	for i, vm := range vms { // each beside those before it
		for k := range p.rulesOf(vm) {
			sum[k] += p.rules[k].breaches(vm, p.at(vm), node)
		}
		if i+1 < len(vms) {
			p.Moved(vm, p.at(vm), node)
		}
	}
	for k := range p.rules {
		if sum[k] > 0 && why == "" {
			why = p.rules[k].text
		}
	}
	for _, vm := range slices.Backward(vms[:len(vms)-1]) {
		p.Moved(vm, node, p.on[vm][len(p.on[vm])-2])
	}
	return why
}

// breaches returns how many breaches of a rule a move adds.
func (r *posted) breaches(vm, from, to int) (n int) {
	if !r.concerns(from, to) {
		return 0
	}
	if only, confined := r.allowed[vm]; confined {
		if _, among := slices.BinarySearch(only, to); !among {
			n++
		}
	}
	if r.refused[[2]int{vm, to}] {
		n++
	}
	if r.guard != nil {
		n += r.guard.Delta(vm, from, to)
	}
	if r.watch != nil && !r.watch.Admits(vm, to) {
		n++
	}
	return n
}

func (p *Permit) at(vm int) int { return p.on[vm][len(p.on[vm])-1] }

// Moved records a move. A continuous rule counts the VM on both nodes from then on, since the moves of a round overlap;
// the move back takes that back.
func (p *Permit) Moved(vm, from, to int) {
	nodes := p.on[vm]
	back := len(nodes) > 1 && nodes[len(nodes)-2] == to
	for k := range p.rulesOf(vm) {
		r := &p.rules[k]
		if !r.concerns(from, to) {
			continue
		}
		if r.guard != nil {
			r.guard.Move(vm, from, to)
		}
		switch {
		case r.watch == nil:
		case back:
			r.watch.Go(vm, from)
		default:
			r.watch.Come(vm, to)
		}
	}
	if back {
		p.on[vm] = nodes[:len(nodes)-1]
	} else {
		p.on[vm] = append(nodes, to)
	}
}

// poster receives what a rule asks.
type poster struct {
	*Permit
	text string
}

var _ repack.ConstraintStore = (*poster)(nil)

// add adds a part of a rule.
func (b *poster) add(r posted, vms []int) {
	r.text = b.text
	if vms == nil {
		b.ofAll = append(b.ofAll, len(b.rules))
	}
	for _, vm := range vms {
		b.ofVM[vm] = append(b.ofVM[vm], len(b.rules))
	}
	b.rules = append(b.rules, r)
}

// Instance returns the instance.
func (b *poster) Instance() *repack.Instance { return b.in }

// Forbid keeps a VM from a node.
func (b *poster) Forbid(vm, node int, _ bool) {
	b.add(posted{refused: map[[2]int]bool{{vm, node}: true}}, []int{vm})
}

// Confine keeps VMs on some nodes.
func (b *poster) Confine(vms, nodes []int, _ bool) {
	only := slices.Sorted(slices.Values(nodes))
	allowed := make(map[int][]int, len(vms))
	for _, vm := range vms {
		allowed[vm] = only
	}
	b.add(posted{allowed: allowed}, vms)
}

// Limit is about nodes, which stay as they are.
func (b *poster) Limit([]int, int, bool) {}

// Root keeps a VM where it is.
func (b *poster) Root(vm int) { b.rooted[vm] = b.text }

// Guard counts the breaches of a placement.
func (b *poster) Guard(g repack.Guard, s repack.Scope) {
	b.add(posted{guard: g, nodes: sorted(s.Nodes)}, s.VMs)
}

// Watch judges arrivals.
func (b *poster) Watch(w repack.Watch, s repack.Scope) {
	b.add(posted{watch: w, nodes: sorted(s.Nodes)}, s.VMs)
}

// Gate is about the order of actions.
func (b *poster) Gate(repack.Gate, []int) {}

// Together is about the times of actions.
func (b *poster) Together([]int, bool) {}

// Due is about the times of actions.
func (b *poster) Due(int, repack.Ticks, repack.Ticks) {}

func sorted(nodes []int) []int {
	if nodes == nil {
		return nil
	}
	return slices.Sorted(slices.Values(nodes))
}
