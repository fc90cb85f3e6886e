package hypervisor_test

import (
	"errors"
	"testing"

	"vjob/cluster"
	"vjob/hypervisor"
)

// Verbs are read as they are written. Journals before weights have "cap" for what sets a cap.
func TestVerbsAreText(t *testing.T) {
	for v := hypervisor.Boot; v <= hypervisor.Tune; v++ {
		text, err := v.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var read hypervisor.Verb
		if err := read.UnmarshalText(text); err != nil || read != v {
			t.Errorf("%s is read as %s, %v", text, read, err)
		}
	}
	var read hypervisor.Verb
	if err := read.UnmarshalText([]byte("cap")); err != nil || read != hypervisor.Tune {
		t.Errorf("cap is read as %s, %v", read, err)
	}
	if err := read.UnmarshalText([]byte("fly")); !errors.Is(err, cluster.ErrInvalid) {
		t.Errorf("fly: %v", err)
	}
}
