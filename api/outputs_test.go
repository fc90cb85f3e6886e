package api_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"vjob/api"
	"vjob/api/wire"
	"vjob/cluster"
)

// outputs is a site that keeps output files of some users.
type outputs struct{}

func (outputs) Check(_ context.Context, owner string) error {
	if owner != "alice" {
		return errors.New("they have no local user: use vjob logs")
	}
	return nil
}

func (outputs) Folder(owner string) string { return "/srv/" + owner }

func (outputs) Files(job *cluster.VJob) []wire.OutputFile {
	return []wire.OutputFile{{Path: "/srv/" + job.Owner + "/" + job.OutputName(job.Output, 0), Problem: "the file system is full"}}
}

const withOutput = `{"name": "n", "count": 1, "template": {"cpu_milli": 1000, "memory_mib": 64}, "output": "run-%j.out"}`

// Output files are refused with the field, the reason and the way out, unless the site keeps those of the owner.
func TestOutputFiles(t *testing.T) {
	none := newFixture(t)
	if text := none.as("alice", http.MethodPost, "/v1/vjobs", withOutput).Body.String(); !strings.Contains(text, `"field":"output"`) || !strings.Contains(text, "have an administrator set output.directory") {
		t.Errorf("no directory: %s", text)
	}
	b := newFixture(t, func(c *api.Config) { c.Outputs = outputs{} })
	for body, want := range map[string]string{
		withOutput: `output: they have no local user: use vjob logs`,
		strings.ReplaceAll(withOutput, "output", "error"):  `error: they have no local user: use vjob logs`,
		strings.ReplaceAll(withOutput, "run-%j", "run-%q"): `output: run-%q.out has %q: want %j`,
	} {
		if res := b.as("bob", http.MethodPost, "/v1/vjobs", body); res.Code != http.StatusBadRequest && res.Code != http.StatusUnprocessableEntity || !strings.Contains(res.Body.String(), want) {
			t.Errorf("%d %s, want %s", res.Code, res.Body, want)
		}
	}
	job := read[wire.VJob](t, b.as("alice", http.MethodPost, "/v1/vjobs", withOutput), http.StatusCreated)
	want := []wire.OutputFile{{Path: (&cluster.VJob{ID: cluster.VJobID(job.ID), Terms: &cluster.Terms{}}).OutputName("/srv/alice/run-%j.out", 0), Problem: "the file system is full"}}
	if !slices.Equal(job.OutputFiles, want) {
		t.Errorf("%+v, want %+v", job.OutputFiles, want)
	}
}
