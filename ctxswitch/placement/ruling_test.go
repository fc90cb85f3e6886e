package placement_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"vjob/cluster"
	"vjob/ctxswitch/placement"
	"vjob/repack"
)

func nodes() []cluster.Node {
	return []cluster.Node{
		{ID: "n1", Labels: map[string]string{"rack": "A"}},
		{ID: "n2", Labels: map[string]string{"rack": "A"}},
		{ID: "n3", Labels: map[string]string{"rack": "B"}},
	}
}

func vm(job cluster.VJobID, rank int) cluster.VMID { return cluster.VMID{VJob: job, Rank: rank} }

// said is what rules come to on an instance with VMs 7.0, 7.1, 7.3 and 8.0.
func said(r placement.Rules) (string, error) {
	vms := []cluster.VMID{vm(7, 0), vm(7, 1), vm(7, 3), vm(8, 0)}
	in := &repack.Instance{Dims: placement.Dims}
	for _, n := range nodes() {
		in.Nodes = append(in.Nodes, repack.Node{Name: string(n.ID)})
	}
	for _, id := range vms {
		in.VMs = append(in.VMs, repack.VM{Name: id.String()})
	}
	program, err := r.Compile(placement.NewIndex(nodes(), vms))
	if err != nil {
		return "", err
	}
	posted, err := program.Rules(in)
	text := ""
	for _, p := range posted {
		if p.Penalty > 0 {
			text += fmt.Sprintf("soft(%d) ", p.Penalty)
		}
		text += p.String() + ";"
	}
	return strings.NewReplacer("VM ", "", "node ", "").Replace(text), err
}

func TestCompile(t *testing.T) {
	for _, c := range []struct {
		job        cluster.VJobID
		text, want string
	}{
		{7, "spread($VMS);", "spread({7.0, 7.1, 7.3});"},
		{7, "# nothing", ""},
		{9, "spread($VMS); split({$VMS - VM0, {VM0}});", ""},
		{0, "lonely($ALL_VMS - $ALL_VMS); split($ALL_VMS / 2);", "split({{7.0, 7.1}, {7.3, 8.0}});"},
		{7, "spread({VM1, VM2, VM3}); gather({VM2, VM4});", "spread({7.1, 7.3});"}, // 7.2 has ended
		{7, "soft(5) gather($ALL_VMS); fence($VMS, {n1, n3});", "soft(5) gather({7.0, 7.1, 7.3});fence({7.0, 7.1, 7.3}, {n1, n3});"},
		{7, "among($VMS, $ALL_NODES / rack);", "among({7.0, 7.1, 7.3}, {{n1, n2}, {n3}});"},
		{7, "- {rule: ban, vms: $VMS - VM0, nodes: nodes(rack=B)}", "ban({7.1, 7.3}, {n3});"},
		{7, `[{"rule": "spread", "vms": "VM[0..1]", "continuous": true}]`, "spread({7.0, 7.1});"},
		{0, "for $r in $ALL_NODES / rack { capacity($r, 2); }", "capacity({n1, n2}, 2);capacity({n3}, 2);"},
		{0, "ban($ALL_VMS, n3); spread({7.0, 8.0, 9.4});", "ban({7.0, 7.1, 7.3, 8.0}, {n3});spread({7.0, 8.0});"},
		{0, "resourceCapacity($ALL_NODES, cpu, 1.5); preserve(8.0, memory, 2GiB);", "resourceCapacity({n1, n2, n3}, mCPU, 1500);preserve({8.0}, MiB, 2048);"},
		{0, "overbook(n1, cpu, 150%);", "overbook({n1}, mCPU, 1.5);"},
	} {
		got, err := said(placement.Rules{VJob: c.job, Text: c.text})
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", c.text, got, err, c.want)
		}
	}
}

