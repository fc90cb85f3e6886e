package script_test

import (
	"strings"
	"testing"

	"vjob/repack/rule"
	"vjob/repack/script"
)

func TestScripts(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"figure 2a", `
			$T1 = VM[1..5];
			$T2 = VM[6..15];
			$T3 = {VM17, VM21, VM22};
			for $t in $T[1..3] {
				spread($t);
			}
			lonely($T1 + $T2 + $T3);`, `
			spread vms={VM1 VM2 VM3 VM4 VM5}
			spread vms={VM6 VM7 …6… VM14 VM15}
			spread vms={VM17 VM21 VM22}
			lonely vms={VM1 VM2 …14… VM21 VM22}`},
		{"figure 2b", `
			$R1=N[1..50];
			$R2=N[51..100];
			$R3=N[101..150];
			for $r in $R[1..3] {
				capacity($r, 100);
			}
			ban($ALL_VMS, N101);`, `
			capacity nodes={N1 N2 …46… N49 N50} max=100
			capacity nodes={N51 N52 …46… N99 N100} max=100
			capacity nodes={N101 N102 …46… N149 N150} max=100
			ban vms={VM1 VM2 …34… both α} nodes={N101}`},
		{"lists in ranges", `spread(VM[1..3,7,9..10]);`, `spread vms={VM1 VM2 VM3 VM7 VM9 VM10}`},
		{"zeros in front", `spread(web-[01..03]);`, `spread vms={web-01 web-02 web-03}`},
		{
			"two ranges and an end", `capacity(r[1..2]n[1..2].example, 1);`,
			`capacity nodes={r1n1.example r1n2.example r2n1.example r2n2.example} max=1`,
		},
		{"names as they are", `spread({12.0, 12.1, "my VM", web-01, α, 'VM1'});`, `spread vms={12.0 12.1 my VM web-01 α VM1}`},
		{"ranges of VMs of a vjob", `spread(12.[0..1]);`, `spread vms={12.0 12.1}`},
		{"quotes beside a range", `spread("web-"[01..02] + 'VM'[1]);`, `spread vms={web-01 web-02 VM1}`},
		{"a name alone is a set of one", `spread(VM3);`, `spread vms={VM3}`},
		{"a number that is a name", `ban(VM1, 7); ban(VM1, [7]);`, "ban vms={VM1} nodes={7}\nban vms={VM1} nodes={7}"},
		{"operators", `
			$a = VM[1..4]; $b = VM[3..6];
			spread($a + $b);
			spread($a - $b);
			spread($a & $b);
			spread($a * $b);
			spread($a - $b & $a - VM1);
			spread($a - ($b - VM3));`, `
			spread vms={VM1 VM2 VM3 VM4 VM5 VM6}
			spread vms={VM1 VM2}
			spread vms={VM3 VM4}
			spread vms={VM3 VM4}
			spread vms={VM2}
			spread vms={VM1 VM2 VM3}`},
		{
			"a difference without spaces", `$a = VM[1..4]; $b = VM[3..4]; spread($a-$b); spread(VM[1..3]-VM2);`,
			"spread vms={VM1 VM2}\nspread vms={VM1 VM3}",
		},
		{
			"partition", `for $r in N[1..5] / 2 { capacity($r, 1); }`,
			"capacity nodes={N1 N2} max=1\ncapacity nodes={N3 N4} max=1\ncapacity nodes={N5} max=1",
		},
		{"lists of sets", `
			$A1 = VM[1..2]; $A3 = {VM4};
			apart({$A1, {VM3}, VM[4..5] + VM6});
			apart({VM[1..2] + VM9, $A3});
			apart(VM[1..4] / 2 + {{VM9}} - {{VM2, VM1}});
			among($A1, $ALL_NODES & N[1..4] / 2);`, `
			apart sets={{VM1 VM2} {VM3} {VM4 VM5 VM6}}
			apart sets={{VM1 VM2 VM9} {VM4}}
			apart sets={{VM3 VM4} {VM9}}
			among vms={VM1 VM2} sets={{N1 N2} {N3 N4}}`},
		{"a family is a list or a set", `
			$A1 = VM[1..2]; $A2 = {VM3};
			$B1 = VM4; $B2 = VM5;
			apart($A[1..2]);
			spread($B[1,2]);
			spread($A[2] + $B[1]);`, `
			apart sets={{VM1 VM2} {VM3}}
			spread vms={VM4 VM5}
			spread vms={VM3 VM4}`},
		{"nested loops", `
			for $i in [1..2] {
				for $j in {3, 4} {
					$pair = {VM[$i], VM[$j]};
					spread($pair);
				}
			}`, `
			spread vms={VM1 VM3}
			spread vms={VM1 VM4}
			spread vms={VM2 VM3}
			spread vms={VM2 VM4}`},
		{"loops over members", `for $v in VM[1..3] - VM2 { root($v); spread({$v, VM9}); }`, `
			continuous root vm=VM1
			spread vms={VM1 VM9}
			continuous root vm=VM3
			spread vms={VM3 VM9}`},
		{"loops over words", `for $d in {cpu, mem} { for $x in {1.5, 200%} { overbook(N1, $d, $x); } }`, `
			overbook nodes={N1} resource=cpu ratio=1.5
			overbook nodes={N1} resource=cpu ratio=2
			overbook nodes={N1} resource=mem ratio=1.5
			overbook nodes={N1} resource=mem ratio=2`},
		{
			"families by the variable of the loop", `
			$R1 = N1; $R2 = N2; $max1 = 10; $max2 = 20;
			for $i in [1..2] { capacity($R[$i], $max[$i]); }`,
			"capacity nodes={N1} max=10\ncapacity nodes={N2} max=20",
		},
		{"loops that gather", `$s = VM1; for $v in VM[5..6] { $s = $s + $v; } spread($s);`, `spread vms={VM1 VM5 VM6}`},
		{"named arguments", `capacity(max=3, nodes=N1); capacity(N2, resource=mem, max=4); capacity(N3, 5, cpu);`, `
			capacity nodes={N1} max=3
			capacity nodes={N2} max=4 resource=mem
			capacity nodes={N3} max=5 resource=cpu`},
		{"modifiers", `
			continuous spread(VM1);
			discrete spread(VM1);
			soft(5) spread(VM1);
			$p = 7;
			soft($p) continuous spread(VM1);
			root(VM1);
			continuous root(VM1);`, `
			continuous spread vms={VM1}
			spread vms={VM1}
			soft(5) spread vms={VM1}
			continuous soft(7) spread vms={VM1}
			continuous root vm=VM1
			continuous root vm=VM1`},
		{
			"times", `within(VM1, 90s); within(VM1, 5m); within(VM1, 1h30m); within(VM1, 0s);`,
			"within vms={VM1} time=90\nwithin vms={VM1} time=300\nwithin vms={VM1} time=5400\nwithin vms={VM1} time=0",
		},
		{"a name that is both", `spread(both); ban(VM1, both); ban(vms(both), nodes(both)); $x = vms(both); spread($x);`, `
			spread vms={both}
			ban vms={VM1} nodes={both}
			ban vms={both} nodes={both}
			spread vms={both}`},
		{"comments", "# one\n// two\nspread(VM1); # three\n", `spread vms={VM1}`},
		{"nothing", "", ""},
		{"words that elsewhere have a meaning", `$for = VM1; spread($for); $in = $for; spread($in);`, "spread vms={VM1}\nspread vms={VM1}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := understood(t, c.text)
			want := strings.TrimSpace(strings.ReplaceAll(c.want, "\t", ""))
			if got := strings.TrimSpace(said(p, exampleNames())); got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
			if len(p.Warnings) > 0 {
				t.Errorf("warned: %v", p.Warnings)
			}
			f, _ := script.Parse("test", c.text)
			again, err := script.CompileWith("again", script.Format(f), exampleNames(), kinds)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimSpace(said(again, exampleNames())); got != want {
				t.Errorf("formatted, it says:\n%s", got)
			}
		})
	}
}

