package execute_test

import (
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor"
)

// An image lies where it was saved; while that node is off or silent it is read through
// another one of the same store, and if there is none it stays where it is.
func TestImagesAreReadThroughOthers(t *testing.T) {
	for _, c := range []struct {
		name string
		dead cluster.NodeID // that answers no more
		door cluster.NodeID // through which the store says that the image can be read
		want cluster.NodeID
	}{
		{"its node answers", "", "b", "a"},
		{"another one of the store", "a", "b", "b"},
		{"a store of its own", "a", "a", "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := world(job(1, 1, cluster.Suspended))
			rec := at(1, gang.Saved, "")
			image := hypervisor.ImageID{VM: cluster.VMID{VJob: 1}, Generation: 1}
			rec.Members[0].Image = &gang.Image{ID: image, Node: "a"}
			l.Gangs = append(l.Gangs, rec)
			d := sit(t, settings(), l)
			d.store.Images = []hypervisor.Image{{ID: image, Node: "a", Complete: true}}
			d.settle()
			d.dead[c.dead] = true
			d.store.Images[0].Node = c.door
			d.pass(2 * time.Minute)
			if r, _ := d.exec.Job(1); r.Record.Members[0].Image.Node != c.want {
				t.Errorf("the image is read through %s, want %s", r.Record.Members[0].Image.Node, c.want)
			}
		})
	}
}
