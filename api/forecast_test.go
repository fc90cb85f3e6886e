package api_test

import (
	"testing"

	"vjob/api/wire"
)

// Users see when their own vjobs start, and what all use; the numbers of others' vjobs they do not.
func TestForecast(t *testing.T) {
	b := newFixture(t)
	b.populate()
	why := map[string]string{"alice": "waits: needs 1 CPU more; another vjob ends at 09:00: then there is room", "root": "waits: needs 1 CPU more; 2 ends at 09:00: then there is room"}
	for caller, want := range map[string]int{"alice": 1, "root": 2} {
		s := read[wire.Schedule](t, b.as(caller, "GET", "/v1/forecast", ""), 200)
		if len(s.VJobs) != want || s.VJobs[0].ID != 1 || s.VJobs[0].Why != why[caller] || s.VJobs[0].Start == nil || s.VJobs[0].End != nil {
			t.Errorf("%s sees %+v", caller, s.VJobs)
		}
		if len(s.Use) != 2 || s.Use[0].CPUMilli != 4000 || s.Use[1].CPUMilli != 1000 || s.CPUMilli != 4000 || s.Nodes != 1 {
			t.Errorf("%s sees in use %+v", caller, s)
		}
	}
}
