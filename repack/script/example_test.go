package script_test

import (
	"fmt"
	"time"

	"vjob/repack"
	"vjob/repack/script"
)

// An instance with two tiers of VMs on four nodes.
func instance() *repack.Instance {
	in := &repack.Instance{Dims: []string{"cpu"}}
	for i := range 6 {
		in.VMs = append(in.VMs, repack.VM{Name: fmt.Sprintf("web%02d", i+1)})
	}
	for i := range 4 {
		in.Nodes = append(in.Nodes, repack.Node{Name: fmt.Sprintf("n%d", i+1)})
	}
	return in
}

func Example() {
	const text = `
		$T1 = web[01..03];
		$T2 = web[04..06];
		for $t in $T[1..2] {
			spread($t);
		}
		soft(10) continuous spread($T1 + $T2);
	`
	in := instance()
	program, err := script.Compile("tiers", text, script.OfInstance(in, time.Second))
	if err != nil {
		fmt.Println(err)
		return
	}
	rules, err := program.Rules(in)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range rules {
		fmt.Println(r.Penalty, r)
	}
	// Output:
	// 0 spread({VM web01, VM web02, VM web03})
	// 0 spread({VM web04, VM web05, VM web06})
	// 10 spread({VM web01, VM web02, VM web03, VM web04, VM web05, VM web06})
}

func ExampleCheck() {
	const text = "$a = web[01..03];\nspread(web[01..07]);\nspread({web01, n1});"
	for _, p := range script.Check("tiers", text, script.OfInstance(instance(), time.Second)) {
		fmt.Println(p)
	}
	// Output:
	// tiers:1:1: warning: $a is never used
	//     1 | $a = web[01..03];
	//       | ^^
	// tiers:2:8: there is no VM web07; did you mean web01?
	//     2 | spread(web[01..07]);
	//       |        ^^^^^^^^^^^
	// tiers:3:8: a set is of VMs or of nodes, and here web01 is a VM and n1 is a node
	//     3 | spread({web01, n1});
	//       |        ^^^^^^^^^^^
}

func ExampleFormat() {
	f, _ := script.Parse("tiers", "$a=web[01..03]+web05 ;for $v in $a{soft(3)continuous spread({$v,web06});}")
	fmt.Print(script.Format(f))
	// Output:
	// $a = web[01..03] + web05;
	// for $v in $a {
	//     continuous soft(3) spread({$v, web06});
	// }
}

// The members of a vjob have no names yet when it is submitted.
func ExampleOfVjob() {
	p, err := script.Compile("vjob 12", "spread($VMS - VM0);", script.OfVjob([]int{40, 41, 42}, nil, time.Millisecond))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Postings[0].Kind.Name, p.Postings[0].Values["vms"])
	// Output: spread [41 42]
}