func TestMembersOfAVjob(t *testing.T) {
	names := script.OfVjob([]int{40, 41, 42, 43}, []string{"cpu"}, 1)
	p, err := script.CompileWith("vjob", `spread($VMS); gather(VM[0..1]); lonely($ALL_VMS);`, names, kinds)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]int{{40, 41, 42, 43}, {40, 41}, {40, 41, 42, 43}} {
		if got := p.Postings[i].Values["vms"].([]int); len(got) != len(want) || got[0] != want[0] || got[len(got)-1] != want[len(want)-1] {
			t.Errorf("call %d has %v, want %v", i, got, want)
		}
	}
}

// The language can say each argument of each rule that there is.
func TestCatalogueCanBeSaid(t *testing.T) {
	text := map[rule.Type]string{
		rule.VMs: "VM[1..3]", rule.Nodes: "N[1..3]", rule.VMSets: "VM[1..4] / 2", rule.NodeSets: "N[1..4] / 2", rule.VM: "VM1",
		rule.Number: "2", rule.Amount: "2", rule.Ratio: "1.5", rule.Resource: "cpu", rule.Time: "90s",
	}
	for _, k := range rule.Catalogue() {
		var args []string
		for _, p := range k.Params {
			if text[p.Type] == "" {
				t.Fatalf("%s of %s: no script has such an argument", p.Name, k.Name)
			}
			args = append(args, p.Name+"="+text[p.Type])
		}
		call := k.Name + "(" + strings.Join(args, ", ") + ");"
		if problems := script.Check("test", call, exampleNames()); len(problems) > 0 {
			t.Errorf("%s\n%v", call, problems)
		}
	}
}
