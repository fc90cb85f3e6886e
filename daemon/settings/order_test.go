package settings_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/daemon/settings"
	"vjob/queue/fairshare"
	"vjob/queue/multifactor"
	"vjob/queue/ordering"
	"vjob/queue/quota"
)

// arrange reads a document over the defaults and returns its rules; errors are those that
// users see.
func arrange(t *testing.T, text string) (a ordering.Settings, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := settings.Read(path, func(string) string { return "/home" })
	if err != nil {
		return a, err
	}
	return s.Arrange()
}

// By default the order is by priority, then by submission.
func TestOrderOfTheReference(t *testing.T) {
	a, err := arrange(t, "")
	if err != nil {
		t.Fatal(err)
	}
	old, now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	first := a.Rank.Priority(&multifactor.Factors{ID: 2, Priority: 1, Submitted: now}, now)
	second := a.Rank.Priority(&multifactor.Factors{ID: 1, Submitted: old, Runs: true, FairShare: 1, Queue: 1}, now)
	third := a.Rank.Priority(&multifactor.Factors{ID: 3, Submitted: now, Size: 1}, now)
	if first.Compare(&second) >= 0 || second.Compare(&third) >= 0 {
		t.Errorf("%s, %s, %s", &first, &second, &third)
	}
	if q, err := a.Queues.Route(""); err != nil || q.Name != "batch" || q.Admit(1e6, cluster.Resources{CPU: 1e9}, 0) != nil {
		t.Errorf("%+v, %v", q, err)
	}
}

func TestOrderOfAll(t *testing.T) {
	a, err := arrange(t, `
policy: {needs: reserved}
time_zone: Europe/Paris
default_queue: batch
queues: [{name: batch, priority: 10}, {name: urgent, priority: 40, policy: fcfs, limits: {walltime: 1h, memory: 8GiB}}]
priority: {age: 1000, queue: 2000, lead: 50, old_age: 10d, size_first: large}
fair_share: {half_life: 14d, memory: 0.25, shares: {physics: 20, physics/ann: 2}}
quotas:
  - {name: cpus, user: each, limits: {cpu: 40}, windows: [{name: night, when: "18:00-08:00", limits: {cpu: 400}}]}
  - {name: hours, project: each, queue: urgent, within: 7d, limits: {cpu_hours: 0.5, vms: 0, memory: 1GiB}}
`)
	if err != nil {
		t.Fatal(err)
	}
	evening := time.Date(2026, 7, 1, 16, 30, 0, 0, time.UTC) // 18:30 in Paris
	who := quota.Association{User: "ann", Project: "physics", Queue: "urgent"}
	tally := a.Quotas.Tally(evening, nil)
	if why := tally.Refuses(&quota.Job{Association: who, Need: cluster.Resources{CPU: 401 * cluster.CPU}, Ends: true}); why != "quota cpus (night) of user ann: 0 of 400 CPU are used, it needs 401" {
		t.Error(why)
	}
	if why := tally.Refuses(&quota.Job{Association: who, Need: cluster.Resources{CPU: cluster.CPU}, Left: time.Hour, Ends: true}); why != "quota hours of project physics in queue urgent: 0 of 0.5 CPU-hours are used, it needs 1" {
		t.Error(why)
	}
	if a.Shares.HalfLife != 14*24*time.Hour || a.Shares.Shares["physics/ann"] != 2 || a.Rank.Lead != 50 || !a.Rank.LargeFirst {
		t.Errorf("%+v", a)
	}
}

