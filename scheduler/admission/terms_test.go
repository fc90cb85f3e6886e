package admission_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/scheduler/admission"
)

var noon = time.Date(2026, time.January, 1, 12, 0, 0, 0, time.UTC)

// What does not go together is refused, with the field that is too much, and each goes alone.
func TestTermsThatDoNotGoTogether(t *testing.T) {
	type change = func(s *admission.Submission)
	reserved := func(s *admission.Submission) { s.Reservation = noon }
	for _, c := range []struct {
		name      string
		one, more change
		field     string
	}{
		{"an array with a reservation", reserved, func(s *admission.Submission) { s.Array = []string{"a", "b"} }, "array"},
		{"alternatives with a reservation", reserved, func(s *admission.Submission) {
			s.Shapes = []cluster.Shape{{VMs: s.VMs[:1], Walltime: time.Hour}, {VMs: s.VMs, Walltime: time.Hour}}
		}, "shapes"},
		{"a dependency with a reservation", reserved, func(s *admission.Submission) {
			s.After = []cluster.Dependency{{On: 1, When: cluster.AfterOK}}
		}, "after"},
		{"best effort with a reservation", reserved, func(s *admission.Submission) { s.BestEffort = true }, "best_effort"},
		{"not before, with a reservation", reserved, func(s *admission.Submission) { s.NotBefore = noon }, "not_before"},
		{"not after, with a reservation", reserved, func(s *admission.Submission) { s.NotAfter = noon }, "not_after"},
		{
			"a window that ends before it begins",
			func(s *admission.Submission) { s.NotBefore = noon },
			func(s *admission.Submission) { s.NotAfter = noon.Add(-time.Second) },
			"not_after",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, alone := range []change{c.one, c.more} {
				s := good()
				s.Rules = ""
				alone(s)
				if err := s.Validate(bounds, house); err != nil {
					t.Errorf("one alone: %v", err)
				}
			}
			s := good()
			s.Rules = ""
			c.one(s)
			c.more(s)
			var field *cluster.FieldError
			if err := s.Validate(bounds, house); !errors.As(err, &field) || field.Field != c.field {
				t.Errorf("got %v, want the field %s named", err, c.field)
			}
		})
	}
}

// A window may be as short as one instant.
func TestAWindowOfOneInstant(t *testing.T) {
	s := good()
	s.NotBefore, s.NotAfter = noon, noon
	if err := s.Validate(bounds, house); err != nil {
		t.Error(err)
	}
}

// An array becomes one vjob for each parameter, which know their place in it and share
// nothing that one of them could change for the others.
func TestArrays(t *testing.T) {
	s := good()
	s.Array = []string{"x=1", "", "x=3"}
	s.After = []cluster.Dependency{{On: 2, When: cluster.AfterOK}}
	if err := s.Validate(admission.Limits{Array: 2}, house); err == nil {
		t.Error("an array of three is taken where two are allowed")
	}
	jobs := s.VJobs(40)
	if len(jobs) != 3 {
		t.Fatalf("%d vjobs", len(jobs))
	}
	for i, job := range jobs {
		if job.ID != cluster.VJobID(40+i) || job.Array != 40 || job.Index != i+1 || job.Parameter != s.Array[i] || job.Name != fmt.Sprintf("cfd[%d]", i+1) {
			t.Errorf("vjob %d is %s, %q, %d of array %s, with %q", i, job.ID, job.Name, job.Index, job.Array, job.Parameter)
		}
		if id := job.VMs[1].ID; id != (cluster.VMID{VJob: job.ID, Rank: 1}) {
			t.Errorf("its VM of rank 1 is %s", id)
		}
	}
	changed := jobs[0].Clone() // the vjobs themselves share their terms
	changed.OwnTerms().After, changed.VMs[0].Reserved.CPU = nil, 1
	if len(jobs[0].After) != 1 || jobs[1].After[0].On != 2 || s.After[0].On != 2 || jobs[1].VMs[0].Reserved.CPU != 1000 {
		t.Error("what a copy of one of them changes is changed for others")
	}
	s.Array = nil
	if single := s.VJobs(7); len(single) != 1 || single[0].Array != 0 || single[0].Name != "cfd" {
		t.Errorf("without an array: %+v", single)
	}
}
