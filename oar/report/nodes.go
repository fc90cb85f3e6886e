package report

import (
	"fmt"
	"strings"
	"time"

	"vjob/oar/rest"
)

// Nodes are nodes with their properties, in blocks.
func Nodes(nodes []rest.Resource) string {
	var b strings.Builder
	for i := range nodes {
		n := &nodes[i]
		fmt.Fprintf(&b, "network_address: %s\n", n.Node)
		fmt.Fprintf(&b, "    resource_id: %d\n    state: %s\n", n.ID, n.State)
		if len(n.Jobs) > 0 {
			fmt.Fprintf(&b, "    jobs: %s\n", join(n.Jobs, ", "))
		}
		fmt.Fprintf(&b, "    properties: %s\n", n.Properties())
	}
	return b.String()
}

// NodeStates are the states of nodes, in blocks.
func NodeStates(nodes []rest.Resource) string {
	var b strings.Builder
	for i := range nodes {
		fmt.Fprintf(&b, "%s\n    %d: %s\n", nodes[i].Node, nodes[i].ID, nodes[i].State)
	}
	return b.String()
}

// NodeNames are the names of nodes, a line for each.
func NodeNames(nodes []rest.Resource) string {
	var b strings.Builder
	for i := range nodes {
		b.WriteString(nodes[i].Node + "\n")
	}
	return b.String()
}

// Queues are queues, in blocks.
func Queues(list []rest.Queue) string {
	var b strings.Builder
	for _, q := range list {
		fmt.Fprintf(&b, "%s\n\tpriority = %d\n\tpolicy = %s\n\tstate = %s\n", q.Name, q.Priority, q.Policy, q.State)
	}
	return b.String()
}

// Accounting is a table of what users have used.
func Accounting(list []rest.Usage, now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-11s %-20s %-17s %15s %15s\n", "User", "First window starts", "Last window ends", "Asked (seconds)", "Used (seconds)")
	fmt.Fprintf(&b, "%s %s %s %s %s\n", strings.Repeat("-", 11), strings.Repeat("-", 20), strings.Repeat("-", 17), strings.Repeat("-", 15), strings.Repeat("-", 15))
	for _, u := range list {
		fmt.Fprintf(&b, "%-11s %-20s %-17s %15d %15d\n", u.User, day(u.First, now), day(u.Last, now), u.Asked, u.Used)
	}
	return b.String()
}

func day(at int64, now time.Time) string {
	return time.Unix(at, 0).In(now.Location()).Format(time.DateOnly)
}
