package cluster_test

import (
	"encoding"
	"errors"
	"fmt"
	"strings"
	"testing"

	"vjob/cluster"
)

// edgesOf reads the line of a state in lifeOfVJobs.
func edgesOf(t *testing.T, from cluster.State) []cluster.State {
	t.Helper()
	for line := range strings.SplitSeq(lifeOfVJobs, "\n") {
		name, rest, _ := strings.Cut(line, ">")
		if strings.TrimSpace(name) != from.String() {
			continue
		}
		var list []cluster.State
		for word := range strings.FieldsSeq(rest) {
			s, err := cluster.ParseState(word)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, s)
		}
		return list
	}
	t.Fatalf("no line for %s", from)
	return nil
}

// Every name can be read back, and whatever is no name is refused with the list
// of what would be right.
func TestNames(t *testing.T) {
	trip := func(v fmt.Stringer, fresh encoding.TextUnmarshaler) {
		t.Helper()
		if err := fresh.UnmarshalText([]byte(v.String())); err != nil || fmt.Sprint(fresh) != v.String() {
			t.Errorf("%s is read back as %s: %v", v, fresh, err)
		}
		err := fresh.UnmarshalText([]byte("?" + v.String()))
		if !errors.Is(err, cluster.ErrInvalid) {
			t.Errorf("%T: a wrong name is not refused: %v", v, err)
		}
	}
	for s := cluster.Waiting; s <= cluster.Failed; s++ {
		trip(s, new(cluster.State))
	}
	for s := cluster.VMWaiting; s <= cluster.VMTerminated; s++ {
		trip(s, new(cluster.VMState))
	}
	for s := cluster.Online; s <= cluster.Down; s++ {
		trip(s, new(cluster.NodeState))
	}
	for k := cluster.Boot; k <= cluster.Migrate; k++ {
		trip(k, new(cluster.ActionKind))
	}
	trip(cluster.VMID{VJob: 12, Rank: 3}, new(cluster.VMID))
}

func TestParseIDs(t *testing.T) {
	for _, text := range []string{"", "0", "-1", "x", "1.5", "99999999999999999999"} {
		if id, err := cluster.ParseVJobID(text); !errors.Is(err, cluster.ErrInvalid) {
			t.Errorf("vjob %q: got %s, %v", text, id, err)
		}
	}
	for _, text := range []string{"", "1", "1.", ".1", "-1.0", "1.-1", "1.2.3", "a.b"} {
		if id, err := cluster.ParseVMID(text); !errors.Is(err, cluster.ErrInvalid) {
			t.Errorf("VM %q: got %s, %v", text, id, err)
		}
	}
	if id, err := cluster.ParseVJobID("12"); id != 12 || err != nil {
		t.Errorf("got %s, %v", id, err)
	}
}

func TestBadFieldIsShort(t *testing.T) {
	err := cluster.BadField("name", strings.Repeat("ü", 500), "a name")
	if !errors.Is(err, cluster.ErrInvalid) || len([]rune(err.Error())) > 200 {
		t.Errorf("got %v", err)
	}
	var field *cluster.FieldError
	if !errors.As(err, &field) || field.Field != "name" || field.Want != "a name" {
		t.Errorf("got %+v", field)
	}
}
