package simulated_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/hypervisor/simulated"
)

// Other settings take effect while calls are under way: these end, guests go on, and virtual time does not jump.
func TestReconfigure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, settings())
		defer closing(t, d)
		booted := make(chan error, 1)
		go func() {
			_, err := d.Do(t.Context(), booting(vm(1, 0), "n1"))
			booted <- err
		}()
		time.Sleep(20 * time.Millisecond)
		other := settings()
		other.Speed = 600
		other.Nodes[1].ID = "n3"
		before := d.Now()
		if err := d.Reconfigure(other); err != nil {
			t.Fatal(err)
		}
		if now := d.Now(); !now.Equal(before) {
			t.Errorf("virtual time was %s and is %s", before, now)
		}
		if err := <-booted; err != nil {
			t.Fatal(err)
		}
		do(t, d, booting(vm(2, 0), "n3"))
		if _, err := d.Look(t.Context(), "n2"); err == nil {
			t.Error("n2 was removed and is seen")
		}
		from := d.Now()
		time.Sleep(time.Second)
		if passed := d.Now().Sub(from); passed != 10*time.Minute {
			t.Errorf("in a second %s of virtual time passed, want 10 min", passed)
		}
		if err := d.Reconfigure(settings()); !errors.Is(err, cluster.ErrConflict) { // without n3
			t.Errorf("the removal of a node with a VM: %v", err)
		}
		view, err := d.Look(t.Context(), "n3")
		if err != nil || len(view.Copies) != 1 || view.Copies[0].State != hypervisor.CopyRunning {
			t.Errorf("after that n3 holds %+v, %v", view.Copies, err)
		}
		var none simulated.Settings
		if err := d.Reconfigure(none); !errors.Is(err, cluster.ErrInvalid) {
			t.Errorf("settings without nodes: %v", err)
		}
	})
}
