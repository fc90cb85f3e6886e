package execute

import "time"

// FreshNodes reports every node, in order, from what is known now.
func (e *Executor) FreshNodes() []*NodeReport {
	list := make([]*NodeReport, len(e.nodes.sorted))
	for i, n := range e.nodes.sorted {
		list[i] = e.newNodeReport(n)
	}
	return list
}

// FreshWake returns when a tick is wanted, from what is known now.
func (e *Executor) FreshWake() time.Time {
	for _, p := range e.gangs.active {
		p.wake = time.Time{}
	}
	return e.wake()
}
