package chart_test

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"vjob/internal/chart"
	"vjob/tests/golden"
)

func TestScatter(t *testing.T) {
	s := &chart.Scatter{Title: "yield <against> power", Subtitle: "means are large", X: "power (W)", Y: "yield"}
	for g := range 26 { // as many as there are algorithms: more than colours
		group := chart.Group{Name: fmt.Sprintf("algorithm %d", g)}
		for k := range 5 {
			group.Points = append(group.Points, [2]float64{float64(100*g + 30*k), float64(k+g%10) / 14})
		}
		s.Groups = append(s.Groups, group)
	}
	for name, picture := range map[string]*chart.Scatter{"scatter": s, "scatter-empty": {Title: "nothing", Groups: []chart.Group{{Name: "no points"}}}} {
		var got, again bytes.Buffer
		if err := errors.Join(chart.WriteScatter(&got, picture), chart.WriteScatter(&again, picture)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), again.Bytes()) {
			t.Errorf("%s: two drawings differ", name)
		}
		wellFormed(t, name, got.Bytes())
		golden.Same(t, filepath.Join("testdata", name+".svg"), got.String())
	}
	hostile := &chart.Scatter{Title: "</svg>", X: "<b>", Groups: []chart.Group{{Name: `"><script>`, Points: [][2]float64{{1, 1}}}}}
	var b bytes.Buffer
	if err := chart.WriteScatter(&b, hostile); err != nil || strings.Contains(b.String(), "<script>") || strings.Contains(b.String(), "<b>") {
		t.Error("markup got through", err)
	}
	wellFormed(t, "hostile", b.Bytes())
}
