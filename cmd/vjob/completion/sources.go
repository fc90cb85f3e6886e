package completion

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/display"
)

// mostVJobs is how many vjobs are offered at most: those that were submitted last.
const mostVJobs = 100

// candidate is a word and what it means. Text of users is cleaned.
func candidate(word, meaning string) cobra.Completion {
	return cobra.CompletionWithDesc(display.Clean(word), display.Clean(meaning))
}

// vjobs offers the numbers and names of vjobs that have not ended and of arrays; after a bracket those of one array.
func vjobs(ctx context.Context, c *client.Client, typed string) []cobra.Completion {
	return vjobsOf(ctx, c, typed, true)
}

// allVJobs also offers those that have ended.
func allVJobs(ctx context.Context, c *client.Client, typed string) []cobra.Completion {
	return vjobsOf(ctx, c, typed, false)
}

func vjobsOf(ctx context.Context, c *client.Client, typed string, live bool) (found []cobra.Completion) {
	if c == nil {
		return nil
	}
	if array, _, bracket := strings.Cut(typed, "["); bracket {
		return elements(ctx, c, array, live)
	}
	list, err := c.VJobs(ctx, client.VJobQuery{Prefix: typed, Live: live, Newest: true, Fold: true, Limit: mostVJobs})
	if err != nil {
		return nil
	}
	var named []cobra.Completion
	for i := range list.VJobs {
		j := &list.VJobs[i]
		id, name, meaning := j.ID, j.Name, j.State
		if j.Members != nil {
			id, name, meaning = j.Array, cluster.ArrayName(j.Name), "array "+display.Members(j.Members)
		}
		found = append(found, candidate(strconv.FormatInt(id, 10), strings.TrimSpace(name+" "+meaning)))
		if name != "" {
			named = append(named, candidate(name, fmt.Sprintf("%d %s", id, meaning)))
		}
	}
	return append(found, named...)
}

// elements offers the vjobs of an array, named as the array was.
func elements(ctx context.Context, c *client.Client, array string, live bool) (found []cobra.Completion) {
	q := client.VJobQuery{Name: array, Live: live, Limit: mostVJobs}
	if id, err := strconv.ParseInt(array, 10, 64); err == nil {
		q.Name, q.Array = "", id
	}
	list, err := c.VJobs(ctx, q)
	if err != nil {
		return nil
	}
	for i := range list.VJobs {
		if j := &list.VJobs[i]; j.Index > 0 {
			found = append(found, candidate(fmt.Sprintf("%s[%d]", array, j.Index), strings.TrimSpace(fmt.Sprintf("%d %s %s", j.ID, j.State, j.Parameter))))
		}
	}
	return found
}

// names offers the names of vjobs and arrays.
func names(ctx context.Context, c *client.Client, typed string) (found []cobra.Completion) {
	return slices.DeleteFunc(vjobs(ctx, c, typed), func(c cobra.Completion) bool {
		_, err := strconv.ParseInt(word(c), 10, 64)
		return err == nil
	})
}

// dependencies offers conditions, and after one the vjobs.
func dependencies(ctx context.Context, c *client.Client, typed string) (found []cobra.Completion) {
	condition, rest, given := strings.Cut(typed, ":")
	if given {
		for _, v := range vjobs(ctx, c, rest) {
			found = append(found, condition+":"+v)
		}
		return found
	}
	return append(fixed("ok:", "notok:", "any:", "started:")(ctx, c, typed), vjobs(ctx, c, typed)...)
}

// asks turns a method of the client into a function of a context.
func asks[L any](get func(*client.Client, context.Context) (L, error)) func(context.Context, *client.Client) (L, error) {
	return func(ctx context.Context, c *client.Client) (L, error) { return get(c, ctx) }
}

// each offers a candidate for each entry of a list of the daemon.
func each[L, T any](get func(ctx context.Context, c *client.Client) (L, error), entries func(L) []T, offer func(*T) cobra.Completion) source {
	return func(ctx context.Context, c *client.Client, _ string) (found []cobra.Completion) {
		if c == nil {
			return nil
		}
		list, err := get(ctx, c)
		if err != nil {
			return nil
		}
		for _, entry := range entries(list) {
			if text := offer(&entry); word(text) != "" && !slices.Contains(found, text) {
				found = append(found, text)
			}
		}
		return found
	}
}

func listNodes(l wire.NodeList) []wire.Node { return l.Nodes }

