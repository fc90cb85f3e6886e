package report

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"vjob/oar"
)

// Nodes formats nodes with their properties, in blocks.
func Nodes(nodes []oar.Resource) string {
	var b strings.Builder
	for i := range nodes {
		n := &nodes[i]
		fmt.Fprintf(&b, "network_address: %s\n", n.Node)
		fmt.Fprintf(&b, "resource_id: %d\nstate: %s\n", n.ID, n.State)
		if len(n.Jobs) > 0 {
			fmt.Fprintf(&b, "jobs: %s\n", join(n.Jobs, ", "))
		}
		fmt.Fprintf(&b, "properties: %s\n\n", n.Properties())
	}
	return b.String()
}

// NodeStates formats the states of nodes, in blocks.
func NodeStates(nodes []oar.Resource) string {
	var b strings.Builder
	for i := range nodes {
		fmt.Fprintf(&b, "%s:\n    %d: %s\n", nodes[i].Node, nodes[i].ID, nodes[i].State)
	}
	return b.String()
}

// NodeNames lists the names of nodes, one line each.
func NodeNames(nodes []oar.Resource) string {
	var b strings.Builder
	for i := range nodes {
		b.WriteString(nodes[i].Node + "\n")
	}
	return b.String()
}

// NodeStatesJSON formats [NodeStates] as JSON.
func NodeStatesJSON(nodes []oar.Resource) ([]byte, error) {
	states := make(map[string]map[string]string, len(nodes))
	for i := range nodes {
		states[nodes[i].Node] = map[string]string{strconv.Itoa(nodes[i].ID): nodes[i].State}
	}
	return indented(states)
}

// NodeNamesJSON formats [NodeNames] as JSON.
func NodeNamesJSON(nodes []oar.Resource) ([]byte, error) {
	names := make([]string, len(nodes))
	for i := range nodes {
		names[i] = nodes[i].Node
	}
	return indented(names)
}

// indented formats JSON with OAR's indentation.
func indented(value any) ([]byte, error) {
	data, err := json.MarshalIndent(value, "", "   ")
	return append(data, '\n'), err
}

// Queues formats queues, in blocks; policy is the label of their policy.
func Queues(list []oar.Queue, policy string) string {
	var b strings.Builder
	for _, q := range list {
		fmt.Fprintf(&b, "%s\n\tpriority = %d\n\t%s = %s\n\tstate = %s\n", q.Name, q.Priority, policy, q.Policy, q.State)
	}
	return b.String()
}

// Accounting formats the usage of users as a table.
func Accounting(list []oar.Usage, now time.Time) string {
	var b strings.Builder
	b.WriteString(`User       First window starts  Last window ends     Asked (seconds)  Used (seconds)
---------- -------------------- -------------------- ---------------- ----------------
`)
	for _, u := range list {
		fmt.Fprintf(&b, "%-10.10s %-19s  %-19s  %16d %16d\n", u.User, date(u.First, now), date(u.Last, now), u.Asked, u.Used)
	}
	return b.String()
}
