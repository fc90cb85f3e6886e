package api_test

import (
	"context"
	"testing"
	"time"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/ctxswitch/journal"
)

// After its last event was deleted, a reader continues with the oldest event that is left, by
// list and by stream.
func TestEventsAfterAPrune(t *testing.T) {
	b := newFixture(t)
	b.populate()
	b.writeEvents(
		journal.Event{Kind: journal.EventNode, Node: "n1", Text: "old"}, journal.Event{Kind: journal.EventNode, Node: "n1", Text: "old too"},
		journal.Event{Kind: journal.EventAlarm, VJob: 1, Text: "of a live vjob"},
	)
	all := read[wire.EventList](t, b.as("root", "GET", "/v1/events", ""), 200).Events
	for _, err := range b.scheduler.Prune(t.Context(), journal.Horizon{Events: epoch.Add(time.Hour)}) {
		b.must(err)
	}
	b.writeEvents(journal.Event{Kind: journal.EventAlarm, Text: "new"})
	left := read[wire.EventList](t, b.as("root", "GET", "/v1/events", ""), 200).Events
	last := len(left) - 1
	if len(left) != 6 || left[last].Text != "new" || left[last].Seq != all[len(all)-1].Seq+1 {
		t.Fatalf("left of %+v: %+v", all, left)
	}
	_, address := b.serve()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for _, after := range []int64{all[len(all)-3].Seq, all[len(all)-2].Seq} { // both are gone
		list, err := b.client(address, "root").Events(ctx, client.EventQuery{After: after})
		if err != nil || len(list.Events) != 2 || list.Events[0].Text != "of a live vjob" || list.Last != left[last].Seq {
			t.Errorf("after %d: %+v, %v", after, list, err)
		}
		var texts []string
		for e, err := range b.client(address, "root").Follow(ctx, client.EventQuery{After: after}) {
			if err != nil {
				t.Fatal(err)
			}
			if texts = append(texts, e.Text); len(texts) == 2 {
				break
			}
		}
		if texts[0] != "of a live vjob" || texts[1] != "new" {
			t.Errorf("streamed after %d: %q", after, texts)
		}
	}
}
