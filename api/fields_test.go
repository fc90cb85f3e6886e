package api_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"vjob/api/wire"
)

// A list has the fields that were asked for, each as it is in the whole list, and no others.
func TestFields(t *testing.T) {
	b := newFixture(t)
	for _, body := range []string{
		`{"name":"first","comment":"<a>&b","walltime_seconds":3600,"deadline":"%s","labels":{"z":"1","a":"<2>"},` + one + `}`,
		`{"name":"sweep","parameters":["1","2"],` + one + `}`,
		small,
	} {
		read[wire.VJob](t, b.as("alice", "POST", "/v1/vjobs", strings.Replace(body, "%s", epoch.Add(time.Minute).Format(time.RFC3339), 1)), http.StatusCreated)
	}
	type list struct {
		VJobs []map[string]any
		Total int
		Next  string
	}
	for _, query := range []string{"live=true", "fold=true&limit=2"} {
		whole := read[list](t, b.as("alice", "GET", "/v1/vjobs?"+query, ""), 200)
		for _, name := range []string{"comment", "labels", "late"} {
			if _, has := whole.VJobs[0][name]; !has {
				t.Fatalf("%s: the first vjob has no %s: %v", query, name, whole.VJobs[0])
			}
		}
		for f := range reflect.TypeFor[wire.VJob]().Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			want := list{Total: whole.Total, Next: whole.Next}
			for _, job := range whole.VJobs {
				part := map[string]any{"id": job["id"]}
				if value, has := job[name]; has {
					part[name] = value
				}
				want.VJobs = append(want.VJobs, part)
			}
			if got := read[list](t, b.as("alice", "GET", "/v1/vjobs?fields="+name+",id,id&"+query, ""), 200); !reflect.DeepEqual(got, want) {
				t.Errorf("%s of %s: %v, want %v", name, query, got, want)
			}
		}
	}
	for _, text := range []string{"", "id,", "colour", "ID", "id,state,id state"} {
		res := b.as("alice", "GET", "/v1/vjobs?fields="+url.QueryEscape(text), "")
		var failure struct{ Error wire.ErrorBody }
		if err := json.Unmarshal(res.Body.Bytes(), &failure); err != nil || res.Code != http.StatusBadRequest || !strings.Contains(failure.Error.Message, "fields") {
			t.Errorf("%q: %d %s", text, res.Code, res.Body)
		}
	}
}