var (
	nodes = each(asks((*client.Client).Nodes), listNodes, func(n *wire.Node) cobra.Completion {
		return candidate(n.Name, display.NodeState(n))
	})
	queues = each(asks((*client.Client).Queues), func(l wire.QueueList) []wire.Queue { return l.Queues }, func(q *wire.Queue) cobra.Completion {
		return candidate(q.Name, fmt.Sprintf("%d running, %d waiting", q.Running, q.Waiting))
	})
	images = each(asks((*client.Client).Images), func(l wire.ImageList) []wire.Image { return l.Images }, func(i *wire.Image) cobra.Completion {
		return candidate(i.ID, i.Description)
	})
	pools = each(asks((*client.Client).Pools), func(l wire.PoolList) []wire.Pool { return l.Pools }, func(p *wire.Pool) cobra.Completion {
		return candidate(p.Name, cluster.Count(p.VJobs, "vjob"))
	})
	plans = each(func(ctx context.Context, c *client.Client) (wire.PlanList, error) { return c.Plans(ctx, mostVJobs) },
		func(l wire.PlanList) []wire.Plan { return l.Plans }, func(p *wire.Plan) cobra.Completion {
			return candidate(strconv.FormatInt(p.ID, 10), display.Moment(&p.Began)+" "+p.State)
		})
	recommendations = each(func(ctx context.Context, c *client.Client) (wire.RecommendationList, error) {
		return c.Recommendations(ctx, "", "pending", mostVJobs)
	}, func(l wire.RecommendationList) []wire.Recommendation { return l.Recommendations }, func(r *wire.Recommendation) cobra.Completion {
		return candidate(strconv.FormatInt(r.ID, 10), r.Kind+": "+r.Changes)
	})
	orphans = each(asks((*client.Client).Orphans), func(l wire.OrphanList) []wire.Orphan { return l.Orphans }, func(o *wire.Orphan) cobra.Completion {
		return candidate(o.Image, o.Why)
	})
	tokens = each(ownTokens, func(l wire.TokenList) []wire.TokenInfo { return l.Tokens }, func(t *wire.TokenInfo) cobra.Completion {
		return candidate(strconv.FormatInt(t.ID, 10), cmp.Or(t.Name, display.Moment(&t.Created)))
	})
)

func ownTokens(ctx context.Context, c *client.Client) (wire.TokenList, error) {
	who, err := c.Whoami(ctx)
	if err != nil {
		return wire.TokenList{}, err
	}
	return c.Tokens(ctx, who.Name)
}

// accounts offers all accounts to administrators, and to users their own.
func accounts(ctx context.Context, c *client.Client, typed string) []cobra.Completion {
	if c == nil {
		return nil
	}
	found := each(asks((*client.Client).Users), func(l wire.UserList) []wire.User { return l.Users }, func(u *wire.User) cobra.Completion {
		return candidate(u.Name, u.Role)
	})(ctx, c, typed)
	if who, err := c.Whoami(ctx); err == nil && !slices.ContainsFunc(found, func(f cobra.Completion) bool { return word(f) == who.Name }) {
		found = append(found, candidate(who.Name, "you"))
	}
	return found
}

// recent are the vjobs from which labels and projects are gathered.
func recent(ctx context.Context, c *client.Client) (wire.VJobList, error) {
	return c.VJobs(ctx, client.VJobQuery{Newest: true, Fold: true, Limit: 5 * mostVJobs})
}

// projects offers the projects of vjobs, and those that have a share.
func projects(ctx context.Context, c *client.Client, typed string) []cobra.Completion {
	found := each(recent, func(l wire.VJobList) []wire.VJob { return l.VJobs }, func(j *wire.VJob) cobra.Completion { return j.Project })(ctx, c, typed)
	shared := each(asks((*client.Client).Shares), func(l wire.ShareList) []wire.Share { return l.Shares }, func(s *wire.Share) cobra.Completion {
		project, _, below := strings.Cut(s.Account, "/")
		if !below {
			return ""
		}
		return project
	})(ctx, c, typed)
	return slices.Compact(slices.Sorted(slices.Values(append(found, shared...))))
}

// labels offers the labels of vjobs: their names, and after one its values.
func labels(ctx context.Context, c *client.Client, typed string) []cobra.Completion {
	if c == nil {
		return nil
	}
	list, err := recent(ctx, c)
	if err != nil {
		return nil
	}
	sets := make([]map[string]string, len(list.VJobs))
	for i := range list.VJobs {
		sets[i] = list.VJobs[i].Labels
	}
	return assignments(sets, typed)
}

// nodeLabels offers the labels of nodes in the same way.
func nodeLabels(ctx context.Context, c *client.Client, typed string) []cobra.Completion {
	return assignments(labelsOfNodes(ctx, c), typed)
}

// nodeLabelNames offers the names of the labels of nodes.
func nodeLabelNames(ctx context.Context, c *client.Client, _ string) (found []cobra.Completion) {
	for _, text := range assignments(labelsOfNodes(ctx, c), "") {
		found = append(found, strings.TrimSuffix(text, "="))
	}
	return found
}

func labelsOfNodes(ctx context.Context, c *client.Client) (sets []map[string]string) {
	if c == nil {
		return nil
	}
	list, err := c.Nodes(ctx)
	if err != nil {
		return nil
	}
	for i := range list.Nodes {
		sets = append(sets, list.Nodes[i].Labels)
	}
	return sets
}

// assignments are the words NAME= of some labels, or, if a name was typed, NAME=VALUE.
func assignments(sets []map[string]string, typed string) []cobra.Completion {
	known := map[string]bool{}
	for _, set := range sets {
		for name, value := range set {
			word := name + "="
			if strings.HasPrefix(typed, word) {
				word += value
			}
			known[display.Clean(word)] = true
		}
	}
	return slices.Sorted(maps.Keys(known))
}
