package forecast_test

import (
	"testing"
	"time"

	"vjob/queue/forecast"
)

// A vjob that needs the capacity of another starts a gap after its end. A dependency on the end
// adds no gap. Ends exclude the gap, and nothing is used in it.
func TestGap(t *testing.T) {
	reserved := job(5, 8, 60)
	reserved.Reserved, reserved.Reason = noon.Add(2*time.Hour), "waits for its reservation"
	scene := &forecast.Scene{
		Now: noon, Total: cpus(8), Gap: 5 * time.Minute, Until: noon.Add(4 * time.Hour),
		Jobs: []forecast.Job{
			runs(job(1, 6, 30)), job(2, 6, 60), job(3, 8, 15), after(job(4, 2, 10), forecast.Dependency{On: 1}), reserved,
			job(6, 8, 6), job(7, 8, 44), job(8, 8, 45),
		},
	}
	before := scene.Jobs[1]
	schedule := forecast.Compute(scene)
	for i, want := range []string{
		"12:00 12:30 runs",
		"12:35 13:35 waits: it is 2; 1 ends at 12:30: 5m0s later there is room",
		"13:40 13:55 waits: it is 3; 2 ends at 13:35: 5m0s later there is room", // to the minute before the reservation
		"12:30 12:40 waits: it is 4; that is foretold for 12:30",                // it waits for no capacity
		"14:00 15:00 waits for its reservation",
		"15:05 15:11 waits: it is 6; 5 ends at 15:00: 5m0s later there is room",
		"15:16 16:00 waits: it is 7; 6 ends at 15:11: 5m0s later there is room", // its own gap may lie behind the end of all
		"- - waits: it is 8; it cannot come to its end before 16:00",
	} {
		b := schedule.Estimates[i]
		if got := clock(b.Start) + " " + clock(b.End) + " " + b.Why(); got != want {
			t.Errorf("%d:\n got %s\nwant %s", scene.Jobs[i].ID, got, want)
		}
	}
	for i, u := range schedule.Use {
		if clock(u.At) == "12:30" && u.Used != cpus(2) {
			t.Errorf("use %d: %+v is used in the gap", i, u)
		}
	}
	if scene.Jobs[1].Left != before.Left {
		t.Errorf("the scene was changed: %+v", scene.Jobs[1])
	}
}
