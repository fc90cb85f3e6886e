package screen

import (
	"fmt"
	"strings"

	"vjob/cluster"
	"vjob/cmd/vjob/display"
)

// marker stands before the row of the cursor.
const (
	marker   = "> "
	noMarker = "  "
)

// parts are which lines stand around the rows.
type parts struct {
	tabs, pulse, title, heads, foot bool
	reading                         int // lines for the last cell of the row of the cursor, if it is cut
}

// arrangement returns the parts for which there is room.
func (s *State) arrangement(v *view) parts {
	unlimited := s.height == 0
	fits := func(height int) bool { return unlimited || s.height >= height }
	p := parts{
		tabs: !unlimited && fits(5), pulse: fits(7) || s.Lost() && (fits(3) || fits(2) && s.typing == nil), title: fits(4), heads: fits(6) && len(v.sheet.columns) > 0,
		foot: !unlimited && fits(8) || s.typing != nil && fits(2) || s.notice != "" && fits(3),
	}
	if fits(16) && len(v.sheet.columns) > 0 && !unlimited {
		p.reading = 2
	}
	return p
}

// body is how many rows fit; 0 is unlimited.
func (s *State) body(v *view) int {
	if s.height == 0 {
		return 0
	}
	p := s.arrangement(v)
	left := s.height - p.reading
	for _, line := range []bool{p.tabs, p.pulse, p.title, p.heads, p.foot} {
		if line {
			left--
		}
	}
	return max(1, left)
}

// Draw returns the lines of the screen: none is wider than it, and they are at most as many as it is high.
func (s *State) Draw() string {
	s.settle()
	v := s.view()
	p := s.arrangement(v)
	f := &frame{width: s.width, colours: s.settings.Colours}
	if p.tabs {
		f.bold(s.tabs())
	}
	if p.pulse {
		text, colour := s.pulseLine()
		f.line(cell{text: text, colour: colour})
	}
	if p.title {
		f.bold(s.title(v))
	}
	l := layoutOf(v, s.width-len(marker))
	if p.heads {
		f.line(l.heads(v)...)
	}
	s.rows(f, v, l)
	if p.foot && s.height > 0 {
		for len(f.lines) < s.height-1-p.reading {
			f.line()
		}
	}
	if p.reading > 0 {
		s.reading(f, v, l, p.reading)
	}
	if p.foot {
		text, colour := s.foot(v)
		f.line(cell{text: text, colour: colour})
	}
	return strings.Join(f.lines, "\n")
}

// rows draws the rows in sight.
func (s *State) rows(f *frame, v *view, l *layout) {
	end := len(v.shown)
	if height := s.body(v); height > 0 {
		end = min(end, v.top+height)
	}
	for at := v.top; at < end; at++ {
		f.row(l.cells(&v.sheet.rows[v.shown[at]]), at == v.cursor && s.height > 0)
	}
	if len(v.shown) > 0 {
		return
	}
	f.line(cell{text: noMarker + s.empty(v), colour: display.Grey})
}

// empty says why there are no rows.
func (s *State) empty(v *view) string {
	switch {
	case v.fault != "":
		return v.fault
	case v.value == nil && v.text == nil:
		return "reading …"
	case v.filter != "" || v.query.Filter != "":
		return "nothing matches the filter: Esc ends it"
	}
	if v.query.Kind == Alarms {
		return "no open alarms"
	}
	return "none"
}

// reading shows what is wrong with the filter that is being written, or the last cell of the row of the cursor where the row
// cuts it.
func (s *State) reading(f *frame, v *view, l *layout, lines int) {
	r := v.row()
	var text []string
	switch {
	case s.typing != nil && s.typing.fault != "":
		text = display.Wrap(s.typing.fault, max(1, s.width-len(noMarker)))
	case r != nil && l.rest >= 0:
		if last := r.cells[len(r.cells)-1].text; display.Width(last) > l.rest {
			text = display.Wrap(last, max(1, s.width-len(noMarker)))
		}
	}
	if len(text) > lines {
		text[lines-1] += " …"
	}
	for i := range lines {
		line := ""
		if i < len(text) {
			line = noMarker + text[i]
		}
		f.line(cell{text: line, colour: display.Cyan})
	}
}

