package cluster_test

import (
	"errors"
	"testing"

	"vjob/cluster"
)

func TestExitStatusTexts(t *testing.T) {
	for value := range 256 {
		s := cluster.Exited(value)
		back, err := cluster.ParseExitStatus(s.String())
		if err != nil || back != s || s.Value() != value || s.IsZero() || !s.Known() {
			t.Fatalf("%d: %q is read as %q: %v", value, s, back, err)
		}
	}
	for s, want := range map[cluster.ExitStatus]string{
		0: "", cluster.UnknownExit: "unknown", cluster.Exited(0): "0:0", cluster.Exited(3): "3:0",
		cluster.Exited(128): "128:0", cluster.Exited(137): "0:9", cluster.Exited(192): "0:64", cluster.Exited(193): "193:0",
	} {
		if s.String() != want {
			t.Errorf("%d is %q, want %q", s, s, want)
		}
		if back, err := cluster.ParseExitStatus(want); err != nil || back != s {
			t.Errorf("%q is read as %q: %v", want, back, err)
		}
	}
	for _, text := range []string{"3", "3:", ":", "3:9", "256:0", "0:65", "-1:0", "ok", "0:0 "} {
		if s, err := cluster.ParseExitStatus(text); !errors.Is(err, cluster.ErrInvalid) {
			t.Errorf("%q is read as %q: %v", text, s, err)
		}
	}
}

func TestReadExit(t *testing.T) {
	for console, want := range map[string]string{
		"": "unknown", "booted\nlogin:": "unknown", "vjob: exit code 3\n": "3:0", "vjob: exit code 3\r\nshutting down\r\n": "3:0",
		"[    2.000000] vjob: exit code 0": "0:0", "vjob: exit code 1\nvjob: exit code 137\n": "0:9",
		"vjob: exit code 256\n": "unknown", "vjob: exit code -1\n": "unknown", "vjob: exit code ": "unknown", "vjob: exit code 1x": "unknown",
	} {
		if got := cluster.ReadExit([]byte(console)); got.String() != want {
			t.Errorf("%q: %q, want %q", console, got, want)
		}
	}
}

func TestResult(t *testing.T) {
	const open, unknown = cluster.ExitStatus(0), cluster.UnknownExit
	ok, one, three := cluster.Exited(0), cluster.Exited(1), cluster.Exited(3)
	for _, tt := range []struct {
		name    string
		success cluster.Success
		command bool
		led     bool
		exits   []cluster.ExitStatus
		status  cluster.ExitStatus
		rank    int
		good    bool
	}{
		{"none has ended by itself", cluster.AllSucceed, true, false, []cluster.ExitStatus{open, open}, open, 0, true},
		{"all well", cluster.AllSucceed, true, false, []cluster.ExitStatus{ok, ok}, ok, 0, true},
		{"the largest", cluster.AllSucceed, true, false, []cluster.ExitStatus{ok, three, one}, three, 1, false},
		{"a signal is larger than small codes", cluster.AllSucceed, true, false, []cluster.ExitStatus{three, cluster.Exited(137)}, cluster.Exited(137), 1, false},
		{"the first of equal ones", cluster.AllSucceed, true, false, []cluster.ExitStatus{three, three}, three, 0, false},
		{"members that were ended do not count", cluster.AllSucceed, true, false, []cluster.ExitStatus{open, ok, open}, ok, 1, true},
		{"a command without a status has failed", cluster.AllSucceed, true, false, []cluster.ExitStatus{ok, unknown}, unknown, 1, false},
		{"known failures come before unknown ones", cluster.AllSucceed, true, false, []cluster.ExitStatus{unknown, one}, one, 1, false},
		{"an image without a command has succeeded", cluster.AllSucceed, false, false, []cluster.ExitStatus{unknown}, unknown, 0, true},
		{"an image that tells a failure has failed", cluster.AllSucceed, false, false, []cluster.ExitStatus{unknown, one}, one, 1, false},
		{"only the first", cluster.FirstSucceed, true, false, []cluster.ExitStatus{ok, three}, ok, 0, true},
		{"only the first, which failed", cluster.FirstSucceed, true, false, []cluster.ExitStatus{one, ok}, one, 0, false},
		{"only the first of a led vjob", cluster.AllSucceed, true, true, []cluster.ExitStatus{ok, three}, ok, 0, true},
		{"one suffices", cluster.AnySucceeds, true, false, []cluster.ExitStatus{three, ok, one}, ok, 1, true},
		{"one would suffice", cluster.AnySucceeds, true, false, []cluster.ExitStatus{three, one}, one, 1, false},
	} {
		job := cluster.VJob{VMs: make([]cluster.VM, len(tt.exits)), Terms: &cluster.Terms{Success: tt.success}}
		if tt.command {
			for i := range job.VMs {
				job.VMs[i].Payload = &cluster.Payload{Command: []string{"work"}}
			}
		}
		job.LeaderEnds = tt.led
		if status, rank, good := job.Result(tt.exits); status != tt.status || rank != tt.rank || good != tt.good {
			t.Errorf("%s: %q of VM %d, %t; want %q of VM %d, %t", tt.name, status, rank, good, tt.status, tt.rank, tt.good)
		}
	}
}
