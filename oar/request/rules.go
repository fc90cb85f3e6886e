package request

import (
	"fmt"
	"slices"
	"strings"

	"vjob/cluster"
	"vjob/oar"
	"vjob/oar/property"
)

// ruleWriter writes the rules for the VMs of one group.
type ruleWriter struct {
	placer   *placer
	vms      *VMGroup
	request  Group
	filters  []property.Filter
	matching []*cluster.Node
	labels   []string
	all      *region
	counts   []int // nil if cells are chosen
	cells    []cell
	first    int // rank of the first VM
	total    int
}

// maxInlineSet is the length of a set above which the rules define a variable for it.
const maxInlineSet = 40

func (r *ruleWriter) write(b *strings.Builder) {
	rules := r.placeRules()
	if r.vms.Unit == Node && r.total > 1 {
		rules = append(rules, fmt.Sprintf("spread(%s);", r.vmSet(r.first, r.total)))
	}
	if r.vms.Whole() && r.uneven() && r.placer.spec.Sharers < 2 {
		rules = append(rules, fmt.Sprintf("lonely(%s);", r.vmSet(r.first, r.total)))
	}
	if len(rules) > 0 {
		fmt.Fprintf(b, "# %s\n%s\n", oar.PrintableLine(r.request.String()), strings.Join(rules, "\n"))
	}
}

// placeRules returns the rules about nodes. A long set of nodes becomes a variable that later groups
// share.
func (r *ruleWriter) placeRules() (rules []string) {
	if r.counts == nil {
		at := r.first
		for _, c := range r.cells {
			rules = append(rules, fmt.Sprintf("fence(%s, %s);", r.vmSet(at, c.vms), nodeSet(c.nodes)))
			at += c.vms
		}
		return rules
	}
	nodes := r.nodes()
	if len(nodes) <= maxInlineSet {
		return r.nodeRules(nodes)
	}
	name, known := r.placer.sets[nodes]
	if !known {
		name = fmt.Sprintf("$nodes%d", len(r.placer.sets)+1)
	}
	rules = r.nodeRules(name)
	if !known && strings.Contains(strings.Join(rules, ""), name) {
		r.placer.sets[nodes] = name
		rules = slices.Insert(rules, 0, fmt.Sprintf("%s = %s;", name, nodes))
	}
	return rules
}

// nodeRules returns the rules for VMs that may use any of the nodes, or any of their groups.
func (r *ruleWriter) nodeRules(nodes string) (rules []string) {
	if len(r.labels) == 0 && nodes != allNodes {
		rules = append(rules, fmt.Sprintf("fence(%s, %s);", r.vmSet(r.first, r.total), nodes))
	}
	for depth := 1; depth <= len(r.labels); depth++ {
		rules = append(rules, r.levelRule(depth, nodes))
	}
	return rules
}

// levelRule returns the rule for one level of labels: the VMs of each set stay inside one group, and
// different sets are in different groups.
func (r *ruleWriter) levelRule(depth int, nodes string) string {
	sets := 1
	for _, n := range r.counts[:depth] {
		sets *= n
	}
	groups := nodes + " / " + r.labels[depth-1]
	if regions := r.all.level(depth); !unique(regions) || startsLikeNumber(r.labels[depth-1]) {
		list := make([]string, len(regions))
		for i, g := range regions {
			list[i] = nodeSet(g.nodes)
		}
		groups = "{" + strings.Join(list, ", ") + "}"
	}
	if sets == 1 {
		return fmt.Sprintf("among(%s, %s);", r.vmSet(r.first, r.total), groups)
	}
	list := make([]string, sets)
	for i := range list {
		list[i] = "{" + r.vmRange(r.first+i*(r.total/sets), r.total/sets) + "}"
	}
	return fmt.Sprintf("splitAmong({%s}, %s);", strings.Join(list, ", "), groups)
}

// uneven reports whether a node may be larger than its VM, so that other VMs would fit beside it.
func (r *ruleWriter) uneven() bool {
	return slices.ContainsFunc(r.cells, func(c cell) bool {
		return slices.ContainsFunc(c.nodes, func(n *cluster.Node) bool { return n.Capacity != c.size })
	})
}

// vmSet formats a set of VMs, $VMS for all of them.
func (r *ruleWriter) vmSet(first, n int) string {
	if first == 0 && n == r.total && !r.placer.multiple {
		return "$VMS"
	}
	return r.vmRange(first, n)
}

func (r *ruleWriter) vmRange(first, n int) string {
	if n == 1 {
		return fmt.Sprintf("VM%d", first)
	}
	return fmt.Sprintf("VM[%d..%d]", first, first+n-1)
}

// Fence returns the rule that keeps all VMs of a vjob on the nodes that match all filters, in the
// language of docs/reference/rules.md; it lists the nodes. The error is an [*oar.Error].
func Fence(filters []property.Filter, inventory Inventory, site Config) (string, error) {
	names := slices.Concat(inventory.labels(), site.Nodes, []string{cpuProperty, memoryProperty})
	var nodes []*cluster.Node
	for _, f := range filters {
		if err := f.Check(names); err != nil {
			return "", err
		}
	}
	for i := range inventory.Nodes {
		n := &inventory.Nodes[i]
		of := nodeProperties(n, site)
		if !slices.ContainsFunc(filters, func(f property.Filter) bool { return f.Expr != nil && !f.Matches(of) }) {
			nodes = append(nodes, n)
		}
	}
	if len(nodes) == 0 {
		return "", &oar.Error{Exit: oar.ExitResources, OAR: oar.NotEnoughResources, Text: "no node has the properties that rules of admission ask for"}
	}
	slices.SortFunc(nodes, byName)
	return "fence($VMS, " + nodeSet(nodes) + ");\n", nil
}
