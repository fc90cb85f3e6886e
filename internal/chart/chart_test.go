package chart_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vjob/internal/chart"
	"vjob/tests/golden"
)

const minute = time.Minute

// sample has every state, a name full of XML and spans of a second.
func sample() *chart.Figure {
	run := func(name string, end time.Duration) chart.Run {
		r := chart.Run{Title: name, Note: "total " + end.String(), End: end}
		for i := range 8 {
			at := time.Duration(i) * 9 * minute
			r.Rows = append(r.Rows, chart.Row{Label: fmt.Sprintf("J%d <&>", i+1), Spans: []chart.Span{
				{State: "waiting", From: 0, To: at},
				{State: "booting", From: at, To: at + 6*time.Second},
				{State: "running", From: at + 6*time.Second, To: at + 15*minute},
				{State: "suspending", From: at + 15*minute, To: at + 17*minute},
				{State: "suspended", From: at + 17*minute, To: at + 25*minute},
				{State: "resuming", From: at + 25*minute, To: at + 27*minute},
				{State: "running", From: at + 27*minute, To: at + 40*minute},
				{State: "migrating", From: at + 40*minute, To: at + 41*minute},
				{State: "running", From: at + 41*minute, To: at + 60*minute},
				{State: "stopping", From: at + 60*minute, To: at + 60*minute + 25*time.Second},
			}})
		}
		r.Rows = append(r.Rows, chart.Row{Label: "switches", Spans: []chart.Span{
			{State: chart.Switch, From: 15 * minute, To: 17 * minute, Text: "context switch 3: cost 4068 MiB"},
		}})
		var cpu, memory []chart.Point
		for i := range int(end / minute) {
			cpu = append(cpu, chart.Point{At: time.Duration(i) * minute, Value: float64(i * 7 % 23)})
			memory = append(memory, chart.Point{At: time.Duration(i) * minute, Value: float64(i*3%37) * 0.9})
		}
		r.Series = []chart.Series{
			{Name: "CPU needed", Unit: "processors", Capacity: 22, Points: cpu},
			{Name: "Memory used", Unit: "GiB", Capacity: 39.6, Points: memory},
		}
		return r
	}
	return &chart.Figure{
		Title: "8 vjobs of 9 VMs on 11 nodes", Subtitle: "thesis profile; walltimes as submitted",
		Runs: []chart.Run{run("fcfs", 250*minute), run("firstfit", 150*minute)},
	}
}

func TestGolden(t *testing.T) {
	single := sample()
	single.Runs = single.Runs[1:]
	compared := sample()
	for i := range compared.Runs {
		compared.Runs[i].Rows = nil
	}
	groups := []chart.BarGroup{{Label: "ann <&>", Values: []float64{12.5, 0}}, {Label: "bob", Values: []float64{-1, 3}}}
	compared.Bars = []chart.Bars{{Title: "Mean wait", Unit: "min", Groups: groups}, {Title: "Slowdown", Groups: groups[:1]}, {Title: "Others", Groups: groups[1:]}}
	for name, f := range map[string]*chart.Figure{"two": sample(), "one": single, "empty": {Title: "nothing"}, "compared": compared} {
		var got, again bytes.Buffer
		if err := errors.Join(chart.Write(&got, f), chart.Write(&again, f)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), again.Bytes()) {
			t.Errorf("%s: two drawings differ", name)
		}
		wellFormed(t, name, got.Bytes())
		golden.Same(t, filepath.Join("testdata", name+".svg"), got.String())
	}
}

func wellFormed(t *testing.T, name string, data []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(data))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

// Whatever the names hold, the document stays XML and nothing becomes markup.
func TestHostileNames(t *testing.T) {
	f := &chart.Figure{Title: "\x1b[31m<script>", Runs: []chart.Run{{
		Title: "\x00", End: time.Hour,
		Rows: []chart.Row{{Label: `"><script>alert(1)</script>` + "\xff", Spans: []chart.Span{{State: `x" onload="`, To: minute, Text: "</title>"}}}},
	}}}
	var b bytes.Buffer
	if err := chart.Write(&b, f); err != nil {
		t.Fatal(err)
	}
	wellFormed(t, "hostile", b.Bytes())
	if text := b.String(); strings.Contains(text, "<script") || strings.Contains(text, "onload=") || strings.Contains(text, "\x1b") {
		t.Error("markup got through")
	}
}

