package scheduler_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/scheduler"
)

// good is a submission with nothing wrong in it.
func good() *scheduler.Submission {
	s := &scheduler.Submission{Owner: "u", Name: "cfd", Walltime: time.Hour}
	for range 2 {
		s.VMs = append(s.VMs, cluster.VM{Reserved: cluster.Resources{CPU: 1000, Memory: 512}})
	}
	s.Rules = []scheduler.SubmittedRule{{Kind: cluster.Spread}, {Kind: cluster.Fence, Ranks: []int{1}, Nodes: []cluster.NodeID{"n1"}}}
	return s
}

var (
	bounds = scheduler.Bounds{VMs: 4, Images: []string{"debian", "tiny"}}
	house  = []scheduler.NodeStatus{
		{Node: cluster.Node{ID: "n1", Capacity: cluster.Resources{CPU: 2000, Memory: 2048}}},
		{Node: cluster.Node{ID: "n2", Capacity: cluster.Resources{CPU: 4000, Memory: 1024}}},
	}
)

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(s *scheduler.Submission)
		field string // that the error names
	}{
		{"no VMs", func(s *scheduler.Submission) { s.VMs, s.Rules = nil, nil }, "vms"},
		{"too many VMs", func(s *scheduler.Submission) { s.VMs = make([]cluster.VM, 5) }, "vms"},
		{"negative walltime", func(s *scheduler.Submission) { s.Walltime = -1 }, "walltime_seconds"},
		{"negative CPU", func(s *scheduler.Submission) { s.VMs[1].Reserved.CPU = -1 }, "vms[1].cpu_milli"},
		{"no memory", func(s *scheduler.Submission) { s.VMs[0].Reserved.Memory = 0 }, "vms[0].memory_mib"},
		{"negative memory", func(s *scheduler.Submission) { s.VMs[0].Reserved.Memory = -512 }, "vms[0].memory_mib"},
		{"unknown image", func(s *scheduler.Submission) { s.VMs[1].Payload.Image = "windows" }, "vms[1].image"},
		{"larger than any node", func(s *scheduler.Submission) { s.VMs[1].Reserved.Memory = 4096 }, "vms[1]"},
		{"as much CPU as one node and memory as another", func(s *scheduler.Submission) {
			s.VMs[0].Reserved = cluster.Resources{CPU: 4000, Memory: 2048}
		}, "vms[0]"},
		{"larger than the cluster", func(s *scheduler.Submission) {
			s.VMs = make([]cluster.VM, 4)
			for i := range s.VMs {
				s.VMs[i].Reserved = cluster.Resources{CPU: 1000, Memory: 1024}
			}
		}, "vms"},
		{"spread over more VMs than nodes", func(s *scheduler.Submission) {
			s.VMs = append(s.VMs, s.VMs[0])
			s.Rules = []scheduler.SubmittedRule{{Kind: cluster.Spread}}
		}, "rules"},
		{"gathered, and too many for one node", func(s *scheduler.Submission) {
			s.VMs = append(s.VMs, s.VMs[0], s.VMs[0])
			s.Rules = []scheduler.SubmittedRule{{Kind: cluster.Gather}, {Kind: cluster.Fence, Nodes: []cluster.NodeID{"n1"}}}
		}, "rules"},
		{"banned from every node", func(s *scheduler.Submission) {
			s.Rules = []scheduler.SubmittedRule{{Kind: cluster.Ban, Nodes: []cluster.NodeID{"n1", "n2"}}}
		}, "rules"},
		{"enough in sum, but not on single nodes", func(s *scheduler.Submission) {
			s.Rules = nil
			s.VMs = make([]cluster.VM, 3)
			for i := range s.VMs {
				s.VMs[i].Reserved = cluster.Resources{CPU: 2000, Memory: 700}
			}
		}, "vms"},
		{"unknown rule", func(s *scheduler.Submission) { s.Rules[0].Kind = "near" }, "rules.kind"},
		{"spread with nodes", func(s *scheduler.Submission) { s.Rules[0].Nodes = []cluster.NodeID{"n1"} }, "rules.nodes"},
		{"fence without nodes", func(s *scheduler.Submission) { s.Rules[1].Nodes = nil }, "rules.nodes"},
		{"rank that is not there", func(s *scheduler.Submission) { s.Rules[1].Ranks = []int{2} }, "rules[1].ranks"},
		{"negative rank", func(s *scheduler.Submission) { s.Rules[1].Ranks = []int{-1} }, "rules[1].ranks"},
		{"unknown node", func(s *scheduler.Submission) { s.Rules[1].Nodes = []cluster.NodeID{"n9"} }, "rules[1].nodes"},
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
	s.VMs[1].Payload.Image = "tiny"
	if err := s.Validate(bounds, house); err != nil {
		t.Fatal(err)
	}
	if s.VMs[0].Payload.Image != "debian" || s.VMs[1].Payload.Image != "tiny" {
		t.Errorf("got %q and %q", s.VMs[0].Payload.Image, s.VMs[1].Payload.Image)
	}
	free := good()
	free.Rules = nil
	if err := free.Validate(scheduler.Bounds{}, nil); err != nil {
		t.Errorf("without bounds and nodes: %v", err)
	}
}

// A submission becomes a vjob with its ranks, and its rules speak of its own VMs.
func TestSubmissionBecomesVJob(t *testing.T) {
	job := good().VJob(7)
	var text []string
	for _, r := range job.Rules {
		text = append(text, r.String())
	}
	if got := strings.Join(text, " "); got != "spread({7.0, 7.1}) fence({7.1}, {n1})" {
		t.Errorf("got %s", got)
	}
	for rank, vm := range job.VMs {
		if vm.ID != (cluster.VMID{VJob: 7, Rank: rank}) {
			t.Errorf("rank %d is %s", rank, vm.ID)
		}
	}
}
