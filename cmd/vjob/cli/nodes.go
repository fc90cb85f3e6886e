package cli

import (
	"context"
	"slices"
	"strings"

	"vjob/api/client"
	"vjob/cluster"
	"vjob/daemon/settings"
)

// ResolveNodes are the names of the nodes for which words stand, each once: a name, a range such
// as n[1-8], or a label such as rack=A for all that have it. Only for a label the daemon
// is asked. The error names the field, and the word in it.
func ResolveNodes(ctx context.Context, c *client.Client, field string, words []string) (names []string, err error) {
	for _, word := range words {
		found := settings.ExpandRange(word)
		if label, value, labelled := strings.Cut(word, "="); labelled {
			if found, err = labelledNodes(ctx, c, label, value); err != nil {
				return nil, err
			}
		}
		if len(found) == 0 {
			return nil, cluster.BadField(field, word, "a name, a range such as n[1-8], or a label that some node has, such as rack=A")
		}
		for _, name := range found {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names, nil
}

// labelledNodes are those that have a label with a value.
func labelledNodes(ctx context.Context, c *client.Client, label, value string) (names []string, err error) {
	list, err := c.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	for _, n := range list.Nodes {
		if v, has := n.Labels[label]; has && v == value {
			names = append(names, n.Name)
		}
	}
	return names, nil
}
