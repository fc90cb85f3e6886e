package daemon_test

import (
	"errors"
	"strings"
	"testing"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/daemon/settings"
)

// as returns a client of an ordinary user.
func as(tb testing.TB, root *client.Client, s settings.Settings, user string) *client.Client {
	tb.Helper()
	if _, err := root.CreateUser(tb.Context(), wire.User{Name: user, Role: "user"}); err != nil {
		tb.Fatal(err)
	}
	token, err := root.CreateToken(tb.Context(), user, wire.TokenRequest{})
	if err != nil {
		tb.Fatal(err)
	}
	c, err := client.New(client.Settings{Server: "unix://" + s.Listen.Socket, Token: token.Secret})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Close)
	return c
}

// Submissions at the expense of others are refused without the right to them; the error has
// the field and the fix.
func TestAtTheExpenseOfOthers(t *testing.T) {
	const lonely = "spread($VMS); continuous lonely($VMS);"
	s := small(t, func(s *settings.Settings) {
		s.Limits.VJobsPerUser, s.Limits.VMsPerUser = 50, 100
		s.Rights = settings.Rights{RaisePriority: []string{"bob"}, WholeNodes: []string{"bob"}}
	})
	root, _ := start(t, s)
	users := map[string]*client.Client{"root": root, "ann": as(t, root, s, "ann"), "bob": as(t, root, s, "bob")}
	for _, c := range []struct {
		user   string
		submit wire.Submission
		want   string // a part of the error
	}{
		{"ann", wire.Submission{Count: 1000, Array: 10_000}, "array: 10000000 VMs in 10000 vjobs requested, one submission may have 100000 VMs: submit"},
		{"ann", wire.Submission{Count: 1, Array: 51}, "array: 51 vjobs requested, ann has 0 in vjobs that have not ended and may have 50 at once: wait"},
		{"ann", wire.Submission{Count: 3, Array: 40}, "array: 120 VMs requested, ann has 0 in vjobs that have not ended and may have 100 at once: wait"},
		{"ann", wire.Submission{Count: 1, Priority: 1_000_000}, "priority: 1000000 requested, ann may give at most 0: more takes a right, rights.raise_priority"},
		{"ann", wire.Submission{Count: 1, Priority: -3}, ""},
		{"ann", wire.Submission{Count: 2, Rules: lonely}, "lonely keeps all other vjobs off the nodes, which quotas do not count: it takes a right, rights.whole_nodes"},
		{"ann", wire.Submission{Count: 2, Rules: "spread($VMS);"}, ""},
		{"bob", wire.Submission{Count: 2, Priority: 1_000_000, Rules: lonely}, ""},
		{"root", wire.Submission{Count: 2, Priority: 1_000_000, Rules: lonely}, ""},
	} {
		c.submit.Hold, c.submit.Template = true, &wire.VMSpec{CPUMilli: 1, MemoryMiB: 1}
		_, _, err := users[c.user].Submit(t.Context(), c.submit, "")
		if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, cluster.ErrInvalid) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s, %d VMs × %d, priority %d, rules %q: got %v, want %q", c.user, c.submit.Count, c.submit.Array, c.submit.Priority, c.submit.Rules, err, c.want)
		}
	}
	raised := wire.Submission{Count: 1, Priority: 1, Template: &wire.VMSpec{CPUMilli: 1, MemoryMiB: 1}}
	if _, err := users["ann"].WhatIf(t.Context(), wire.WhatIf{Submit: &raised}); err == nil || !strings.Contains(err.Error(), "ann may give at most 0") {
		t.Errorf("what if: %v", err)
	}
}

// The reason of a waiting vjob names vjobs of other users only to administrators.
func TestReasonsHideVJobsOfOthers(t *testing.T) {
	s := small(t, nil)
	root, _ := start(t, s)
	ann := as(t, root, s, "ann")
	steps := []wire.Step{{CPUMilli: 1, Seconds: 1e6}}
	alone, _, err := root.Submit(t.Context(), wire.Submission{
		Count: 2, Rules: "spread($VMS); continuous lonely($VMS);", Template: &wire.VMSpec{CPUMilli: 1, MemoryMiB: 1, Steps: steps},
	}, "")
	if err != nil {
		t.Fatal(err)
	}
	until(t, root, alone.ID, "running", inState(cluster.Running))
	job := submit(t, ann, "waits", 1, 0, 1)
	hasReason := func(j *wire.VJobDetail) bool { return strings.Contains(j.Reason, "in the way is lonely({") }
	if got := until(t, root, job, "a reason", hasReason); !strings.Contains(got.Reason, "VM 1.0") {
		t.Errorf("the administrator reads %q", got.Reason)
	}
	if got := until(t, ann, job, "a reason", hasReason); strings.Contains(got.Reason, "VM 1.") {
		t.Errorf("ann reads %q", got.Reason)
	}
}
