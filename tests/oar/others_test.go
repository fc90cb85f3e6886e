package oar_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"vjob/cluster"
	"vjob/oar"
	"vjob/oar/admission"
	"vjob/oar/property"
	"vjob/oar/request"
	"vjob/oar/script"
)

func parse(t *testing.T, values ...string) *request.Request {
	t.Helper()
	r, err := request.Parse(values, request.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The cases of OAR 3 for its admission rules.
func TestAdmission(t *testing.T) {
	filter := func(text string) []property.Filter {
		f, err := property.Parse("-p", text)
		if err != nil {
			t.Fatal(err)
		}
		return []property.Filter{f}
	}
	refused := func(j admission.Job) string {
		_, _, err := rules(t).Admit(j)
		if code, _ := oar.ExitOf(err); code != oar.ExitAdmission {
			return fmt.Sprintf("is taken, or refused with exit %d", code)
		}
		return ""
	}
	admitted := func(j admission.Job) *admission.Job {
		j, _, err := rules(t).Admit(j)
		if err != nil {
			t.Error(err)
		}
		return &j
	}
	node := parse(t, "nodes=1")
	for id, holds := range map[string]string{
		"ad01": "queue " + admitted(admission.Job{Request: node}).Queue,
		"ad02": refused(admission.Job{User: "oar", Request: node}),
		"ad04": refused(admission.Job{User: "yop", Queue: "admin", Request: node}),
		"ad05": refused(admission.Job{Request: parse(t, "/nodes=2/cpu=10+{lic_type = 'mathlab'}/state=2, walltime = 60")}),
		"ad07": refused(admission.Job{Queue: "besteffort", Reservation: true, Request: node}),
		"ad08": admitted(admission.Job{Types: []string{"deploy"}, Properties: filter("yop=yop"), Request: node}).Property(),
		"ad10": refused(admission.Job{Reservation: true, WaitingReservations: 2, Request: node}),
		"ad11": admitted(admission.Job{Request: parse(t, "/nodes=2/cpu=10")}).Request.Alternatives[0].Walltime.String(),
		"ad13": refused(admission.Job{Types: []string{"idempotent", "cosystem=bug"}, Request: node}),
	} {
		want := map[string]string{"ad01": "queue default", "ad08": "(yop=yop) AND deploy = 'YES'", "ad11": "2h0m0s"}[id]
		if !strings.Contains(holds, want) || want == "" && holds != "" {
			t.Errorf("%s: %s, want %s", id, holds, want)
		}
	}
}

// The script of OAR 3's test. Both of two properties count, as in OAR 3.
func TestScript(t *testing.T) {
	c := load(t).Script
	o, warnings, err := script.Scan("script", strings.Join(c.Lines, "\n"))
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	names := map[string]string{
		"properties": "property", "dependencies": "anterior", "use_job_key": "use-job-key", "import_job_key_inline": "import-job-key-inline-priv",
		"import_job_key_file": "import-job-key-from-file", "export_job_key_file": "export-job-key-to-file", "array_param_file": "array-param-file",
	}
	for key, raw := range c.Expect {
		if key == "stagein" { // OAR reads --stagein-md5sum f as --stagein "-md5sum f"
			raw = json.RawMessage(`"stage_filein"`)
		}
		name := key
		if n, ok := names[key]; ok {
			name = n
		}
		var want []string
		var list []any
		if json.Unmarshal(raw, &list) != nil {
			var one any
			if err := json.Unmarshal(raw, &one); err != nil {
				t.Fatal(err)
			}
			list = []any{one}
		}
		for _, x := range list {
			if x == true {
				x = ""
			}
			want = append(want, fmt.Sprint(x))
		}
		if got := o.Values(name); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
	if len(o) != len(c.Lines)-1 {
		t.Errorf("%d options in %d lines", len(o), len(c.Lines))
	}
}

// How many resources a request takes, on 3 hosts of 2 cpus of 2 cores. The first case selects cores of
// cpu 1 and cpu 2 of a node, which a VM cannot.
func TestEstimates(t *testing.T) {
	w := request.Inventory{}
	for i := range 3 {
		w.Nodes = append(w.Nodes, cluster.Node{ID: cluster.NodeID(fmt.Sprintf("localhost-%d", i)), Capacity: cluster.Resources{CPU: 4 * cluster.CPU, Memory: cluster.GiB}})
	}
	site := request.DefaultConfig()
	site.CoresPerCPU = 2
	for i, c := range load(t).Estimates {
		list, err := request.Place(request.Spec{Request: parse(t, c.Request)}, w, site)
		if i == 0 {
			if code, _ := oar.ExitOf(err); code != oar.ExitResources {
				t.Errorf("%s: %v", c.Request, err)
			}
			continue
		}
		if err != nil || list[0].CPU() != cluster.CPU*cluster.MilliCPU(c.Expect.Resources) {
			t.Errorf("%s: %v %v, want %d", c.Request, list, err, c.Expect.Resources)
		}
	}
}

// The parameter files of c43 and c44, reconstructed from the jobs.
func TestParameterFiles(t *testing.T) {
	for _, c := range load(t).Submissions {
		if c.ID != "c43" {
			continue
		}
		list, err := script.ParseParameters("params.txt", "# parameters\np100\n\n\"\"\n\"arg1a arg1b arg1c\" \"arg2a arg2b\"\n")
		if err != nil || len(list) != len(c.Jobs) {
			t.Fatal(list, err)
		}
		for i, j := range c.Jobs {
			if got := "./prog " + list[i].Text; got != j.Command {
				t.Errorf("%s, want %s", got, j.Command)
			}
		}
	}
	if _, err := script.ParseParameters("empty.txt", "\n"); err == nil || !strings.HasPrefix(err.Error(), "# Error: an array job must have a positive number of sub-jobs.\n") {
		t.Error(err)
	}
}

// The script of c73 is refused in OAR's words.
func TestBadScript(t *testing.T) {
	_, _, err := script.Scan("./bad.sh", "#!/bin/sh\n#OAR --bogus 12\n#OAR -I\n")
	for _, c := range load(t).Submissions {
		if c.ID != "c73" {
			continue
		}
		for line := range strings.Lines(c.Stderr) {
			want, _, _ := strings.Cut(strings.TrimSpace(line), " at common-libs")
			if !strings.Contains(err.Error(), want) {
				t.Errorf("no %q in\n%v", want, err)
			}
		}
		if code, _ := oar.ExitOf(err); float64(code) != c.Exit {
			t.Errorf("exit %d", code)
		}
		return
	}
	t.Error("there is no case c73")
}
