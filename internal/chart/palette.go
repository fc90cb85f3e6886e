package chart

import (
	"fmt"
	"strings"
)

// colour is the colour of a state. The palette is suitable for colour-blind readers (after Okabe
// and Ito), and differs in brightness.
type colour struct{ state, fill string }

// palette is in the order of the legend.
var palette = []colour{
	{"waiting", "#b8bec8"},
	{"booting", "#7cc7f2"},
	{"running", "#1f6fb2"},
	{"suspending", "#e69f00"},
	{"paused", "#ecc569"},
	{"suspended", "#f6dfa0"},
	{"resuming", "#009e73"},
	{"migrating", "#cc5fa0"},
	{"stopping", "#5b6470"},
	{Switch, "#d1495b"},
	{"planned", "#9dc3e6"},
	{"reserved", "#8e6bbf"},
}

// lasting are the stable states, drawn below the others.
var lasting = []string{"waiting", "running", "paused", "suspended", "planned", "reserved"}

// class is the style of a state; an unknown state is black.
func class(state string) string {
	for _, p := range palette {
		if p.state == state {
			return "s-" + strings.ReplaceAll(state, " ", "-")
		}
	}
	return "s-unknown"
}

// legend draws the legend of the colours in the figure.
func (c *canvas) legend(x, y float64, f *Figure) {
	used := map[string]bool{}
	capacity := false
	for _, r := range f.Runs {
		for _, row := range r.Rows {
			for _, s := range row.Spans {
				used[s.State] = true
			}
		}
		for _, s := range r.Series {
			capacity = capacity || s.Capacity > 0
		}
	}
	const letter, box = 6.4, 14.0
	for _, p := range palette {
		if !used[p.state] {
			continue
		}
		c.rect(x, y-box+2.5, box, box, class(p.state))
		c.text(x+box+6, y, "legend", "start", p.state)
		x += box + 6 + letter*float64(len(p.state)) + 18
	}
	if capacity {
		c.line(x, y-4, x+22, y-4, "capacity")
		c.text(x+28, y, "legend", "start", "capacity")
	}
}

// styles is the style sheet: colours and type.
func styles() string {
	var b strings.Builder
	b.WriteString(`text{font-family:system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;fill:#1f2933}` +
		`.h1{font-size:19px;font-weight:650}.sub{font-size:13px;fill:#52606d}` +
		`.h2{font-size:15px;font-weight:650}.h3{font-size:12.5px;font-weight:600}.note{font-size:12px;fill:#52606d}` +
		`.label{font-size:11px;fill:#52606d}.legend{font-size:12px}` +
		`.paper{fill:#fff}.panel{fill:#f7f9fb}.grid{stroke:#e4e9ee;stroke-width:1}.axis{stroke:#9aa5b1;stroke-width:1}` +
		`.area{fill:#1f6fb2;fill-opacity:.32;stroke:#1f6fb2;stroke-width:1.2;stroke-linejoin:round}` +
		`.capacity{stroke:#d1495b;stroke-width:1.2;stroke-dasharray:5 4}`)
	for _, p := range palette {
		fmt.Fprintf(&b, ".%s{fill:%s}", class(p.state), p.fill)
	}
	b.WriteString(".s-unknown{fill:#000}")
	return b.String()
}
