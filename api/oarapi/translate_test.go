package oarapi_test

import (
	"os/exec"
	"testing"
	"time"

	"vjob/api/oarapi"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/oar"
	"vjob/oar/admission"
	"vjob/oar/request"
)

// made translates a submission and returns its first VM.
func made(t *testing.T, s *oar.Submission) wire.VMSpec {
	t.Helper()
	policy, err := admission.Compile(admission.ForVMs())
	if err != nil {
		t.Fatal(err)
	}
	site := admission.Site{
		Request: request.DefaultConfig(), Policy: policy, Image: "debian", Images: map[string]string{"debian": "disk"},
	}
	world := request.Inventory{Nodes: []cluster.Node{{ID: "n1", Capacity: cluster.Resources{CPU: 4000, Memory: 8192}}}}
	r, err := oarapi.Translate(s, oarapi.Caller{Name: "ann"}, &site, world, time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	return r.VJob.VMs[0]
}

// A shell runs the scripts of VMs here: commands, scripts with arguments, and parameters of arrays.
func TestRuns(t *testing.T) {
	const echo = "#!/bin/sh\nprintf '<%s>' \"$@\"\n"
	for _, tt := range []struct {
		name, command, script, parameters, want string
	}{
		{"a command", `printf '<%s>' "a b" c`, "", "", "<a b><c>"},
		{"with a parameter", `printf '<%s>' "a b"`, "", `"low pressure" 100`, "<a b><low pressure><100>"},
		{"a script", "./job.sh", echo, "", "<>"},
		{"with arguments", `./job.sh "a b" '$HOME' c`, echo, "", "<a b><$HOME><c>"},
		{"with arguments and a parameter", `./job.sh "a b" '$HOME' \$x`, echo, `"low pressure" 100`, "<a b><$HOME><$x><low pressure><100>"},
		{"an array tells its place", `printf %s $OAR_ARRAY_ID.$OAR_JOB_INDEX`, "", "#", "7.3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &oar.Submission{Command: tt.command, Script: tt.script}
			if tt.parameters != "" {
				s.Array = 1
			}
			vm := made(t, s)
			c := exec.CommandContext(t.Context(), "/bin/sh", "-c", vm.Script)
			c.Env = []string{
				"PATH=/bin:/usr/bin", "HOME=/home/ann", "VJOB_DIR=" + t.TempDir(),
				"VJOB_ID=9", "VJOB_ARRAY_ID=7", "VJOB_ARRAY_INDEX=3", "VJOB_PARAMETER=" + tt.parameters,
			}
			out, err := c.CombinedOutput()
			if err != nil || string(out) != tt.want {
				t.Errorf("%s\nprinted %q, want %q: %v", vm.Script, out, tt.want, err)
			}
		})
	}
}
