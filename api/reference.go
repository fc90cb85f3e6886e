package api

import (
	"context"
	"fmt"
	"strconv"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// vjobOf finds the one vjob that a word names, of those that the caller may see: a number in its one spelling, the name of a
// live vjob or else of the last that ended, or one vjob of an array, such as sweep[3]. A number need not exist.
func (f vjobFinder) vjobOf(ctx context.Context, caller Subject, field, word string) (cluster.VJobID, error) {
	r, err := reference(field, word)
	if err != nil {
		return 0, err
	}
	if r.ID != 0 && !r.Member {
		return r.ID, nil
	}
	row, err := f.referred(ctx, caller, field, &r)
	switch {
	case err != nil:
		return 0, err
	case row.Fold == nil && !r.Member:
		return row.ID, nil
	case row.Fold == nil:
		return 0, fmt.Errorf("vjob %s: %s is no array: %w", word, r.Name, cluster.ErrNotFound)
	case r.Indexes == "":
		return 0, cluster.Fault(field, "%s is an array, want one vjob of it, such as %s[%d]", r.Name, r.Name, row.Fold.First)
	}
	indexes, err := cluster.ParseIndexes(field, r.Indexes)
	if err != nil {
		return 0, err
	}
	rows, total, err := f.vjobs.VJobs(ctx, journal.Filter{Owner: caller.Viewer(), Array: row.Array, Indexes: indexes, Limit: 1})
	switch {
	case err != nil:
		return 0, err
	case total == 0:
		return 0, fmt.Errorf("vjob %s: %w", word, cluster.ErrNotFound)
	case total > 1:
		return 0, cluster.Fault(field, "%s is %d vjobs, want one", word, total)
	}
	return rows[0].ID, nil
}

// vjobsOf finds the vjobs that a word names and that have not ended; one that is named by its number need not exist.
func (f vjobFinder) vjobsOf(ctx context.Context, caller Subject, field, word string) (ids []cluster.VJobID, err error) {
	filter := journal.Filter{Owner: caller.Viewer(), Live: true}
	if err := f.narrow(ctx, caller, &filter, field, word); err != nil {
		return nil, err
	}
	if filter.VJob != 0 {
		return []cluster.VJobID{filter.VJob}, nil
	}
	rows, _, err := f.vjobs.VJobs(ctx, filter)
	for i := range rows {
		ids = append(ids, rows[i].ID)
	}
	return ids, err
}

// unknownField makes an unknown vjob of a body a wrong field.
func unknownField(field, word string, err error) error {
	if isNotFound(err) {
		return cluster.BadField(field, word, "the number or the name of a vjob that you may see")
	}
	return err
}

// narrow restricts a list to what a word names: a vjob, an array, or some vjobs of an array.
func (f vjobFinder) narrow(ctx context.Context, caller Subject, filter *journal.Filter, field, word string) error {
	r, err := reference(field, word)
	if err != nil {
		return err
	}
	row, err := f.referred(ctx, caller, field, &r)
	switch {
	case isNotFound(err) && r.ID != 0 && !r.Member: // it is no array
		filter.VJob = r.ID
		return nil
	case err != nil:
		return err
	case row.Fold == nil && r.Member:
		return fmt.Errorf("vjob %s: %s is no array: %w", word, r.Name, cluster.ErrNotFound)
	case row.Fold == nil:
		filter.VJob = row.ID
		return nil
	}
	filter.Array = row.Array
	if r.Indexes != "" {
		filter.Indexes, err = cluster.ParseIndexes(field, r.Indexes)
	}
	return err
}

// arrayOf finds the array that a word names: by number, which need not exist, or by name.
func (f vjobFinder) arrayOf(ctx context.Context, caller Subject, field, word string) (cluster.VJobID, error) {
	r, err := reference(field, word)
	switch {
	case err != nil:
		return 0, err
	case r.Indexes != "":
		return 0, cluster.BadField(field, word, "the number or the name of an array, all of which is meant")
	case r.ID != 0:
		return r.ID, nil
	}
	row, err := f.referred(ctx, caller, field, &r)
	switch {
	case err != nil:
		return 0, err
	case row.Fold == nil:
		return 0, fmt.Errorf("array %q: %w", r.Name, cluster.ErrNotFound)
	}
	return row.Array, nil
}

// reference reads a word that names vjobs. Numbers have one spelling.
func reference(field, word string) (cluster.Reference, error) {
	r, err := cluster.ParseReference(field, word)
	if err == nil && (r.ID == 0 && !cluster.IsName(r.Name) || r.ID != 0 && strconv.FormatInt(int64(r.ID), 10) != r.Name) {
		err = cluster.BadField(field, word, "the number or the name of a vjob, or one of an array such as sweep[3]")
	}
	return r, err
}

// referred finds the row of the vjob or of the array that is named. Live ones come before others, and of those the last;
// administrators see the vjobs of several owners, which may have the same name.
func (f vjobFinder) referred(ctx context.Context, caller Subject, field string, r *cluster.Reference) (journal.Row, error) {
	if r.ID != 0 {
		return f.array(ctx, caller, Read, r.ID)
	}
	for _, live := range []bool{true, false} {
		rows, _, err := f.vjobs.VJobs(ctx, journal.Filter{Owner: caller.Viewer(), Name: r.Name, Live: live, Newest: true, Fold: true, Limit: 2})
		switch {
		case err != nil:
			return journal.Row{}, err
		case live && len(rows) > 1:
			return journal.Row{}, cluster.Fault(field, "%s and %s are named %q, want a number", described(&rows[1]), described(&rows[0]), r.Name)
		case len(rows) > 0:
			return rows[0], nil
		}
	}
	return journal.Row{}, fmt.Errorf("vjob %q: %w", r.Name, cluster.ErrNotFound)
}

// described names a vjob or an array with its owner.
func described(row *journal.Row) string {
	if row.Fold != nil {
		return fmt.Sprintf("array %s of %s", row.Array, row.Owner)
	}
	return fmt.Sprintf("vjob %s of %s", row.ID, row.Owner)
}
