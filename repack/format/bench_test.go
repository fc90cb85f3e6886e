package format_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"vjob/repack/format"
)

// large is an instance like those of the bench, with side constraints.
func large(nodes, vms int) string {
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString(small[:strings.Index(small, `"nodes"`)] + "\"nodes\":[\n")
	for i := range nodes {
		fmt.Fprintf(&b, "{\"id\":%d,\"cpu\":220,\"mem\":800,\"state\":\"online\",\"next\":\"online\",\"rack\":%d}%s\n", i, i/50, comma(i, nodes))
	}
	b.WriteString("],\n\"vms\":[\n")
	for i := range vms {
		fmt.Fprintf(&b, "{\"id\":%d,\"app\":%d,\"tier\":%d,\"cpu\":%d,\"cpu_next\":40,\"mem\":75,\"migrate\":8,\"state\":\"running\",\"host\":%d,\"next\":\"running\"}%s\n",
			i, i/20, i%3, 10+rng.IntN(11), rng.IntN(nodes), comma(i, vms))
	}
	b.WriteString("],\n\"constraints\":[\n")
	for i := range vms / 5 {
		fmt.Fprintf(&b, "{\"type\":\"spread\",\"vms\":[%d,%d,%d,%d,%d],\"continuous\":true},\n", i*5, i*5+1, i*5+2, i*5+3, i*5+4)
	}
	for i := range nodes / 200 {
		fmt.Fprintf(&b, "{\"type\":\"ban\",\"vms\":\"all\",\"nodes\":[%d],\"continuous\":false},\n", i)
	}
	b.WriteString("{\"type\":\"spread\",\"vms\":[0,1],\"continuous\":false}\n]\n}\n")
	return b.String()
}

func comma(i, n int) string {
	if i == n-1 {
		return ""
	}
	return ","
}

// BenchmarkReadInstance reads 20,000 nodes and 100,000 VMs; live-MB is what stays
// in memory, file-MB the file.
func BenchmarkReadInstance(b *testing.B) {
	text := large(20_000, 100_000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	var p *format.Problem
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for b.Loop() {
		var err error
		if p, err = read(text); err != nil {
			b.Fatal(err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "live-MB")
	b.ReportMetric(float64(len(text))/(1<<20), "file-MB")
	runtime.KeepAlive(p)
}

func BenchmarkWriteInstance(b *testing.B) {
	p, err := read(large(20_000, 100_000))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		var out bytes.Buffer
		if err := format.WriteInstance(&out, p); err != nil {
			b.Fatal(err)
		}
	}
}
