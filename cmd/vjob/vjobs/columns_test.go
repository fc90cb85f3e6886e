package vjobs

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/api/wire"
	"vjob/cmd/vjob/display"
)

// The cells of a vjob are the same when only the fields are asked for that a column names.
func TestColumnsNameTheirFields(t *testing.T) {
	at := time.Date(2026, 11, 28, 3, 0, 0, 0, time.UTC)
	whole := wire.VJob{
		ID: 4, Name: "sweep[2]", Owner: "ada", State: "waiting", Held: true, Reason: "waiting: it was ended", QueuePlace: 5, Labels: map[string]string{"a": "1"},
		Since: &at, EstimatedStart: &at, Submitted: at, Started: &at, Ended: &at, Priority: 6, Rank: &wire.Rank{Points: 7, Parts: []wire.RankPart{{Name: "age", Points: 7}}},
		VMCount: 8, CPUMilli: 9000, MemoryMiB: 1024, WalltimeSeconds: 11, RanSeconds: 12, PowerWatts: 13, Queue: "batch", Project: "p", Pool: "physics",
		Comment: "c", Outcome: "completed", ExitStatus: "3:0", Array: 3, Index: 2, Parameter: "x",
	}
	array := whole
	array.Members = &wire.Members{First: 1, Last: 2, States: map[string]int{"waiting": 2}}
	for _, entry := range []wire.VJob{whole, array} {
		data, err := json.Marshal(entry)
		if err != nil {
			t.Fatal(err)
		}
		var all map[string]json.RawMessage
		if err := json.Unmarshal(data, &all); err != nil {
			t.Fatal(err)
		}
		for i := range columns {
			f := &columns[i]
			wanted := strings.Split(folding+","+f.Of, ",")
			for _, name := range wanted {
				if _, known := all[name]; !known && name != "members" {
					t.Fatalf("column %s reads %q, which no vjob has", f.Name(), name)
				}
			}
			some := maps.Clone(all)
			maps.DeleteFunc(some, func(name string, _ json.RawMessage) bool { return !slices.Contains(wanted, name) })
			data, err := json.Marshal(some)
			if err != nil {
				t.Fatal(err)
			}
			var part wire.VJob
			if err := json.Unmarshal(data, &part); err != nil {
				t.Fatal(err)
			}
			want, got := entry, part
			fold(&want)
			fold(&got)
			if w, g := display.Text(f.Cell(&want)), display.Text(f.Cell(&got)); g != w {
				t.Errorf("column %s with only %s: %q, want %q", f.Name(), wanted, g, w)
			}
			if f.If != nil && f.If(&want) != f.If(&got) {
				t.Errorf("column %s with only %s is there: %t", f.Name(), wanted, f.If(&got))
			}
		}
	}
}