// A thousand vjobs and a hundred thousand points still give a file of a reasonable size.
func TestLarge(t *testing.T) {
	r := chart.Run{Title: "large", End: 1000 * time.Hour}
	for i := range 1000 {
		r.Rows = append(r.Rows, chart.Row{Label: fmt.Sprint(i), Spans: []chart.Span{{State: "running", To: time.Duration(i) * time.Hour}}})
	}
	points := make([]chart.Point, 100_000)
	for i := range points {
		points[i] = chart.Point{At: time.Duration(i) * 36 * time.Second, Value: float64(i % 7)}
	}
	r.Series = []chart.Series{{Name: "CPU", Unit: "processors", Capacity: 7, Points: points}}
	var b bytes.Buffer
	if err := chart.Write(&b, &chart.Figure{Title: "large", Runs: []chart.Run{r}}); err != nil {
		t.Fatal(err)
	}
	if b.Len() > 400_000 {
		t.Errorf("%d bytes", b.Len())
	}
}

// Years of many points are drawn to their end: a series that is always full fills
// its panel and nothing else.
func TestYears(t *testing.T) {
	r := chart.Run{End: 200 * 365 * 24 * time.Hour}
	points := make([]chart.Point, 5000)
	for i := range points {
		points[i] = chart.Point{At: r.End / 5000 * time.Duration(i), Value: 7}
	}
	r.Series = []chart.Series{{Name: "full", Capacity: 7, Points: points}}
	var b bytes.Buffer
	if err := chart.Write(&b, &chart.Figure{Runs: []chart.Run{r}}); err != nil {
		t.Fatal(err)
	}
	_, path, _ := strings.Cut(b.String(), `<path class="area" d="M`)
	path, _, _ = strings.Cut(path, `Z"`)
	last := 0.0
	for step := range strings.SplitSeq(path, "L") {
		var x, y float64
		if _, err := fmt.Sscan(step, &x, &y); err != nil || x < last || y < 0 {
			t.Fatalf("%q after %v: %v", step, last, err)
		}
		last = x
	}
}

// schedule has bars that overlap, arrivals and departures, and an unknown kind.
func schedule(nodes int) *chart.Timetable {
	t := &chart.Timetable{Title: "plan for <x>", Subtitle: "makespan 40 s", Note: "all", End: 40 * time.Second}
	kinds := []string{"migrate", "boot", "resume", "suspend", "shutdown", "node_on", "node_off", "else"}
	for i := range nodes {
		track := chart.Track{Label: fmt.Sprintf("node %d", i)}
		for k := range 5 {
			from := time.Duration((i*7+k*3)%30) * time.Second
			kind := kinds[(i+k)%len(kinds)]
			leaving := kind == "migrate" && k%2 == 1 || kind == "suspend" || kind == "shutdown"
			track.Bars = append(track.Bars, chart.Bar{
				Kind: kind, Leaving: leaving, From: from, To: from + time.Duration(1+k*2)*time.Second,
				Label: fmt.Sprint(k), Text: "VM <" + fmt.Sprint(k) + ">",
			})
		}
		t.Tracks = append(t.Tracks, track)
	}
	return t
}

func TestTimetable(t *testing.T) {
	for name, table := range map[string]*chart.Timetable{"timetable": schedule(8), "timetable-empty": {Title: "nothing"}} {
		var got, again bytes.Buffer
		if err := errors.Join(chart.WriteTimetable(&got, table), chart.WriteTimetable(&again, table)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), again.Bytes()) {
			t.Errorf("%s: two drawings differ", name)
		}
		wellFormed(t, name, got.Bytes())
		golden.Same(t, filepath.Join("testdata", name+".svg"), got.String())
	}
	var large bytes.Buffer
	if err := chart.WriteTimetable(&large, schedule(200)); err != nil || large.Len() > 250_000 {
		t.Errorf("%d bytes, %v", large.Len(), err)
	}
	hostile := &chart.Timetable{Title: "</svg>", Tracks: []chart.Track{{Label: "<b>", Bars: []chart.Bar{{Kind: `x" onload="`, To: time.Hour, Label: "<i>", Text: "]]>\x00"}}}}}
	var b bytes.Buffer
	if err := chart.WriteTimetable(&b, hostile); err != nil || strings.Contains(b.String(), "onload=") || strings.Contains(b.String(), "<b>") {
		t.Error("markup got through", err)
	}
	wellFormed(t, "hostile", b.Bytes())
}
