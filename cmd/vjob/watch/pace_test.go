package watch

import (
	"testing"
	"time"

	"vjob/cmd/vjob/watch/screen"
)

// TestPace: looks follow events soon, are rare while nothing happens, and never take more than a tenth of the time.
func TestPace(t *testing.T) {
	began := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	const every = 500 * time.Millisecond
	for name, tt := range map[string]struct {
		pace   pace
		kind   screen.Kind
		moving bool
		want   time.Duration
	}{
		"nothing happens":           {pace{took: 10 * time.Millisecond}, screen.VJobs, false, 5 * time.Second},
		"something has happened":    {pace{took: 10 * time.Millisecond, news: true}, screen.VJobs, false, every},
		"looks take long":           {pace{took: 300 * time.Millisecond, news: true}, screen.VJobs, false, 3 * time.Second},
		"they do, and nothing else": {pace{took: 300 * time.Millisecond}, screen.VJobs, false, 6 * time.Second},
		"bars move":                 {pace{took: 10 * time.Millisecond}, screen.OnePlan, true, every},
		"output":                    {pace{took: 10 * time.Millisecond}, screen.Output, false, time.Second},
		"events come by themselves": {pace{news: true}, screen.Events, false, 5 * time.Second},
		"no answer":                 {pace{failed: 1}, screen.VJobs, false, time.Second},
		"no answer for long":        {pace{failed: 1000}, screen.VJobs, false, 8 * time.Second},
	} {
		tt.pace.every, tt.pace.began = every, began
		if got := tt.pace.due(screen.Query{Kind: tt.kind}, tt.moving).Sub(began); got != tt.want {
			t.Errorf("%s: %s after the last look, want %s", name, got, tt.want)
		}
	}
}