// tabs are the pages; the present one is in brackets.
func (s *State) tabs() string {
	clock := s.now.Local().Format("15:04:05")
	line := func(short bool) string {
		var b strings.Builder
		for i, name := range PageNames {
			text := fmt.Sprintf("%d %s", i+1, name)
			if short && Kind(i) != s.page {
				text = fmt.Sprint(i + 1)
			}
			if Kind(i) == Alarms && s.alarms() > 0 {
				text += fmt.Sprintf(" (%d)", s.alarms())
			}
			if Kind(i) == s.page {
				text = "[" + text + "]"
			} else {
				text = " " + text + " "
			}
			b.WriteString(text)
		}
		return b.String()
	}
	text := line(false)
	if display.Width(text)+len(clock) >= s.width {
		text = line(true)
	}
	return text + strings.Repeat(" ", max(1, s.width-display.Width(text)-len(clock))) + clock
}

func (s *State) alarms() int {
	if s.pulse == nil || s.pulse.Alarms == nil {
		return 0
	}
	return *s.pulse.Alarms
}

// pulseLine says whether the daemon answers and is well, and what it does.
func (s *State) pulseLine() (text, colour string) {
	if s.Lost() {
		return fmt.Sprintf("NO ANSWER since %s (%s), trying again: %s", s.lostSince.Local().Format("15:04:05"),
			display.Span(s.now.Sub(s.lostSince)), display.Clean(s.lostWhy)), display.Red
	}
	p := s.pulse
	if p == nil {
		return "looking …", display.Grey
	}
	var list []string
	if !p.Health.Ready {
		colour = display.Red
		list = append(list, "NOT READY: "+display.Clean(p.Health.Reason))
	}
	if n := s.alarms(); n > 0 {
		list = append(list, cluster.Count(n, "open alarm"))
		colour = display.Red
	}
	if p.Plan != nil && p.Plan.Ended == nil {
		list = append(list, fmt.Sprintf("context switch %d: %s, %s", p.Plan.ID, cluster.Count(p.Plan.ActionCount, "action"),
			display.Progress(s.now.Sub(p.Plan.Began), display.Seconds(p.Plan.MakespanSeconds))))
	} else {
		list = append(list, "no context switch under way")
	}
	return strings.Join(list, " · "), colour
}

// title says what is shown: a name, the place of the cursor, filter and order, and a summary.
func (s *State) title(v *view) string {
	title := v.sheet.title
	if title == "" {
		title = emptyTitle(v.query)
	}
	noun, rest, _ := strings.Cut(title, " ")
	parts := []string{strings.TrimSpace(strings.ToUpper(noun) + " " + rest)}
	if s.height > 0 && len(v.shown) > 0 {
		parts[0] += fmt.Sprintf(" %d/%d", v.cursor+1, len(v.shown))
	}
	if filter := v.filter + v.query.Filter; filter != "" && v.query.Kind != Text {
		parts = append(parts, "filter "+display.Clean(filter))
	} else if v.filter != "" {
		parts = append(parts, "filter "+display.Clean(v.filter))
	}
	if v.sort != "" {
		order := "smallest first"
		if v.largest {
			order = "largest first"
		}
		parts = append(parts, "by "+v.sort+", "+order)
	}
	if v.follow {
		parts = append(parts, "following")
	}
	if v.fault != "" && len(v.shown) > 0 {
		parts = append(parts, v.fault)
	}
	if v.sheet.summary != "" {
		parts = append(parts, v.sheet.summary)
	}
	return strings.Join(parts, " · ")
}

// foot is the line of the filter that is being written, of what the last key led to, or of keys.
func (s *State) foot(v *view) (text, colour string) {
	switch {
	case s.typing != nil && s.typing.fault != "":
		return "/" + s.typing.text + "_  " + s.typing.fault, display.Red
	case s.typing != nil:
		return "/" + s.typing.text + "_  Enter applies, Esc cancels", display.Yellow
	case s.notice != "":
		return s.notice, display.Yellow
	}
	keys := []string{"Enter opens", "/ filters"}
	switch {
	case v.query.Kind == Output:
		keys = []string{"Esc back", "left/right other VMs", "f follows", "/ filters"}
	case len(s.stack) > 0:
		keys = []string{"Esc back", "Enter opens", "/ filters"}
		if v.query.Kind == OneVJob {
			keys[1] = "o output"
		}
	case len(v.sheet.columns) > 0:
		keys = append(keys, "s sorts")
		if v.newest() != nowhere {
			keys = append(keys, "f follows")
		}
	}
	if len(s.stack) == 0 {
		keys = append(keys, "Tab next page")
	}
	return strings.Join(append(keys, "? keys", "q ends"), " · "), display.Grey
}
