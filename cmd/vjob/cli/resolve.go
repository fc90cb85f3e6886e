package cli

import (
	"context"
	"fmt"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
)

// Ref is a word that names a vjob, an array or some of its vjobs: "7", "sweep", "sweep[3-7]", "1046[]".
type Ref struct {
	text    string
	id      int64  // 0: by name
	name    string // without brackets
	member  bool   // with brackets
	indexes string // in the brackets; "": the whole array
}

// ParseRef reads a word that names vjobs.
func ParseRef(word string) (Ref, error) {
	r, err := cluster.ParseReference("VJOB", word)
	return Ref{text: word, id: int64(r.ID), name: r.Name, member: r.Member, indexes: r.Indexes}, err
}

// ResolveVJob finds the one vjob that an argument names: a number, the name of a live vjob or of one that has
// ended, or one vjob of an array, such as sweep[3].
func ResolveVJob(ctx context.Context, c *client.Client, arg string) (int64, error) {
	list, err := Resolve(ctx, c, []string{arg})
	if err != nil {
		return 0, err
	}
	n := list[0]
	if n.Array {
		rows, err := n.VJobs(ctx, c)
		if err != nil {
			return 0, err
		}
		return 0, cluster.Fault("VJOB", "%s is %s, want one of them, such as %d[%d]; vjob list --array %s lists them",
			arg, cluster.Count(len(rows), "vjob"), n.ID, rows[0].Index, arg)
	}
	return n.ID, nil
}

// ResolveArray finds the array that an argument names, and the places in it that are meant; "" is all of them.
func ResolveArray(ctx context.Context, c *client.Client, arg string) (array int64, indexes string, err error) {
	r, err := ParseRef(arg)
	if err != nil {
		return 0, "", err
	}
	row, err := r.find(ctx, c)
	if err == nil && row.Members == nil {
		err = fmt.Errorf("array %q: %w", r.name, cluster.ErrNotFound)
	}
	return row.Array, r.indexes, err
}

// find returns the entry of the array that is named, or of the vjob. One that is named by its number need not exist: then
// the entry has its number alone.
func (r *Ref) find(ctx context.Context, c *client.Client) (wire.VJob, error) {
	list, err := c.VJobs(ctx, client.VJobQuery{Named: r.text, Fold: true, Limit: 1})
	switch {
	case err != nil:
		return wire.VJob{}, cluster.Renamed("VJOB", err)
	case len(list.VJobs) > 0 && (r.member || list.VJobs[0].Members == nil || r.id == 0 || r.id == list.VJobs[0].Array):
		return list.VJobs[0], nil
	case r.id != 0 && !r.member:
		return wire.VJob{ID: r.id}, nil
	}
	return wire.VJob{}, fmt.Errorf("vjob %s: %w", r.text, cluster.ErrNotFound)
}
