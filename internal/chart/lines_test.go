package chart_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vjob/internal/chart"
	"vjob/tests/golden"
)

func TestLines(t *testing.T) {
	l := &chart.Lines{Title: "loads <of> hosts", Subtitle: "the dashed line is the capacity", Y: "load", End: 2 * time.Hour, Limit: 1}
	for _, name := range []string{"", "", "high", "low"} {
		line := chart.Line{Name: name}
		for k := range 5 {
			line.Points = append(line.Points, chart.Point{At: time.Duration(k) * 30 * time.Minute, Value: float64(k+len(name)) / 6})
		}
		l.Lines = append(l.Lines, line)
	}
	for name, picture := range map[string]*chart.Lines{"lines": l, "lines-empty": {Title: "nothing", Lines: []chart.Line{{Name: "no points"}}}} {
		var got bytes.Buffer
		if err := chart.WriteLines(&got, picture); err != nil {
			t.Fatal(err)
		}
		wellFormed(t, name, got.Bytes())
		golden.Same(t, filepath.Join("testdata", name+".svg"), got.String())
	}
	var b bytes.Buffer
	hostile := &chart.Lines{Title: "</svg>", Y: "<b>", Lines: []chart.Line{{Name: `"><script>`}}}
	if err := chart.WriteLines(&b, hostile); err != nil || strings.Contains(b.String(), "<script>") || strings.Contains(b.String(), "<b>") {
		t.Error("markup got through", err)
	}
	wellFormed(t, "hostile", b.Bytes())
}