func TestWrongOrder(t *testing.T) {
	for text, want := range map[string]string{
		"time_zone: Mars":                                                    `s.yaml:1:12: time_zone: "Mars": want a time zone`,
		"default_queue: long":                                                `default_queue: "long": want one of batch`,
		"queues: []":                                                         `queues: "[]": want at least one queue`,
		"queues: [{name: batch, policy: lifo}]":                              `queues[0].policy: "lifo": want one of conservative`,
		"queues: [{name: batch, priority: -1}]":                              "queues[0].priority: -1: want 0 or more",
		"priority: {age: -1}":                                                "priority.age: -1: want points from 0 to",
		"priority: {old_age: 0s}":                                            "priority.old_age: 0s: want at least 1s",
		"priority: {size_first: tall}":                                       `priority.size_first: "tall": want one of large, small`,
		"priority: {weight: 1}":                                              "priority.weight: unknown key",
		"projects: [{name: a/b, users: [ann]}]":                              `projects[0].name: "a/b": want a name without slashes`,
		"projects: [{name: a}]":                                              `projects[0].users: "[]": want at least one user`,
		"projects: [{name: a, users: [b]}, {name: a, users: [c]}]":           "projects[1].name",
		"policy: {name: fcfs, min_run: 1m}":                                  "policy.min_run",
		"policy: {name: fcfs, needs: observed}":                              "policy.needs",
		"{policy: {needs: observed}, queues: [{name: batch, policy: fcfs}]}": "policy.needs",
		"fair_share: {half_life: 0s}":                                        "fair_share.half_life: 0s: want more than 0",
		"fair_share: {shares: {ann: -1}}":                                    "fair_share.shares.ann: -1: want 0 or more",
		"fair_share: {leap: 2}":                                              "fair_share.leap: 2: want from 0 to 1",
		"fair_share: {cpu: 0}":                                               "fair_share.cpu: 0: want more than 0",
		"quotas: [{name: a}]":                                                `quotas[0].limits`,
		"quotas: [{name: a, limits: {vms: -1}}]":                             "quotas[0].limits: -1: want 0 or more VMs",
		"quotas: [{name: a, limits: {cpu_hours: 1}}]":                        "quotas[0].within",
		"quotas: [{name: a, queue: x, limits: {vms: 1}}]":                    "quotas[0].queue: \"x\": want a queue that there is (batch)",
		"quotas: [{name: a, windows: [{name: n, when: 8-18}]}]":              `quotas[0].windows[0].when: "8-18": want a date`,
		`quotas: [{name: a, windows: [{name: n, when: "08:00-18:00"}, {name: m, when: Mo}]}]`:       `overlap that of window "n" (08:00-18:00)`,
		"quotas: [{name: a, user: ann, limits: {vms: 1}}, {name: a, user: each, limits: {vms: 1}}]": "quotas[0].name",
		"queues: [{name: batch, policy: fcfs}, {name: dynamic, policy: timeslices}]":                "queues[1].policy",
	} {
		if _, err := arrange(t, text); err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), " is not", ": want"), want) {
			t.Errorf("%s:\n%v, want\n%s", text, err, want)
		}
	}
}

// The settings in the example of docs/reference/queues-and-quotas.md give the numbers there.
func TestWorkedExample(t *testing.T) {
	data, err := os.ReadFile("../../docs/reference/queues-and-quotas.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "### An example\n\n```yaml\n")
	text, rest, _ := strings.Cut(rest, "```")
	a, err := arrange(t, text)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	shares, err := fairshare.New(a.Shares)
	if err != nil {
		t.Fatal(err)
	}
	ann, bob := fairshare.Path{"physics", "ann"}, fairshare.Path{"biology", "bob"}
	shares.Charge(ann, now, fairshare.Usage{CPUSec: 300 * 3600})
	shares.Charge(bob, now, fairshare.Usage{CPUSec: 600 * 3600})
	const day = 24 * time.Hour
	last := 0
	for _, j := range []multifactor.Factors{
		{ID: 15, Submitted: now.Add(-time.Hour), Queue: a.Queues.Factor("urgent"), FairShare: shares.Factor(bob)},
		{ID: 9, Submitted: now.Add(-6 * day), Queue: a.Queues.Factor("batch"), FairShare: shares.Factor(bob), Runs: true},
		{ID: 12, Submitted: now.Add(-2 * day), Queue: a.Queues.Factor("batch"), FairShare: shares.Factor(ann)},
	} {
		r := a.Rank.Priority(&j, now)
		at := strings.Index(rest, r.String()+" |")
		if at < last {
			t.Errorf("vjob %s: %s is not where the example should have it", j.ID, &r)
		}
		last = at
	}
}

// The quotas in the example of docs/reference/queues-and-quotas.md give the numbers there.
func TestQuotasOfTheDocumentation(t *testing.T) {
	data, err := os.ReadFile("../../docs/reference/queues-and-quotas.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "## Quotas")
	_, rest, _ = strings.Cut(rest, "```yaml\n")
	text, _, _ := strings.Cut(rest, "```")
	a, err := arrange(t, "queues: [{name: batch}, {name: long}]\n"+text)
	if err != nil {
		t.Fatal(err)
	}
	tuesday := time.Date(2026, 11, 24, 20, 0, 0, 0, time.UTC)
	tally := a.Quotas.Tally(tuesday, nil)
	who := quota.Association{User: "bob", Project: "physics", Queue: "batch"}
	tally.Count(&quota.Job{ID: 1, Association: who, Need: cluster.Resources{CPU: 400 * cluster.CPU}})
	if why := tally.Refuses(&quota.Job{ID: 2, Association: who, Need: cluster.Resources{CPU: cluster.CPU}}); !strings.HasPrefix(why, "quota cpus (night) of user bob: 400 of 400 CPU") {
		t.Error(why)
	}
	saturday := a.Quotas.Tally(tuesday.AddDate(0, 0, 4), nil)
	if why := saturday.Refuses(&quota.Job{ID: 2, Association: who, Need: cluster.Resources{CPU: 1e9}}); why != "" {
		t.Error(why)
	}
}
