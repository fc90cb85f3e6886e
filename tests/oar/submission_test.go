package oar_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/api/oarapi"
	"vjob/cluster"
	"vjob/oar"
	"vjob/oar/admission"
	"vjob/oar/request"
	"vjob/oar/script"
)

// platform is the platform of the submissions: 16 nodes of 4 cores in two clusters.
func platform() (w request.Inventory) {
	for i := range 16 {
		of := "azur"
		if i >= 8 {
			of = "gdx"
		}
		w.Nodes = append(w.Nodes, cluster.Node{
			ID: cluster.NodeID(fmt.Sprintf("node-%d", i+1)), Capacity: cluster.Resources{CPU: 4 * cluster.CPU, Memory: 32 * cluster.GiB},
			Labels: map[string]string{
				"cluster": of, "mem": fmt.Sprint(32 + 32*(i%2)),
				"besteffort": "YES", "deploy": "YES", "desktop_computing": "NO", "drain": "NO",
			},
		})
	}
	return w
}

// rules are OAR's rules, including those about properties of nodes, which vjob supports but does not
// need.
func rules(t *testing.T) *admission.Policy {
	t.Helper()
	var list []admission.Rule
	for _, r := range admission.Default() {
		if r.Name == "default walltime" {
			list = append(list, admission.Rule{When: admission.When{NotTypes: []string{"desktop_computing"}}, Set: admission.Set{Property: "desktop_computing = 'NO'"}})
		}
		list = append(list, r)
		switch r.Name {
		case "the queue makes jobs best-effort":
			list = append(list, admission.Rule{
				When: admission.When{Types: []string{"besteffort"}}, Set: admission.Set{Property: "besteffort = 'YES'"},
				Say: "Automatically add the besteffort constraint on the resources",
			})
		case "deploy takes whole nodes":
			list = append(list, admission.Rule{When: admission.When{Types: []string{"deploy"}}, Set: admission.Set{Property: "deploy = 'YES'"}})
		}
	}
	list = append(list, admission.Rule{Set: admission.Set{Property: "drain='NO'"}, Say: "Modify resource description with type constraints"})
	p, err := admission.Compile(list)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// options parses a command line of a case, without the command.
func options(t *testing.T, args []string) (o script.Options) {
	t.Helper()
	names := map[string]string{"-l": "resource", "-q": "queue", "-p": "property", "-t": "type", "-r": "reservation", "-n": "name", "-a": "anterior", "-O": "stdout"}
	for i := 0; i < len(args); i++ {
		name, short := names[args[i]]
		switch {
		case short || slices.Contains([]string{"--project", "--array", "--notify", "--checkpoint", "--signal"}, args[i]):
			if !short {
				name = strings.TrimPrefix(args[i], "--")
			}
			i++
			o = append(o, script.Option{Name: name, Value: args[i]})
		case strings.HasPrefix(args[i], "-"):
			o = append(o, script.Option{Name: strings.TrimLeft(args[i], "-")})
		}
	}
	return o
}

// submit translates a submission as the daemon does before it stores anything.
func submit(t *testing.T, user string, o script.Options, now time.Time) (oarapi.Translation, error) {
	t.Helper()
	site := admission.Site{
		Request: request.DefaultConfig(), Policy: rules(t), Queues: []string{"admin"},
		Image: "simulated", Images: map[string]string{"simulated": "simulated"},
	}
	return oarapi.Translate(submissionOf(o), oarapi.Caller{Name: user}, &site, platform(), now)
}

// Submissions are accepted or refused as by OAR, with its exit code and the same messages of rules. The
// job has the same size, walltime, queue, types and properties.
func TestSubmissions(t *testing.T) {
	judged := 0
	for _, c := range load(t).Submissions {
		if _, waits := elsewhere[c.ID]; waits {
			continue
		}
		judged++
		t.Run(c.ID, func(t *testing.T) {
			o := options(t, c.Args[1:])
			if extra, ok := scripts[c.ID]; ok {
				found, _, err := script.Scan("job.sh", extra)
				if err != nil {
					t.Fatal(err)
				}
				o, _ = script.Merge(o, found)
			}
			s, err := submit(t, c.User, o, time.Date(2026, 11, 20, 17, 0, 0, 0, time.UTC))
			said := strings.Join(s.Output, "\n")
			var want []string
			for line := range strings.SplitSeq(c.Stdout, "\n") {
				if strings.HasPrefix(line, "[ADMISSION RULE]") {
					want = append(want, line)
				}
			}
			if _, early := oar.ExitOf(err); err != nil && early && len(s.Output) == 0 {
				want = nil // OAR reports bad properties after its rules, vjob before
			}
			if said != strings.Join(want, "\n") {
				t.Errorf("said:\n%s\nwant\n%s", said, strings.Join(want, "\n"))
			}
			code, _ := oar.ExitOf(err)
			if exit, ok := c.Exit.(float64); ok && int(exit) != int(code) {
				t.Fatalf("exit %d, want %v: %v", code, c.Exit, err)
			}
			if err != nil {
				if line, _, _ := strings.Cut(err.Error(), "\n"); code != oar.ExitResources && !strings.HasPrefix(c.Stderr, line+"\n") {
					t.Errorf("%s\nwant %s", line, c.Stderr)
				}
				return
			}
			compareJob(t, &s, &c)
		})
	}
	if judged < 40 {
		t.Errorf("only %d submissions were judged", judged)
	}
}

// compareJob compares the job with the one that OAR stored.
func compareJob(t *testing.T, s *oarapi.Translation, c *submissionCase) {
	t.Helper()
	for _, j := range c.Jobs {
		r := &s.Record
		var cpu int64
		for _, vm := range s.VJob.VMs {
			cpu += vm.CPUMilli
		}
		got := fmt.Sprintf("R=%d,W=%s,", (cpu+999)/1000, oar.FormatWalltime(time.Duration(s.VJob.WalltimeSeconds)*time.Second))
		if !strings.HasPrefix(j.Message, got) {
			t.Errorf("%s, want %s", got, j.Message)
		}
		_, types, _ := strings.Cut(j.Message, ",T=")
		if got := strings.Join(r.Types, "|"); got != types {
			t.Errorf("types %s, want %s", got, types)
		}
		if r.Queue != j.Queue || r.Properties != j.Properties {
			t.Errorf("%s, %s, want %s, %s", r.Queue, r.Properties, j.Queue, j.Properties)
		}
	}
}

// scripts are the scripts of the cases, reconstructed from what OAR stored.
var scripts = map[string]string{
	"c74": "echo\n#OAR -n ignored\n",
	"c76": "#!/bin/sh\n#OAR -p cluster = 'gdx'\n#OAR -t besteffort\n#OAR -n demo\n#OAR --project pr1\n#OAR --checkpoint 60\n#OAR --signal 10\n#OAR --notify mail:a@b.c\n#OAR --hold\n#OAR -O out.%jobid%\n",
	"c77": "#OAR -n first\n#OAR -n second\n",
}

// Reservations have the walltime that OAR computed.
func TestReservations(t *testing.T) {
	for _, c := range load(t).Reservations {
		t.Run(c.ID, func(t *testing.T) {
			jobs := c.Jobs
			for _, step := range c.Steps {
				if step.Exit == 8 || step.Exit == 254 {
					continue // other nodes and jobs
				}
				s, err := submit(t, "u1", options(t, step.Args), time.Date(2026, 11, 20, 17, 17, 0, 0, time.UTC))
				code, _ := oar.ExitOf(err)
				if step.Exit == int(oar.ExitRefused) && strings.Contains(step.Stdout, "too old") {
					if code != oar.ExitRefused || !strings.Contains(step.Stdout, strings.Split(err.Error(), "\n")[0]) {
						t.Errorf("%v, want %s", err, step.Stdout)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if got := s.VJob.WalltimeSeconds; len(jobs) == 0 || got != jobs[0].Walltime {
					t.Errorf("%q: walltime %d, want %+v", step.Args, got, jobs)
				}
				jobs = jobs[1:]
			}
		})
	}
}