// What one vjob states is read once for all that state the same, and is about its own
// VMs all the same.
func TestCompileOfEqualTexts(t *testing.T) {
	vms := []cluster.VMID{vm(7, 0), vm(7, 1), vm(8, 0), vm(8, 1), vm(8, 2)}
	in := &repack.Instance{Dims: placement.Dims, VMs: make([]repack.VM, len(vms))}
	index := placement.NewIndex(nodes(), vms)
	got := ""
	for _, job := range []cluster.VJobID{7, 8, 7} {
		program, err := placement.Rules{VJob: job, Text: "spread($VMS);"}.Compile(index)
		if err != nil {
			t.Fatal(err)
		}
		posted, err := program.Rules(in)
		if err != nil {
			t.Fatal(err)
		}
		got += posted[0].String()
	}
	if want := "spread({0, 1})spread({2, 3, 4})spread({0, 1})"; strings.ReplaceAll(got, "VM ", "") != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for range 2 {
		if _, err := (placement.Rules{VJob: 7, Text: "spread("}).Compile(index); err == nil {
			t.Error("a text that cannot be read is compiled")
		}
	}
}

func TestCheck(t *testing.T) {
	exists := func(id cluster.VMID) bool { return id.VJob < 9 }
	for text, want := range map[string]string{
		"capacity(n[1..3], 100);":             "",
		"spread({7.0, 8.1});":                 "",
		"spread({7.0, 9.1});":                 "rules:1:14: there is no VM 9.1",
		"ban($ALL_VMS, n4);":                  "rules:1:15: there is no node n4",
		"spread($VMS);":                       "$VMS is known only in the script of a vjob",
		"spread(VM0);":                        "there is no VM VM0",
		"offline(n1);":                        "offline is not for a running cluster: the state of a node is set by vjob nodes drain",
		"running(7.0);":                       "which vjobs run is decided by the queue",
		"capacity(n1 100)":                    "rules:1:13:",
		"resourceCapacity(n1, memory, 5);":    "want memory with its unit",
		"resourceCapacity(n1, cpu, 5GiB);":    "want processors such as",
		"resourceCapacity(n1, disk, 5);":      "there is no resource disk",
		"- {rule: capacity, nodes: n1}":       "capacity needs max",
		"- {rule: capacity, nodes: n1, max: ": "rules:1:",
	} {
		judge(t, text, want, placement.Check(text, nodes(), exists))
	}
}

func TestCheckOwn(t *testing.T) {
	for text, want := range map[string]string{
		"spread($VMS); ban(VM0, n1);":                             "",
		"spread({VM0, VM3});":                                     "there is no VM VM3",
		"spread({VM0, VM01});":                                    "there is no VM VM01",
		"spread({7.0});":                                          "there is no VM 7.0",
		"capacity(n1, 3);":                                        "capacity is about nodes, which all vjobs share: only an administrator can state it",
		"quarantine($ALL_NODES);":                                 "only an administrator",
		"preserve($VMS, cpu, 4);":                                 "what the VMs of a vjob get is what it was submitted with",
		"soft(3601) gather($VMS);":                                "at most 3600",
		"killed($VMS);":                                           "vjob delete",
		"ban(VM0, n9); fence(VM0, n8);":                           "rules:1:10: there is no node n9",
		"for $i in [1..201] { spread($VMS); }":                    "a vjob states at most 200 rules",
		"for $i in [1..900] { for $j in [1..900] { $x = VM0; } }": "too much work",
		"- {rule: spread, vms: [VM0, 5]}":                         "there is no VM 5",
	} {
		judge(t, text, want, placement.CheckOwn(text, nodes(), 3))
	}
}

func judge(t *testing.T, text, want string, err error) {
	t.Helper()
	if want == "" {
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		return
	}
	var field *cluster.FieldError
	if !errors.As(err, &field) || field.Field != "rules" || !errors.Is(err, cluster.ErrInvalid) || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: %v; want %q", text, err, want)
	}
}

func TestScript(t *testing.T) {
	for text, want := range map[string]string{
		"- {rule: spread, vms: $VMS, penalty: 2}": "soft(2) spread(vms=$VMS);\n",
		"spread( $VMS );":                         "spread($VMS);\n",
		"spread(":                                 "spread(",
	} {
		if got := placement.Script(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
