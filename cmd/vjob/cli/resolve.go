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

// find returns the entry of the array that is named, or of the vjob: of those with the name a live one, or else the
// one that was submitted last.
func (r *Ref) find(ctx context.Context, c *client.Client) (wire.VJob, error) {
	if r.id != 0 {
		return r.numbered(ctx, c)
	}
	for _, live := range []bool{true, false} {
		list, err := c.VJobs(ctx, client.VJobQuery{Name: r.name, Live: live, Newest: true, Fold: true, Limit: 2})
		if err != nil {
			return wire.VJob{}, err
		}
		switch {
		case live && len(list.VJobs) > 1: // administrators see those of several owners
			return wire.VJob{}, cluster.Fault("VJOB", "%s and %s are named %q, want a number", described(&list.VJobs[1]), described(&list.VJobs[0]), r.name)
		case len(list.VJobs) > 0:
			return list.VJobs[0], r.checkMember(&list.VJobs[0])
		}
	}
	return wire.VJob{}, fmt.Errorf("vjob %q: %w", r.name, cluster.ErrNotFound)
}

// described names a vjob or an array with its owner.
func described(j *wire.VJob) string {
	if j.Members != nil {
		return fmt.Sprintf("array %d of %s", j.Array, j.Owner)
	}
	return fmt.Sprintf("vjob %d of %s", j.ID, j.Owner)
}

// numbered finds the array of a number; a vjob that is no array is returned with its number alone.
func (r *Ref) numbered(ctx context.Context, c *client.Client) (wire.VJob, error) {
	list, err := c.VJobs(ctx, client.VJobQuery{Array: r.id, Fold: true, Limit: 1})
	if err != nil {
		return wire.VJob{}, err
	}
	row := wire.VJob{ID: r.id}
	if len(list.VJobs) > 0 {
		row = list.VJobs[0]
	}
	return row, r.checkMember(&row)
}

// checkMember refuses brackets behind what is no array.
func (r *Ref) checkMember(row *wire.VJob) error {
	if r.member && row.Members == nil {
		return fmt.Errorf("vjob %s: %s is no array: %w", r.text, r.name, cluster.ErrNotFound)
	}
	return nil
}
