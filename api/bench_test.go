package api_test

import (
	"fmt"
	"strings"
	"testing"

	"vjob/api"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/internal/strictjson"
	"vjob/scheduler/admission"
)

func unlimited(c *api.Config) {
	c.Limits.PerSecond, c.Limits.Burst, c.Limits.Concurrent = 1e9, 1e9, 1e6
}

const anonymous = `{"count":9,"template":{"cpu_milli":1000,"memory_mib":512,"command":["sleep","60"]},"walltime_seconds":3600}`

// BenchmarkList is one page with all vjobs.
func BenchmarkList(b *testing.B) {
	for _, n := range []int{100, 5000} {
		b.Run(fmt.Sprintf("vjobs=%d", n), func(b *testing.B) {
			s := newFixture(b, unlimited)
			for range n {
				_, _, err := s.scheduler.DB.Submit(b.Context(), admission.Submission{Owner: "alice", At: epoch, VMs: make([]cluster.VM, 1)})
				s.must(err)
			}
			for b.Loop() {
				if res := s.as("alice", "GET", fmt.Sprintf("/v1/vjobs?limit=%d", n), ""); res.Code != 200 {
					b.Fatal(res.Body)
				}
			}
		})
	}
}

// BenchmarkDecode is the strict decoder alone, over a vjob of a thousand VMs.
func BenchmarkDecode(b *testing.B) {
	text := []byte(`{"vms":[` + strings.Repeat(`{"cpu_milli":1000,"memory_mib":512},`, 999) + `{"cpu_milli":1,"memory_mib":1}]}`)
	for b.Loop() {
		var w wire.Submission
		if err := api.Decode(text, &w, strictjson.Bounds{}); err != nil {
			b.Fatal(err)
		}
	}
}
