package admission_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/scheduler/admission"
)

// good is a submission with nothing wrong in it.
func good() *admission.Submission {
	s := &admission.Submission{Owner: "u", Name: "cfd", Walltime: time.Hour}
	for range 2 {
		s.VMs = append(s.VMs, cluster.VM{Reserved: cluster.Resources{CPU: 1000, Memory: 512}})
	}
	s.Rules = "spread($VMS); fence(VM1, n1);"
	return s
}

var (
	bounds = admission.Limits{VMs: 4, Images: []string{"debian", "tiny"}}
	house  = []cluster.Node{
		{ID: "n1", Capacity: cluster.Resources{CPU: 2000, Memory: 2048}},
		{ID: "n2", Capacity: cluster.Resources{CPU: 4000, Memory: 1024}},
	}
)

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(s *admission.Submission)
		field string // that the error names
	}{
		{"no VMs", func(s *admission.Submission) { s.VMs, s.Rules = nil, "" }, "vms"},
		{"too many VMs", func(s *admission.Submission) { s.VMs = make([]cluster.VM, 5) }, "vms"},
		{"negative walltime", func(s *admission.Submission) { s.Walltime = -1 }, "walltime_seconds"},
		{"negative CPU", func(s *admission.Submission) { s.VMs[1].Reserved.CPU = -1 }, "vms[1].cpu_milli"},
		{"no memory", func(s *admission.Submission) { s.VMs[0].Reserved.Memory = 0 }, "vms[0].memory_mib"},
		{"negative memory", func(s *admission.Submission) { s.VMs[0].Reserved.Memory = -512 }, "vms[0].memory_mib"},
		{"unknown image", func(s *admission.Submission) { s.VMs[1].Payload = &cluster.Payload{Image: "windows"} }, "vms[1].image"},
		{"larger than any node", func(s *admission.Submission) { s.VMs[1].Reserved.Memory = 4096 }, "vms[1]"},
		{"as much CPU as one node and memory as another", func(s *admission.Submission) {
			s.VMs[0].Reserved = cluster.Resources{CPU: 4000, Memory: 2048}
		}, "vms[0]"},
		{"larger than the cluster", func(s *admission.Submission) {
			s.VMs = make([]cluster.VM, 4)
			for i := range s.VMs {
				s.VMs[i].Reserved = cluster.Resources{CPU: 1000, Memory: 1024}
			}
		}, "vms"},
		{"spread over more VMs than nodes", func(s *admission.Submission) {
			s.VMs = append(s.VMs, s.VMs[0])
			s.Rules = "spread($VMS);"
		}, "rules"},
		{"gathered, and too many for one node", func(s *admission.Submission) {
			s.VMs = append(s.VMs, s.VMs[0], s.VMs[0])
			s.Rules = "gather($VMS); fence($VMS, n1);"
		}, "rules"},
		{"banned from every node", func(s *admission.Submission) {
			s.Rules = "ban($VMS, {n1, n2});"
		}, "rules"},
		{"enough in sum, but not on single nodes", func(s *admission.Submission) {
			s.Rules = ""
			s.VMs = make([]cluster.VM, 3)
			for i := range s.VMs {
				s.VMs[i].Reserved = cluster.Resources{CPU: 2000, Memory: 700}
			}
		}, "vms"},
		{"unknown rule", func(s *admission.Submission) { s.Rules = "near($VMS);" }, "rules"},
		{"spread with nodes", func(s *admission.Submission) { s.Rules = "spread($VMS, n1);" }, "rules"},
		{"fence without nodes", func(s *admission.Submission) { s.Rules = "fence($VMS);" }, "rules"},
		{"rank that is not there", func(s *admission.Submission) { s.Rules = "spread({VM0, VM2});" }, "rules"},
		{"unknown node", func(s *admission.Submission) { s.Rules = "fence($VMS, n9);" }, "rules"},
		{"a rule about nodes", func(s *admission.Submission) { s.Rules = "capacity(n1, 1);" }, "rules"},
		{"no rule at all", func(s *admission.Submission) { s.Rules = "}" }, "rules"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := good()
			c.spoil(s)
			err := s.Validate(bounds, house)
			var field *cluster.FieldError
			if !errors.As(err, &field) || field.Field != c.field || !errors.Is(err, cluster.ErrInvalid) {
				t.Errorf("got %v, want the field %s named", err, c.field)
			}
		})
	}
}

func TestValidateFillsTheDefaultImageIn(t *testing.T) {
	s := good()
	s.VMs[1].Payload = &cluster.Payload{Image: "tiny"}
	if err := s.Validate(bounds, house); err != nil {
		t.Fatal(err)
	}
	if s.VMs[0].Payload.Image != "debian" || s.VMs[1].Payload.Image != "tiny" {
		t.Errorf("got %q and %q", s.VMs[0].Payload.Image, s.VMs[1].Payload.Image)
	}
	free := good()
	free.Rules = ""
	if err := free.Validate(admission.Limits{}, nil); err != nil {
		t.Errorf("without bounds and nodes: %v", err)
	}
}

