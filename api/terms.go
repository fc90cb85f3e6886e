package api

import (
	"fmt"
	"time"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/notify"
)

// Bounds of terms.
const (
	maxShapes = 16
	maxNotify = 8
)

// terms checks what can be checked without the loop and the store, which know the queues,
// projects and vjobs.
func terms(w *wire.Terms, vms int) (t cluster.Terms, err error) {
	t = w.UTC()
	if id, err := cluster.ParseVJobID(string(w.Inner)); err == nil { // a name is resolved by [vjobFinder.enter]
		t.Inner = id
	}
	t.Shapes, err = shapes(w.Shapes, vms)
	return t, cluster.AllFaults(t.Check(), checkNotify(t.Notify), err)
}

// shapes reads the alternatives of a moldable vjob.
func shapes(list []wire.Shape, vms int) (shapes []cluster.Shape, err error) {
	if len(list) > maxShapes {
		return nil, cluster.BadField("shapes", len(list), fmt.Sprintf("at most %d alternatives", maxShapes))
	}
	var faults cluster.Faults
	for i := range list {
		shape, err := shapeOf(&list[i], vms)
		faults.Add(cluster.WithPath(fmt.Sprintf("shapes[%d]", i), err))
		shapes = append(shapes, shape)
	}
	return shapes, faults.Err()
}

func shapeOf(w *wire.Shape, vms int) (cluster.Shape, error) {
	s := wire.Submission{Count: w.Count, Template: w.Template, VMs: w.VMs, WalltimeSeconds: w.WalltimeSeconds, Rules: w.Rules}
	sub, err := Submission(&s, vms)
	return cluster.Shape{VMs: sub.VMs, Walltime: sub.Walltime, Rules: sub.Rules}, cluster.AllFaults(
		check(w.WalltimeSeconds > 0, "walltime_seconds", w.WalltimeSeconds, "1 or more: the alternative that ends first is taken"), err)
}

func checkNotify(list []string) error {
	if len(list) > maxNotify {
		return cluster.BadField("notify", len(list), fmt.Sprintf("at most %d addresses", maxNotify))
	}
	var faults cluster.Faults
	for i, text := range list {
		_, err := notify.ParseAddress(text)
		faults.Add(cluster.Renamed(fmt.Sprintf("notify[%d]", i), err))
	}
	return faults.Err()
}

// wireTerms shows terms; the first shape of a moldable vjob is the vjob itself.
func wireTerms(t *cluster.Terms) wire.Terms {
	w := wire.Terms{Terms: *t}
	if t.Inner != 0 {
		w.Inner = wire.VJobName(t.Inner.String())
	}
	for i := range t.Shapes {
		w.Shapes = append(w.Shapes, wireShape(&t.Shapes[i]))
	}
	return w
}

func wireShape(s *cluster.Shape) wire.Shape {
	return wire.Shape{WalltimeSeconds: int64(s.Walltime / time.Second), Rules: s.Rules, VMs: vmSpecsOf(s.VMs)}
}
