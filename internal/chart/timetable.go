package chart

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"
)

// Timetable is a chart of actions by place: a row for each place, with lanes for actions that
// overlap in time.
type Timetable struct {
	Title    string
	Subtitle string
	Note     string // such as what is left out
	End      time.Duration
	Tracks   []Track
}

// Track is one row.
type Track struct {
	Label string
	Bars  []Bar
}

// Bar is one action at one place.
type Bar struct {
	Kind     string // names the colour
	Leaving  bool   // its VM leaves this place
	From, To time.Duration
	Label    string // written into the bar if it fits
	Text     string // tooltip
}

// actions is the palette of the kinds of bars, in the order of the legend. A kind has the colour
// of the vjob's state during the action.
var actions = []colour{
	{"migrate", "#cc5fa0"},
	{"boot", "#4aa8dc"},
	{"resume", "#009e73"},
	{"suspend", "#e69f00"},
	{"shutdown", "#5b6470"},
	{"node_on", "#1f6fb2"},
	{"node_off", "#d1495b"},
}

// sizes of a timetable in pixels.
const (
	trackGap  = 3.0
	laneLeast = 8.0
	laneMost  = 18.0
	lanesHigh = 2000.0 // of all lanes together
)

// lanes divides the bars of a track so that no two in one lane overlap.
func lanes(bars []Bar) (list [][]Bar) {
	bars = slices.Clone(bars)
	slices.SortStableFunc(bars, func(a, b Bar) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(b.To, a.To)) })
	for _, b := range bars {
		i := slices.IndexFunc(list, func(lane []Bar) bool { return lane[len(lane)-1].To <= b.From })
		if i < 0 {
			list = append(list, nil)
			i = len(list) - 1
		}
		list[i] = append(list[i], b)
	}
	return list
}

// WriteTimetable draws a timetable.
func WriteTimetable(w io.Writer, t *Timetable) error {
	tracks := make([][][]Bar, len(t.Tracks))
	count := 0
	for i := range t.Tracks {
		tracks[i] = lanes(t.Tracks[i].Bars)
		count += len(tracks[i])
	}
	lane := min(laneMost, max(laneLeast, lanesHigh/float64(max(1, count))))
	rows := lane*float64(count) + trackGap*float64(len(tracks))
	l := layout{panel: wideWidth, scale: timeAxis(t.End, wideWidth), width: 2*margin + labelWidth + wideWidth}
	l.height = headHeight + legendSize + titleHeight + rows + axisHeight + margin/2
	c := &canvas{}
	c.open(l.width, l.height, t.Title, t.Subtitle)
	c.printf("<style>%s</style>\n", actionStyles())
	c.head(t.Title, t.Subtitle)
	c.text(l.width-margin, 54, "note", "end", t.Note)
	c.actionLegend(margin+labelWidth, headHeight+legendSize/2, t) // above: the end may be far away
	x, y := margin+labelWidth, headHeight+legendSize+titleHeight
	c.grid(&l, x, y, rows)
	c.tracks(&l, t, tracks, x, y, lane)
	if rows > 600 { // the axis below is out of sight
		for v := 0.0; v <= l.scale.limit*1.0001; v += l.scale.step {
			c.text(x+v*l.scale.perUnit, y-6, "label", "middle", number(v)+" "+l.scale.unit)
		}
	}
	c.timeTicks(&l, x, y+rows, true)
	c.close()
	if _, err := io.WriteString(w, c.String()); err != nil {
		return fmt.Errorf("write the chart: %w", err)
	}
	return nil
}

// tracks draws the rows with their labels, every second row on a darker background.
func (c *canvas) tracks(l *layout, t *Timetable, tracks [][][]Bar, x, y, lane float64) {
	labelled := y - 100
	for i, lanes := range tracks {
		height := lane*float64(len(lanes)) + trackGap
		if i%2 == 1 {
			c.rect(x, y, l.panel, height, "stripe")
		}
		if middle := y + height/2 + 4; middle-labelled >= 11 {
			c.text(x-8, middle, "label", "end", shorten(t.Tracks[i].Label, 11))
			labelled = middle
		}
		for k, bars := range lanes {
			for _, b := range bars {
				c.bar(l, b, x, y+trackGap/2+float64(k)*lane, lane-min(2, lane/5))
			}
		}
		y += height
	}
}

func (c *canvas) bar(l *layout, b Bar, x, y, height float64) {
	from, to := l.scale.at(b.From), l.scale.at(b.To)
	width := max(narrow, to-from-0.8)
	c.box(x+from, y, width, height, actionClass(b.Kind, b.Leaving), b.Text)
	if height >= 11 && float64(len([]rune(b.Label)))*5.6+6 < width {
		style := "inside"
		if b.Leaving {
			style = "outside"
		}
		c.text(x+from+4, y+height/2+3.5, style, "start", b.Label)
	}
}

// actionClass is the style of a bar: filled for arrivals, pale with an edge for departures.
func actionClass(kind string, leaving bool) string {
	if !slices.ContainsFunc(actions, func(a colour) bool { return a.state == kind }) {
		return "s-unknown"
	}
	if leaving {
		return "l-" + kind
	}
	return "a-" + kind
}

func actionStyles() (css string) {
	css = ".stripe{fill:#e9eef3;fill-opacity:.6}.inside{font-size:10px;fill:#fff}.outside{font-size:10px;fill:#1f2933}"
	for _, a := range actions {
		css += fmt.Sprintf(".a-%[1]s{fill:%[2]s}.l-%[1]s{fill:%[2]s;fill-opacity:.22;stroke:%[2]s;stroke-width:1}", a.state, a.fill)
	}
	return css
}

// actionLegend draws the legend of colours and of filled and pale bars.
func (c *canvas) actionLegend(x, y float64, t *Timetable) {
	arrives, leaves := map[string]bool{}, map[string]bool{}
	for _, track := range t.Tracks {
		for _, b := range track.Bars {
			if b.Leaving {
				leaves[b.Kind] = true
			} else {
				arrives[b.Kind] = true
			}
		}
	}
	const letter, box = 6.4, 14.0
	entry := func(kind, text string, leaving bool) {
		c.rect(x, y-box+2.5, box, box, actionClass(kind, leaving))
		c.text(x+box+6, y, "legend", "start", text)
		x += box + 6 + letter*float64(len(text)) + 18
	}
	for _, a := range actions {
		switch kind := a.state; {
		case arrives[kind] && leaves[kind]:
			entry(kind, kind+": arrives", false)
			entry(kind, kind+": leaves", true)
		case arrives[kind]:
			entry(kind, kind, false)
		case leaves[kind]:
			entry(kind, kind, true)
		}
	}
}
