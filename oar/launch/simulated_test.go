package launch_test

import (
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/oar/launch"
)

// The script for a simulated guest does the same in a real shell as in the guest: it has OAR's variables, and its exit
// code is that of the command.
func TestSimulated(t *testing.T) {
	j := launch.Job{
		Command: `echo "$OAR_JOB_ID $OAR_ARRAY_INDEX $OAR_JOB_NAME $OAR_USER $OAR_JOB_WALLTIME"; [ "$OAR_WORKDIR" = "$PWD" ] || echo "$PWD"; exit 3; #`,
		Name:    "it's", User: "ann", Directory: t.TempDir(), Walltime: 90 * time.Minute, CPUs: []cluster.MilliCPU{1000},
	}
	if r := run(t, j.Simulated()); r.out != "12 1 it's ann 1:30:0\n" || r.exit != 3 {
		t.Errorf("%+v", r)
	}
	if r := run(t, (&launch.Job{Command: "echo"}).Simulated(), "VJOB_PARAMETER=a 'b  c'"); r.out != "a b  c\n" {
		t.Errorf("%+v", r)
	}
	if text, ok := launch.ScriptOf(j.Simulated()); ok {
		t.Errorf("a command has the script %q", text)
	}
}

func TestSimulatedScript(t *testing.T) {
	text := "#!/bin/bash -e\nprintf '<%s>' \"$@\"\n# OAR: script\nexit 4"
	j := launch.Job{Script: text, Command: `./job.sh "a b" '$HOME'`, CPUs: []cluster.MilliCPU{1000}}
	got := j.Simulated()
	if r := run(t, got, "VJOB_PARAMETER=7 '8 9'"); r.out != "<a b><$HOME><7><8 9>" || r.exit != 4 {
		t.Errorf("%+v", r)
	}
	if !strings.HasPrefix(got, "#!/bin/bash -e\n") {
		t.Errorf("the interpreter is lost:\n%s", got)
	}
	for _, text := range []string{text, "#!/usr/bin/python3\nprint(1)\n", "echo a\n", "#!/bin/sh"} {
		j.Script = text
		if back, ok := launch.ScriptOf(j.Simulated()); !ok || strings.TrimSuffix(back, "\n") != strings.TrimSuffix(text, "\n") {
			t.Errorf("%q came back as %q, %v", text, back, ok)
		}
	}
}
