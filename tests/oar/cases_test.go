// Package oar_test checks vjob against the cases of testdata/cases.json.gz, which were recorded from
// OAR's own programs. Each case has a number. TestWaiting lists the cases that cannot be judged, and
// why.
package oar_test

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"testing"
)

// cases is the part of the file that the tests use.
type cases struct {
	Requests     []requestCase    `json:"resource_requests"`
	Submissions  []submissionCase `json:"cli_submissions_oar2"`
	Reservations []struct {
		ID    string `json:"id"`
		Steps []step `json:"steps"`
		Jobs  []struct {
			Walltime int64 `json:"walltime"`
		} `json:"jobs"`
	} `json:"reservations_oar2_measured"`
	Commands  []numbered      `json:"cli_oar3_tests"`
	API       []numbered      `json:"api_oar3_tests"`
	Machine   []numbered      `json:"state_machine_oar3_tests"`
	Scheduled []scheduleCase  `json:"scheduling_oar2_measured"`
	Tests     []numbered      `json:"scheduling_oar3_tests"`
	Energy    []numbered      `json:"energy_daemon_oar3_tests"`
	Admission []numbered      `json:"admission_oar3_tests"`
	Script    scriptCase      `json:"scan_script_oar3"`
	Estimates []estimateCase  `json:"estimate_resources_oar3"`
	Upstream  []numbered      `json:"oar2_upstream_tests"`
	Log       json.RawMessage `json:"state_log_oar2_measured"`
}

type numbered struct {
	ID string `json:"id"`
}

type step struct {
	Args   []string `json:"args"`
	Exit   int      `json:"rc"`
	Stdout string   `json:"stdout"`
	Stderr string   `json:"stderr"`
}

type requestCase struct {
	ID    string   `json:"id"`
	L     []string `json:"l"`
	Nodes string   `json:"oarsub_nodes_resources"`
	OAR2  struct {
		OK           bool          `json:"ok"`
		Exit         int           `json:"exit"`
		Stderr       []string      `json:"stderr"`
		Alternatives []alternative `json:"alternatives"`
	} `json:"oar2"`
}

type alternative struct {
	Groups []struct {
		Property  string               `json:"property"`
		Resources [][2]json.RawMessage `json:"resources"`
	} `json:"groups"`
	Walltime *int64 `json:"walltime_s"`
}

type submissionCase struct {
	ID     string   `json:"id"`
	User   string   `json:"user"`
	Args   []string `json:"args"`
	Exit   any      `json:"exit"`
	Stdout string   `json:"stdout"`
	Stderr string   `json:"stderr"`
	Jobs   []struct {
		Queue      string `json:"queue"`
		Properties string `json:"properties"`
		Message    string `json:"message"`
		Command    string `json:"command"`
	} `json:"jobs_created"`
}

type scriptCase struct {
	Lines  []string                   `json:"script_lines"`
	Expect map[string]json.RawMessage `json:"expect"`
}

type estimateCase struct {
	Request string `json:"request"`
	Expect  struct {
		Resources int `json:"resources"`
	} `json:"expect"`
}

// load reads the file.
func load(t *testing.T) *cases {
	t.Helper()
	f, err := os.Open("testdata/cases.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var c cases
	if err := json.NewDecoder(z).Decode(&c); err != nil {
		t.Fatal(err)
	}
	return &c
}