// A submission becomes a vjob with its ranks.
func TestSubmissionBecomesVJob(t *testing.T) {
	job := good().VJob(7)
	if job.Rules != "spread($VMS); fence(VM1, n1);" {
		t.Errorf("its rules are %s", job.Rules)
	}
	for rank, vm := range job.VMs {
		if vm.ID != (cluster.VMID{VJob: 7, Rank: rank}) {
			t.Errorf("rank %d is %s", rank, vm.ID)
		}
	}
}

// A deadline that comes before a vjob may start is refused, and no other.
func TestValidateDeadline(t *testing.T) {
	at := time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		deadline, notBefore, reservation time.Time
		refused                          bool
	}{
		{deadline: at},
		{deadline: at, notBefore: at.Add(-time.Second)},
		{deadline: at, notBefore: at, refused: true},
		{deadline: at, reservation: at.Add(time.Hour), refused: true},
		{deadline: at, reservation: at.Add(-time.Hour)},
		{notBefore: at},
	} {
		s := good()
		s.Rules, s.Deadline, s.NotBefore, s.Reservation = "", c.deadline, c.notBefore, c.reservation
		var bad *cluster.FieldError
		if err := s.Validate(admission.Limits{}, nil); (err != nil) != c.refused || err != nil && (!errors.As(err, &bad) || bad.Field != "deadline") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// What a submission takes in all is bounded: VMs × vjobs, and the VMs of all alternatives.
func TestTotalOfASubmission(t *testing.T) {
	limit := admission.Limits{VMs: 1000, Array: 10_000, Total: 100_000}
	of := func(vms, array, shapes int) *admission.Submission {
		s := &admission.Submission{Owner: "u", Walltime: time.Hour, VMs: slices.Repeat([]cluster.VM{{Reserved: cluster.Resources{CPU: 1, Memory: 1}}}, vms)}
		s.Array = slices.Repeat([]string{""}, array)
		for range shapes {
			s.Shapes = append(s.Shapes, cluster.Shape{VMs: s.VMs, Walltime: time.Hour})
		}
		return s
	}
	for _, c := range []struct {
		name               string
		vms, array, shapes int
		want               string // the error
	}{
		{"an array at the limit", 100, 1000, 0, ""},
		{"one VM more in each", 101, 1000, 0, "array: 101000 VMs in 1000 vjobs requested, one submission may have 100000 VMs: submit a smaller array, or smaller vjobs in it"},
		{"the array that took 1.5 GB", 1000, 10_000, 0, "array: 10000000 VMs in 10000 vjobs requested, one submission may have 100000 VMs: submit a smaller array, or smaller vjobs in it"},
		{"alternatives of an array", 10, 5001, 2, "array: 100020 VMs in 5001 vjobs requested, one submission may have 100000 VMs: submit a smaller array, or smaller vjobs in it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			if err := of(c.vms, c.array, c.shapes).Validate(limit, nil); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// TestAnArraySharesWhatNeverChanges: payloads, lists of terms and causes are one for all vjobs of an array, and what
// happens to one of the vjobs changes none of the others.
func TestAnArraySharesWhatNeverChanges(t *testing.T) {
	s := admission.Submission{
		Owner: "ann", Array: []string{"a", "b"}, Rules: "spread($VMS);",
		VMs:   []cluster.VM{{Reserved: cluster.Resources{CPU: 1000, Memory: 512}, Payload: &cluster.Payload{Command: []string{"run"}, Env: map[string]string{"A": "b"}}}},
		Terms: cluster.Terms{Labels: map[string]string{"campaign": "7"}, Notify: []string{"mail:ann@example.org"}},
	}
	jobs := s.VJobs(5)
	if jobs[0].VMs[0].Payload != jobs[1].VMs[0].Payload || jobs[0].Cause != jobs[1].Cause || jobs[0].Terms != jobs[1].Terms {
		t.Error("each vjob of an array has a payload, a cause or terms of its own")
	}
	if err := jobs[0].Become(cluster.Booting, cluster.Because("there is room")); err != nil {
		t.Fatal(err)
	}
	_ = jobs[0].Payload(0)
	c := jobs[0].Clone()
	c.OwnTerms().Pool, c.VMs[0].Payload = "other", nil
	s.Labels["campaign"] = "9"
	if j := jobs[1]; j.Pool != "" || j.Labels["campaign"] != "7" || j.Notify[0] != "mail:ann@example.org" || !j.Cause.Is(cluster.CauseSubmitted) || j.Rules != s.Rules || len(j.VMs[0].Payload.Env) != 1 {
		t.Errorf("another vjob of the array changed: %+v, cause %s", j, j.Cause)
	}
}
