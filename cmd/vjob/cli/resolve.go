package cli

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
)

// wantVJob is what names a vjob.
const wantVJob = "the number or the name of a vjob, or one of an array such as sweep[3]"

// Ref is a word that names a vjob, an array or some of its vjobs: "7", "sweep", "sweep[3-7]", "1046[]".
type Ref struct {
	text    string
	id      int64  // 0: by name
	name    string // without brackets
	member  bool   // with brackets
	indexes string // in the brackets; "": the whole array
}

var refShape = regexp.MustCompile(`^([^\[\]]+)(?:\[([^\[\]]*)\])?$`)

// ParseRef reads a word that names vjobs.
func ParseRef(word string) (Ref, error) {
	m := refShape.FindStringSubmatch(word)
	if m == nil {
		return Ref{}, cluster.BadField("VJOB", word, "the number or the name of a vjob or an array, or some of an array such as sweep[3-7]")
	}
	r := Ref{text: word, name: m[1], member: strings.HasSuffix(word, "]"), indexes: m[2]}
	if r.indexes != "" {
		if _, err := cluster.ParseIndexes("VJOB", r.indexes); err != nil {
			return r, err
		}
	}
	id, err := strconv.ParseInt(r.name, 10, 64)
	if err == nil && id < 1 || errors.Is(err, strconv.ErrRange) {
		return r, cluster.BadField("VJOB", word, wantVJob)
	}
	r.id = id
	return r, nil
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
