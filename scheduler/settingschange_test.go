package scheduler_test

import (
	"errors"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/scheduler"
	"vjob/scheduler/admission"
)

// change returns settings of a plant with a limit of vjobs for each user, and another tick, and its nodes.
func (p *plant) change(vjobs int) *scheduler.SettingsChange {
	c := &scheduler.SettingsChange{
		Settings: scheduler.LoopSettings{Settings: settings(), Limits: admission.Limits{VMs: 4, Owner: admission.Holding{VJobs: vjobs}}, Tick: 2 * time.Second},
		Audit:    journal.Audit{At: time.Now().UTC(), By: "root", From: "here", Action: journal.AuditReload, Text: "x"}, Text: "settings reloaded",
	}
	for _, n := range p.loop.Requests.Snapshot().Nodes {
		c.Nodes = append(c.Nodes, n.Node)
	}
	return c
}

// Requests see the new settings once the change is acknowledged, and running vjobs go on.
func TestChangeSettings(t *testing.T) {
	in(t, func(p *plant) {
		job, _, err := p.submit("")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		if err := p.loop.Requests.ChangeSettings(p.t.Context(), p.change(1)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := p.submit("late"); err == nil {
			t.Error("a second vjob is accepted, and the limit is 1")
		}
		if err := p.loop.Requests.ChangeSettings(p.t.Context(), p.change(2)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := p.submit("late"); err != nil {
			t.Errorf("a second vjob, and the limit is 2: %v", err)
		}
		time.Sleep(2 * time.Minute)
		if kept, _ := p.store.VJob(job.ID); kept.State != cluster.Terminated || kept.Gang.Incarnation != 1 {
			t.Errorf("the vjob is %s in incarnation %d", kept.State, kept.Gang.Incarnation)
		}
	})
}

// A driver that refuses its settings leaves the old ones, and a store that fails has those of the driver undone.
func TestChangeSettingsThatFails(t *testing.T) {
	in(t, func(p *plant) {
		time.Sleep(time.Second)
		refused := p.change(1)
		refused.Apply = func() error { return errors.New("refused") }
		if err := p.loop.Requests.ChangeSettings(p.t.Context(), refused); err == nil || err.Error() != "refused" {
			t.Errorf("the driver refuses: %v", err)
		}
		undone := false
		lost := p.change(1)
		lost.Nodes[0].ID = "" // which no store takes
		lost.Apply, lost.Undo = func() error { return nil }, func() { undone = true }
		if err := p.loop.Requests.ChangeSettings(p.t.Context(), lost); !errors.Is(err, cluster.ErrUnavailable) || !undone {
			t.Errorf("the store refuses: %v; undone: %t", err, undone)
		}
		time.Sleep(time.Minute)
		if _, _, err := p.submit("late"); err != nil {
			t.Errorf("the settings have changed: %v", err)
		}
	})
}
