package execute

// FreshNodes reports every node, in order, from what is known now.
func (e *Executor) FreshNodes() []*NodeReport {
	list := make([]*NodeReport, len(e.nodes.sorted))
	for i, n := range e.nodes.sorted {
		list[i] = e.newNodeReport(n)
	}
	return list
}
