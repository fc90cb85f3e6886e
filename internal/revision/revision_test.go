package revision_test

import (
	"errors"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/internal/revision"
)

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name  string
		cond  revision.Condition
		now   revision.Revision
		wrong bool
	}{
		{"nothing required", revision.Condition{}, "", false},
		{"one of two", revision.Condition{Exists: true, OneOf: []revision.Revision{"a", "b"}}, "b", false},
		{"another one", revision.Condition{Exists: true, OneOf: []revision.Revision{"a", "b"}}, "c", true},
		{"none can match", revision.Condition{Exists: true, OneOf: []revision.Revision{}}, "c", true},
		{"any", revision.Condition{Exists: true}, "c", false},
		{"any, of what does not exist", revision.Condition{Exists: true}, "", true},
		{"absent", revision.Condition{Absent: true}, "", false},
		{"absent, of what exists", revision.Condition{Absent: true}, "a", true},
	} {
		err := revision.Check(revision.With(t.Context(), c.cond), func() (string, revision.Revision) { return "pool a", c.now })
		if wrong := errors.Is(err, cluster.ErrChanged); wrong != c.wrong || wrong != (err != nil) {
			t.Errorf("%s: %v, want an error: %v", c.name, err, c.wrong)
		}
	}
	if err := revision.Check(t.Context(), func() (string, revision.Revision) { panic("asked without a condition") }); err != nil {
		t.Error(err)
	}
}

// Every field that requests change has its part in the revision; counters have none.
func TestOfVJob(t *testing.T) {
	base := cluster.VJob{ID: 7, Walltime: time.Hour, Terms: &cluster.Terms{}}
	was := revision.OfVJob(&base)
	for name, change := range map[string]func(*cluster.VJob){
		"version":  func(j *cluster.VJob) { j.Version++ },
		"walltime": func(j *cluster.VJob) { j.Walltime++ },
		"pool":     func(j *cluster.VJob) { j.OwnTerms().Pool = "physics" },
		"moves":    func(j *cluster.VJob) { j.OwnTerms().Moves = cluster.MovesManual },
		"id":       func(j *cluster.VJob) { j.ID++ },
	} {
		changed := base
		change(&changed)
		if revision.OfVJob(&changed) == was {
			t.Errorf("another %s has the same revision", name)
		}
	}
	same := base
	same.Cause = &cluster.Cause{Text: "waits longer"}
	if revision.OfVJob(&same) != was {
		t.Error("the reason changes the revision")
	}
}
