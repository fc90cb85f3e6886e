package main

import (
	"strings"
	"testing"

	"vjob/api/wire"
	"vjob/cmd/vjob/cli"
	"vjob/tests/golden"
)

func alarmed() map[string]any {
	silent := wire.Alarm{
		ID: 3, Kind: "node-silent", Object: "node n3", Node: "n3", Text: "node n3 does not answer since 2026-11-21 11:00:00: no route\x1b[2J",
		Next: "repair it; if it is dead and fenced: vjob nodes down n3 --fenced", Since: noon, Count: 2, AckedBy: "root", AckedAt: &noon, Comment: "power supply ordered",
	}
	return map[string]any{
		"/v1/alarms": wire.AlarmList{Alarms: []wire.Alarm{
			silent, {ID: 1, Kind: "image-store", Object: "cluster", Text: "the image store cannot be read", Next: "mount it", Since: noon, Ended: &noon, Count: 1},
		}},
		"/v1/alarms/3/ack": silent,
		"/v1/nodes":        wire.NodeList{Nodes: []wire.Node{}, Alarms: new(2)},
		"/v1/plans":        wire.PlanList{},
		"/healthz":         wire.Health{Ready: true, Reason: "ready"},
		"/v1/events":       wire.EventList{},
	}
}

func TestAlarmCommands(t *testing.T) {
	s, f := against(t, alarmed())
	golden.Same(t, "testdata/alarms-open.golden", s.ok("alarms", "--ended"))
	if f.query != "ended=true&limit=100" {
		t.Errorf("asked for %s", f.query)
	}
	s.ok("alarms", "--kind", "lost")
	if f.query != "kind=lost&limit=100" {
		t.Errorf("asked for %s", f.query)
	}
	if out := s.ok("alarms", "ack", "3", "--comment", "power supply ordered"); !strings.HasPrefix(out, "alarm 3 is acknowledged: node n3") || strings.Contains(out, "\x1b") {
		t.Errorf("acknowledged: %q", out)
	}
	if out := s.ok("alarms", "-o", "json"); !strings.Contains(out, `"next": "mount it"`) {
		t.Errorf("as JSON:\n%s", out)
	}
	if out := s.ok("nodes"); !strings.Contains(out, "\n2 open alarms: vjob alarms\n") {
		t.Errorf("nodes:\n%s", out)
	}
	if out := s.ok("watch", "alarms", "--once"); !strings.Contains(out, "1 open alarm ") || !strings.Contains(out, "node n3") {
		t.Errorf("watch:\n%s", out)
	}
	for _, args := range [][]string{{"alarms", "ack"}, {"alarms", "ack", "n3"}, {"alarms", "ack", "0"}, {"alarms", "3"}, {"alarms", "--limit", "0"}, {"alarms", "ack", "4"}} {
		if r := s.run(args...); r.code == cli.ExitOK || r.err == "" {
			t.Errorf("%v: exit %d, %q, %q", args, r.code, r.out, r.err)
		}
	}
	s, _ = against(t, map[string]any{"/v1/alarms": wire.AlarmList{Alarms: []wire.Alarm{}}})
	if out := s.ok("alarms"); out != "no open alarms\n" {
		t.Errorf("none: %q", out)
	}
}
