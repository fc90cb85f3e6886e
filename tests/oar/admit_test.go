package oar_test

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/daemon/settings"
	"vjob/oar"
	"vjob/oar/admission"
)

// Rules of admission of an administrator apply to vjobs of both APIs.
func TestAdmissionOfVJobs(t *testing.T) {
	x := open(t, func(s *settings.Settings) {
		s.Queues = append(s.Queues, settings.Queue{Name: "night"}) // besides batch, the default
		s.OAR.Admission = []admission.Rule{
			{When: admission.When{NoWalltime: true}, Set: admission.Set{Walltime: "1:0:0"}},
			{When: admission.When{Users: []string{"bob"}}, Set: admission.Set{Queue: "night", Property: "cluster = 'gdx'"}},
			{When: admission.When{Queues: []string{"night"}, WalltimeOver: "2:0:0"}, Refuse: "no more than two hours by {queue}, {user}"},
			{When: admission.When{MemoryOver: "16GiB"}, Refuse: "too much memory"},
			{When: admission.When{Projects: []string{""}, Types: []string{"besteffort"}}, Refuse: "{type} only for projects"},
			{When: admission.When{Types: []string{"inner"}}, Refuse: "no lessons here"},
		}
	})
	vjob := func(change func(*wire.Submission)) wire.Submission {
		s := wire.Submission{Count: 2, Template: &wire.VMSpec{CPUMilli: 1000, MemoryMiB: 512}}
		if change != nil {
			change(&s)
		}
		return s
	}
	submit := func(user string, s wire.Submission) (wire.VJobDetail, error) {
		c := x.client(user)
		job, _, err := c.Submit(t.Context(), s, "")
		if err != nil {
			return wire.VJobDetail{}, err
		}
		return c.VJob(t.Context(), job.ID)
	}
	for _, tt := range []struct {
		user     string
		change   func(*wire.Submission)
		queue    string
		walltime int64
		rules    string
		refused  string
	}{
		{"alice", nil, "batch", 3600, "", ""},
		{"alice", func(s *wire.Submission) { s.WalltimeSeconds = 9000 }, "batch", 9000, "", ""},
		{"bob", nil, "night", 3600, "node-16", ""},
		{"bob", func(s *wire.Submission) { s.Queue, s.Rules = "batch", "- spread: [VM0, VM1]" }, "", 0, "", "rules"},
		{"bob", func(s *wire.Submission) { s.Rules = "spread({VM0, VM1});\n" }, "night", 3600, "spread", ""},
		{"bob", func(s *wire.Submission) { s.WalltimeSeconds = 9000 }, "", 0, "", "no more than two hours by night, bob"},
		{"alice", func(s *wire.Submission) { s.Template.MemoryMiB = 20 << 10 }, "", 0, "", "too much memory"},
		{"alice", func(s *wire.Submission) { s.BestEffort = true }, "", 0, "", "besteffort only for projects"},
		{"alice", func(s *wire.Submission) { s.Inner = "lesson" }, "", 0, "", "no lessons here"},
		{"alice", func(s *wire.Submission) {
			s.WalltimeSeconds = 60
			s.Shapes = []wire.Shape{{Count: 1, Template: &wire.VMSpec{CPUMilli: 1000, MemoryMiB: 20 << 10}, WalltimeSeconds: 60}}
		}, "", 0, "", "too much memory"},
	} {
		job, err := submit(tt.user, vjob(tt.change))
		switch {
		case tt.refused != "":
			if !errors.Is(err, cluster.ErrInvalid) || !strings.Contains(err.Error(), tt.refused) {
				t.Errorf("%s: %v, want %q", tt.user, err, tt.refused)
			}
		case err != nil:
			t.Errorf("%s: %v", tt.user, err)
		case job.Terms.Queue != tt.queue || job.WalltimeSeconds != tt.walltime || !strings.Contains(job.Rules, tt.rules):
			t.Errorf("%s: %s, %d s, %q; want %s, %d s, %q", tt.user, job.Terms.Queue, job.WalltimeSeconds, job.Rules, tt.queue, tt.walltime, tt.rules)
		}
	}
}

// Simultaneous submissions, by either API, never exceed the number of jobs that a rule allows.
func TestSimultaneousSubmissionsAreCounted(t *testing.T) {
	const may, clients = 5, 60
	over := may
	x := open(t, func(s *settings.Settings) {
		s.OAR.Admission = []admission.Rule{{When: admission.When{JobsOver: &over}, Refuse: "no more than 5 jobs"}}
	})
	for user, submit := range map[string]func(c *client.Client) error{
		"alice": func(c *client.Client) error {
			_, _, err := c.Submit(t.Context(), wire.Submission{Hold: true, Count: 1, Template: &wire.VMSpec{CPUMilli: 1000, MemoryMiB: 512}}, "")
			return err
		},
		"bob": func(c *client.Client) error {
			var a oar.Accepted
			return c.Do(t.Context(), http.MethodPost, "/oarapi/jobs", oar.Submission{Hold: true, Command: "sleep 1", Queue: "batch", Resource: []string{"/core=1"}}, &a)
		},
	} {
		var accepted atomic.Int32
		var all sync.WaitGroup
		release := make(chan struct{})
		for range clients {
			c := x.client(user)
			all.Go(func() {
				<-release
				switch err := submit(c); {
				case err == nil:
					accepted.Add(1)
				case !strings.Contains(err.Error(), "no more than 5 jobs"):
					t.Errorf("%s: %v", user, err)
				}
			})
		}
		close(release)
		all.Wait()
		if accepted.Load() != may {
			t.Errorf("%s: %d of %d simultaneous submissions were accepted, want %d", user, accepted.Load(), clients, may)
		}
	}
}
