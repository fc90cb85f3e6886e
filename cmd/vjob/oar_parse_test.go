package main

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"vjob/api/wire"
	"vjob/cmd/vjob/cli"
	"vjob/tests/golden"
)

// oarCases are the requests that OAR's own parser was asked to read.
func oarCases(t *testing.T) (list []struct {
	ID    string   `json:"id"`
	L     []string `json:"l"`
	Nodes string   `json:"oarsub_nodes_resources"`
	OAR2  struct {
		OK           bool     `json:"ok"`
		Exit         int      `json:"exit"`
		Stderr       []string `json:"stderr"`
		Alternatives any      `json:"alternatives"`
	} `json:"oar2"`
},
) {
	t.Helper()
	f, err := os.Open("../../tests/oar/testdata/cases.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Requests json.RawMessage `json:"resource_requests"`
	}
	if err := json.NewDecoder(z).Decode(&all); err != nil {
		t.Fatal(err)
	}
	unmarshal(t, string(all.Requests), &list)
	return list
}

// unmarshal keeps numbers as they are written.
func unmarshal(t *testing.T, text string, into any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
}

func TestOARParseReadsWhatOARReads(t *testing.T) {
	for _, c := range oarCases(t) {
		t.Run(c.ID, func(t *testing.T) {
			args := []string{"oar", "parse", "-o", "json"}
			for _, l := range c.L {
				args = append(args, "-l", l)
			}
			s := &shell{t: t, env: map[string]string{"OARSUB_NODES_RESOURCES": c.Nodes}}
			r := s.run(args...)
			if !c.OAR2.OK {
				if r.code != c.OAR2.Exit || r.out != "" || !strings.HasPrefix(r.err, strings.Join(c.OAR2.Stderr, "\n")+"\n") || !strings.Contains(r.err, "^") {
					t.Errorf("exit %d, want %d: %s", r.code, c.OAR2.Exit, r.err)
				}
				return
			}
			if r.code != cli.ExitOK {
				t.Fatalf("exit %d: %s", r.code, r.err)
			}
			var got map[string]any
			unmarshal(t, r.out, &got)
			if want := map[string]any{"alternatives": c.OAR2.Alternatives}; !reflect.DeepEqual(got, want) {
				t.Errorf("%q: got\n%v\nwant\n%v", c.L, got, want)
			}
		})
	}
}

func TestOARParseExplains(t *testing.T) {
	s := &shell{t: t}
	var b strings.Builder
	for _, args := range [][]string{
		{},
		{"-l", "nodes=4/core=2,walltime=1:30"},
		{"-l", "nodes=1"},
		{"-l", "{cluster='azur'}/switch=2/nodes=3/core=2+core=1,walltime=0", "-l", "nodes=ALL", "-p", "mem > 3"},
		{"-l", "cluster=1/switch=BEST/nodes=BESTHALF/cpu=2"},
		{"-l", "cluster=2/core=8"},
		{"-l", "rack=1"},
		{"-l", "cpu=ALL", "-p", " "},
		{"-l", "core=99999999999999999999"},
		{"-l", "nodes=200/core=1", "-l", "switch=300/nodes=300/core=1"},
		{"-l", "nodes=2/,walltime=1:2:3:4"},
		{"-l", "nodes=two"},
		{"-l", "nodes=1/gpu=2"},
		{"-l", "nodes=1", "-p", "cluster = 'azur' AND"},
		{"-l", "nodes=1", "--default-resources", "x"},
		{"-l", "nodes=1\x1b[2J"},
	} {
		r := s.run(append([]string{"oar", "parse"}, args...)...)
		fmt.Fprintf(&b, "$ vjob oar parse %q\n%s%s", args, r.out, r.err)
		if r.code != cli.ExitOK {
			fmt.Fprintf(&b, "exit %d\n", r.code)
		}
		b.WriteString("\n")
	}
	golden.Same(t, "testdata/oar_parse.golden", b.String())
}

func TestOARParseChecks(t *testing.T) {
	list := wire.NodeList{}
	for i := range 4 {
		list.Nodes = append(list.Nodes, wire.Node{
			Name: fmt.Sprintf("n%d", i+1), State: "online", CPUMilli: 4000, MemoryMiB: 8192, Labels: map[string]string{"switch": fmt.Sprintf("sw%d", i/2+1)},
		})
	}
	list.Nodes[0].VMs = []string{"1.0"}
	s, _ := against(t, map[string]any{"/v1/nodes": list})
	var b strings.Builder
	for _, args := range [][]string{
		{"-l", "switch=1/nodes=2/core=2+nodes=BEST"},
		{"-l", "nodes=5"},
		{"-l", "nodes=2/core=1", "--mem", "6GiB"},
		{"-l", "nodes=2/core=1", "--mem", "9GiB"},
		{"-l", "nodes=2/core=1", "--mem", "much"},
		{"-l", "nodes=1", "-p", "cluster = 'azur'"},
	} {
		r := s.run(append([]string{"oar", "parse", "--check"}, args...)...)
		fmt.Fprintf(&b, "$ vjob oar parse --check %q\n%s%sexit %d\n\n", args, r.out, r.err, r.code)
	}
	golden.Same(t, "testdata/oar_parse_check.golden", b.String())
	if r := s.run("oar", "parse", "--check", "-o", "json", "-l", "nodes=5"); r.code != 8 || r.out != "" {
		t.Errorf("exit %d: %s", r.code, r.out)
	}
}

// Whatever is asked, the answer is short.
func TestOARParseRefusesMuch(t *testing.T) {
	s := &shell{t: t}
	for _, text := range []string{
		strings.Repeat("x", 1<<20), strings.Repeat("{", 1<<20), strings.Repeat("'", 1<<16), "{" + strings.Repeat("(", 1<<15) + "}/nodes=1",
		strings.Repeat("nodes=1+", 8000), "nodes=1," + strings.Repeat("walltime=1,", 5000), "\x00", "\xff", strings.Repeat("\n", 1000),
	} {
		for _, args := range [][]string{{"-l", text}, {"-l", text, "-o", "json"}} {
			r := s.run(append([]string{"oar", "parse"}, args...)...)
			if r.code != 18 || r.out != "" || len(r.err) > 2000 || !strings.Contains(r.err, "^") {
				t.Errorf("%.20q: exit %d: %.300s", text, r.code, r.err)
			}
		}
		if r := s.run("oar", "parse", "-p", text); r.code != 8 && strings.TrimSpace(text) != "" || len(r.err) > 2000 {
			t.Errorf("-p %.20q: exit %d: %.300s", text, r.code, r.err)
		}
	}
}

func TestOARParseNeedsNoServer(t *testing.T) {
	s := &shell{t: t, env: map[string]string{"VJOB_SERVER": "http://127.0.0.1:1", "OARSUB_DEFAULT_RESOURCES": "/nodes=2"}}
	if out := s.ok("oar", "parse"); !strings.Contains(out, "on 2 nodes") {
		t.Error(out)
	}
	if r := s.run("oar", "parse", "--check"); r.code != cli.ExitInternal {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}
