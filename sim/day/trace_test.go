package day_test

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"vjob/sim/day"
)

func percent(text string) (*day.Trace, error) {
	return day.ReadPercent("f", strings.NewReader(text), 1)
}

func TestReadPercent(t *testing.T) {
	tr, err := percent("# vm, then one CPU utilisation\n\na,1,50,100\r\nb,,2.5,\n")
	if err != nil {
		t.Fatal(err)
	}
	if tr.Steps != 3 || len(tr.VMs) != 2 || tr.VMs[0].Demand[2] != 1000 || tr.VMs[1].Demand[0] != -1 || tr.VMs[1].Demand[2] != 25 {
		t.Errorf("%+v", tr)
	}
	for i := range tr.VMs {
		if m := tr.VMs[i].Memory; m < 512 || m > 2048 || m%512 != 0 {
			t.Errorf("%s of memory", m)
		}
	}
}

// Errors have the file, the line, the fault and what would be right.
func TestFilesThatAreWrong(t *testing.T) {
	for text, want := range map[string]string{
		"":                           `f: no VM, want lines of NAME,VALUE,…`,
		"# only a comment\n":         `f: no VM`,
		"a\n":                        `f:1: 0 values, want one for each five minutes`,
		"a,1,2\nb,1\n":               `f:2: 1 values, want 2 as in line 1`,
		"# c\na,1\nb,2\na,3\n":       `f:4: VM "a" is in line 2 already`,
		"a,1,-2\n":                   `f:1: value 2: -2 is negative, want percent of one processor`,
		"a,101\n":                    `f:1: value 1: 101 is more than 100, want percent of one processor`,
		"a,x\n":                      `f:1: value 1: "x" is not a number`,
		"a,NaN\n":                    `f:1: value 1: "NaN" is not a number`,
		",1\n":                       `f:1: the name of the VM is missing`,
		"# CPU usage in MHz\na,88\n": `f: its values are MHz, so it requires --meta FILE`,
		"\x1f\x8b not gzip":          `f: it begins as a file compressed by gzip`,
	} {
		if _, err := percent(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q\ngot  %v\nwant %s", text, err, want)
		}
	}
}

func TestTruncatedGzip(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for i := range 1000 {
		if _, err := z.Write([]byte(strings.Repeat("x", 1+i%7) + ",1,2,3\n")); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := day.ReadPercent("d.csv.gz", bytes.NewReader(b.Bytes()[:b.Len()-9]), 1)
	if err == nil || err.Error() != "d.csv.gz: the file ends in the middle of its compressed data: copy it again" && !strings.Contains(err.Error(), "VM") {
		t.Errorf("got %v", err)
	}
	_, err = day.ReadPercent("d.csv.gz", bytes.NewReader(b.Bytes()[:30]), 1)
	if err == nil || !strings.Contains(err.Error(), "copy it again") {
		t.Errorf("got %v", err)
	}
}

func mhz(cpu, meta, memory string) (*day.Trace, error) {
	used := &day.Input{Name: "mem", Reader: strings.NewReader(memory)}
	if memory == "" {
		used = nil
	}
	return day.ReadMHz(day.Input{Name: "cpu", Reader: strings.NewReader(cpu)}, day.Input{Name: "meta", Reader: strings.NewReader(meta)}, used)
}

// MHz count by the size of the VM: half of the MHz of two processors is one.
func TestReadMHz(t *testing.T) {
	const meta = "vm,cores,cpu_provisioned_mhz,mem_provisioned_mb,samples\n1,2,5200,4096,9\n2,1,2600,512,9\n"
	tr, err := mhz("# MHz\n1,2600,6000\n2,,130\n", meta, "1,100,5000\n2,,20\n")
	if err != nil {
		t.Fatal(err)
	}
	a, b := &tr.VMs[0], &tr.VMs[1]
	if a.CPU != 2000 || a.Memory != 4096 || a.Demand[0] != 1000 || a.Demand[1] != 2000 || a.Used[1] != 4096 || tr.Clipped != 2 {
		t.Errorf("%+v, %d clipped", a, tr.Clipped)
	}
	if b.Demand[0] != -1 || b.Demand[1] != 50 || b.Used[0] != 0 || b.Used[1] != 20 {
		t.Errorf("%+v", b)
	}
	for _, c := range []struct{ cpu, meta, memory, want string }{
		{"1,1\n3,1\n", meta, "", `cpu:2: VM "3" is missing in meta`},
		{"1,1\n", meta, "2,1\n", `cpu:1: VM "1" is missing in mem`},
		{"1,1\n", meta, "1,1,2\n", `mem:1: 2 values, want 1 as in the file of the CPU`},
		{"1,1\n", "1,2,5200\n", "", `meta:1: 3 columns, want VM,PROCESSORS,MHZ,MEMORY_MB`},
		{"1,1\n", "1,0,5200,4096\n", "", `meta:1: "0,5200,4096" is not a size`},
		{"1,1\n", "1,2,0,4096\n", "", `is not a size`},
		{"1,-1\n", meta, "", `cpu:1: value 1: -1 is negative, want MHz`},
	} {
		if _, err := mhz(c.cpu, c.meta, c.memory); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}
