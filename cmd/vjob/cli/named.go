package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
)

// Named is what a word names: a vjob, an array, or some vjobs of an array.
type Named struct {
	ID      int64 // of the vjob, or of the array
	Array   bool
	Indexes string // some places of the array; "" is all of it
}

// String is such as "vjob 7", "array 14" or "14[3-7]".
func (n Named) String() string {
	switch {
	case n.Indexes != "":
		return fmt.Sprintf("%d[%s]", n.ID, n.Indexes)
	case n.Array:
		return fmt.Sprintf("array %d", n.ID)
	default:
		return fmt.Sprintf("vjob %d", n.ID)
	}
}

// Resolve finds what words name, each once. A vjob that is named by its number need not exist; what is named otherwise does.
func Resolve(ctx context.Context, c *client.Client, words []string) (list []Named, err error) {
	for _, word := range words {
		r, err := ParseRef(word)
		if err != nil {
			return nil, err
		}
		row, err := r.find(ctx, c)
		if err != nil {
			return nil, err
		}
		n := Named{ID: row.ID}
		if row.Members != nil {
			n = Named{ID: row.Array, Array: true, Indexes: r.indexes}
		}
		if n.Indexes != "" {
			rows, err := n.VJobs(ctx, c)
			if err != nil {
				return nil, err
			}
			if len(rows) == 1 {
				n = Named{ID: rows[0].ID}
			}
		}
		if !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list, nil
}

// Word names the same again.
func (n Named) Word() string {
	if n.Array {
		return fmt.Sprintf("%d[%s]", n.ID, n.Indexes)
	}
	return strconv.FormatInt(n.ID, 10)
}

// VJobs returns the vjobs of an array that are meant, in their order: of an element that was tried again the last attempt.
func (n Named) VJobs(ctx context.Context, c *client.Client) ([]wire.VJob, error) {
	found, err := FetchVJobs(ctx, c, client.VJobQuery{Array: n.ID, Indexes: n.Indexes})
	if err != nil {
		return nil, err
	}
	replaced := map[int64]bool{}
	for i := range found.VJobs {
		replaced[found.VJobs[i].Replaces] = true
	}
	list := slices.DeleteFunc(found.VJobs, func(j wire.VJob) bool { return replaced[j.ID] })
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: %w", n, cluster.ErrNotFound)
	}
	slices.SortStableFunc(list, func(a, b wire.VJob) int { return a.Index - b.Index })
	return list, nil
}

// ResolveEach finds the numbers of all vjobs that words name, each once; an array stands for its vjobs.
func ResolveEach(ctx context.Context, c *client.Client, words []string) (ids []int64, err error) {
	list, err := Resolve(ctx, c, words)
	if err != nil {
		return nil, err
	}
	for _, n := range list {
		each := []wire.VJob{{ID: n.ID}}
		if n.Array {
			if each, err = n.VJobs(ctx, c); err != nil {
				return nil, err
			}
		}
		for i := range each {
			if !slices.Contains(ids, each[i].ID) {
				ids = append(ids, each[i].ID)
			}
		}
	}
	return ids, nil
}

// FetchEach returns all vjobs that words name, each once; an array stands for its vjobs.
func FetchEach(ctx context.Context, c *client.Client, words []string) ([]wire.VJobDetail, error) {
	ids, err := ResolveEach(ctx, c, words)
	if err != nil {
		return nil, err
	}
	list := make([]wire.VJobDetail, len(ids))
	for i, id := range ids {
		if list[i], err = c.VJob(ctx, id); err != nil {
			return nil, err
		}
	}
	return list, nil
}
