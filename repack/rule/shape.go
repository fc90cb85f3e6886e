package rule

// What some rules tell of themselves beyond their guards, for bounds that look at
// more than one node, and for where to search first.

// Apart are VMs of which no two end on one node.
func (s *spread) Apart() []int { return s.vms }

// Dedicated returns the VMs that share their nodes with no others at the end.
func (l *lonely) Dedicated() []int { return l.vms }

// Quota is how many VMs may end on some nodes together.
func (c *capacity) Quota() (nodes []int, most int64) { return c.nodes, c.most }
