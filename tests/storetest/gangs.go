package storetest

import (
	"reflect"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

func testGang(t *testing.T, w *World) {
	job := w.submit(t, Submission("g", 2))
	g := fullGang(job.ID)
	w.commit(t, journal.Step{Gangs: []gang.Record{g}})
	own := *g.Clone()
	g.Members[0].Node = "changed by its owner after the commit"
	w.reopen()
	same(t, "every field", w.load(t).Gangs, []gang.Record{own})
	same(t, "kept", w.Kept(job.ID).Gang, own)

	// The mark of a resume: the images are gone from the record.
	own.Phase, own.Then = gang.Resuming, gang.ThenNothing
	own.Members = []gang.Member{{Node: "n1"}, {Node: "n2", Ended: true}}
	w.commit(t, journal.Step{Gangs: []gang.Record{own}})
	w.reopen()
	same(t, "without images", w.load(t).Gangs, []gang.Record{own})
}

// An ended vjob is loaded and stored as long as it still has images.
func testLeft(t *testing.T, w *World) {
	job := w.ended(t, "failed", Start)
	g := emptyGang(job.ID, 2)
	g.Kept = []gang.Kept{{Generation: 2, Incarnation: 1, Since: Start, Cause: "node down", Ended: []int{1}}}
	w.commit(t, journal.Step{Gangs: []gang.Record{g}})
	w.reopen()
	same(t, "left", w.load(t).Ended, []gang.Record{g})
	sum, _ := w.prune(t, everything(EndOfTime))
	same(t, "pruned", sum.VJobs, 0)
	g.Kept = nil
	w.commit(t, journal.Step{Gangs: []gang.Record{g}})
	same(t, "nothing left", len(w.load(t).Ended), 0)
	sum, _ = w.prune(t, everything(EndOfTime))
	same(t, "pruned then", sum.VJobs, 1)
}

func testBadGang(t *testing.T, w *World) {
	job := w.submit(t, Submission("g", 2))
	short, foreign := emptyGang(job.ID, 1), emptyGang(job.ID, 2)
	foreign.Members[0].Image = &gang.Image{ID: hypervisor.ImageID{VM: cluster.VMID{VJob: job.ID, Rank: 1}, Generation: 1, Attempt: 1}}
	for name, g := range map[string]gang.Record{"too few members": short, "another vjob's image": foreign} {
		isError(t, name, w.Commit(t.Context(), journal.Step{Gangs: []gang.Record{g}}), cluster.ErrInvalid)
	}
	same(t, "gang", w.Kept(job.ID).Gang, emptyGang(job.ID, 2))
}

// fullGang sets every field by reflection, so that the test finds a new field that a store
// forgets.
func fullGang(id cluster.VJobID) gang.Record {
	g := gang.Record{Members: make([]gang.Member, 2), Kept: make([]gang.Kept, 2)}
	n := int64(1)
	fill(reflect.ValueOf(&g).Elem(), &n)
	g.VJob = id
	for rank := range g.Members {
		g.Members[rank].Image.ID.VM = cluster.VMID{VJob: id, Rank: rank}
	}
	return g
}

func fill(v reflect.Value, n *int64) {
	*n++
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(Start.Add(time.Duration(*n))))
			return
		}
		for _, field := range v.Fields() {
			fill(field, n)
		}
	case reflect.Slice:
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.String:
		v.SetString("text " + string(rune('a'+*n%26)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(*n)
	case reflect.Uint8:
		v.SetUint(2) // an enumeration: its third value
	case reflect.Uint16:
		v.SetUint(uint64(cluster.Exited(int(*n % 256))))
	default:
		panic("storetest: how is a " + v.Type().String() + " filled?")
	}
}
