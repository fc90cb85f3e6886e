// Package revision makes changes conditional: a request names the revisions of a thing that its caller has read, and is
// refused if the thing has another one by the time of the change.
//
// The condition travels with the context of the request to where changes of the thing are serialised, and is checked
// there, in the same step as the change.
package revision

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"vjob/cluster"
)

// Revision identifies what a thing is at one time, as far as requests change it or depend on it; "" is that of a thing
// that does not exist. It says nothing of what passes with time, such as how long a vjob has run.
type Revision string

// Of returns the revision of a thing that consists of parts.
func Of(parts ...any) Revision {
	h := sha256.New()
	for _, part := range parts {
		_, _ = fmt.Fprintf(h, "%v\x00", part) // a hash takes all
	}
	return Revision(hex.EncodeToString(h.Sum(nil)[:8]))
}

// OfVJob returns the revision of a vjob: its state, whether it is held, its walltime, its pool and its mode of moves.
func OfVJob(job *cluster.VJob) Revision {
	return Of(job.ID, job.Version, job.State, job.Held, int64(job.Walltime), job.Pool, job.Moves)
}

// Condition is what a caller requires of the thing that a request changes. The zero value is met by each.
type Condition struct {
	Exists bool       // the thing exists
	Absent bool       // it does not exist
	OneOf  []Revision // it has one of these; nil: any
}

// IsZero reports whether nothing is required.
func (c Condition) IsZero() bool { return !c.Exists && !c.Absent && c.OneOf == nil }

type key struct{}

// With returns a context for a request with a condition.
func With(ctx context.Context, c Condition) context.Context { return context.WithValue(ctx, key{}, c) }

// Check returns an error that matches [cluster.ErrChanged] unless a thing meets the condition of the request. present
// returns the name of the thing and its revision; it is called only if there is a condition.
func Check(ctx context.Context, present func() (name string, now Revision)) error {
	c, _ := ctx.Value(key{}).(Condition)
	if c.IsZero() {
		return nil
	}
	name, now := present()
	switch {
	case c.Absent && now != "":
		return fmt.Errorf("%s exists already, and the request says If-None-Match: *: to change it, read it and send its ETag as If-Match: %w", name, cluster.ErrChanged)
	case c.Absent:
		return nil
	case now == "":
		return fmt.Errorf("%s does not exist, and the request says If-Match: to create it, leave If-Match out: %w", name, cluster.ErrChanged)
	case c.OneOf != nil && !slices.Contains(c.OneOf, now):
		return fmt.Errorf("%s has changed since it was read: read it again and, if the request is still right, repeat it with the new ETag as If-Match: %w", name, cluster.ErrChanged)
	}
	return nil
}
