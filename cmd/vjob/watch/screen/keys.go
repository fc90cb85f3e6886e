package screen

import (
	"slices"
	"strings"

	"vjob/cmd/vjob/display"
)

// Press takes in a key: its name, such as "down", "ctrl+d" or "j", and the text that it types, if any.
func (s *State) Press(key, text string) {
	s.notice = ""
	switch {
	case key == "ctrl+c":
		s.ended = true
	case s.typing != nil:
		s.write(key, text)
	case !s.navigate(key) && !s.walk(key):
		s.command(key)
	}
	s.settle()
}

// navigate changes what is shown, and reports whether the key does so.
func (s *State) navigate(key string) bool {
	switch key {
	case "1", "2", "3", "4", "5":
		s.turn(Kind(key[0] - '1'))
	case "tab":
		s.turn((s.page + 1) % Kind(len(s.pages)))
	case "shift+tab":
		s.turn((s.page + Kind(len(s.pages)) - 1) % Kind(len(s.pages)))
	case "enter":
		s.open()
	case "esc", "backspace":
		s.back()
	case "o":
		s.openOutput()
	case "left", "h", "right", "l":
		s.turnRank(key == "right" || key == "l")
	case "?":
		if v := s.view(); v.query.Kind != Text || v.query.Filter != helpTitle {
			s.push(helpView())
		}
	default:
		return false
	}
	return true
}

// walk moves the cursor, and reports whether the key does so.
func (s *State) walk(key string) bool {
	v := s.view()
	page := max(1, s.body(v))
	switch key {
	case "j", "down":
		v.move(1)
	case "k", "up":
		v.move(-1)
	case "pgdown", "ctrl+f", "space":
		v.move(page)
	case "pgup", "ctrl+b":
		v.move(-page)
	case "ctrl+d":
		v.move(max(1, page/2))
	case "ctrl+u":
		v.move(-max(1, page/2))
	case "g", "home":
		v.moveTo(0)
	case "G", "end":
		v.moveTo(len(v.shown) - 1)
	default:
		return false
	}
	return true
}

// command carries out the other keys.
func (s *State) command(key string) {
	v := s.view()
	switch key {
	case "q":
		s.ended = true
	case "/":
		s.typing = &typing{text: v.filter}
		if v.query.Kind == VJobs {
			s.typing.text = v.query.Filter
		}
	case "s":
		s.cycleSort(v)
	case "S":
		if v.sort == "" {
			s.notice = "no order to reverse: s sorts"
			return
		}
		v.largest = !v.largest
		v.arrange(v.key())
	case "f":
		s.toggleFollow(v)
	}
}

// turn shows a page.
func (s *State) turn(page Kind) { s.page, s.stack = page, nil }

// push opens a view on top.
func (s *State) push(v *view) { s.stack = append(s.stack, v) }

// open opens what the cursor is on.
func (s *State) open() {
	switch r := s.view().row(); {
	case r == nil:
		s.notice = "nothing to open"
	case r.text != nil:
		s.push(&view{query: Query{Kind: Text, Filter: r.title}, text: r.text})
	case r.open != nil:
		s.push(newView(*r.open))
	default:
		s.notice = "nothing more to open here"
	}
}

// back closes the view on top, or ends its filter.
func (s *State) back() {
	v := s.view()
	switch n := len(s.stack); {
	case v.filter != "":
		v.filter = ""
		v.arrange(v.key())
	case v.query.Kind == VJobs && v.query.Filter != "":
		v.query.Filter = ""
	case n > 0:
		s.stack = s.stack[:n-1]
		s.view().width = 0 // its value may be newer than its rows
	default:
		s.notice = "q ends"
	}
}

// openOutput opens what the first VM of a vjob has printed.
func (s *State) openOutput() {
	v := s.view()
	id := v.query.ID
	if v.query.Kind != OneVJob {
		r := v.row()
		if v.query.Kind == Output || r == nil || r.open == nil || r.open.Kind != OneVJob {
			s.notice = "no vjob here of which to show the output"
			return
		}
		id = r.open.ID
	}
	s.push(newView(Query{Kind: Output, ID: id}))
}

// turnRank shows the output of the VM after or before the present one.
func (s *State) turnRank(next bool) {
	v := s.view()
	shown, ok := v.value.(OutputShown)
	if v.query.Kind != Output || !ok {
		return
	}
	rank := v.query.Rank - 1
	if next {
		rank = v.query.Rank + 1
	}
	if rank < 0 || rank >= shown.VMs {
		s.notice = "no other VM there"
		return
	}
	q := v.query
	q.Rank = rank
	s.stack[len(s.stack)-1] = newView(q)
}

// cycleSort sorts by the next column. Numbers begin with the largest.
func (s *State) cycleSort(v *view) {
	if len(v.sheet.columns) == 0 {
		s.notice = "nothing to sort here"
		return
	}
	at := v.sortColumn() + 1
	v.sort, v.largest, v.follow = "", false, false
	if at < len(v.sheet.columns) {
		v.sort, v.largest = v.sheet.columns[at].Name, v.sheet.columns[at].Right
	}
	v.arrange(v.key())
}

// toggleFollow keeps the cursor at the newest row, or no longer.
func (s *State) toggleFollow(v *view) {
	if v.newest() == nowhere {
		s.notice = "nothing to follow here"
		return
	}
	v.follow = !v.follow
	if v.follow {
		v.sort = ""
	}
	v.arrange(v.key())
}

// write changes the filter that is being written.
func (s *State) write(key, text string) {
	t, v := s.typing, s.view()
	t.fault = ""
	switch key {
	case "enter":
		if s.apply(v, strings.TrimSpace(t.text)) {
			s.typing = nil
		}
		return
	case "esc":
		s.typing = nil
		return
	case "backspace":
		if letters := []rune(t.text); len(letters) > 0 {
			t.text = string(letters[:len(letters)-1])
		}
	case "ctrl+u":
		t.text = ""
	case "space":
		t.text += " "
	default:
		t.text += strings.Map(func(r rune) rune {
			if display.UnsafeRune(r) {
				return -1
			}
			return r
		}, text)
	}
	if len(t.text) > mostTyped {
		t.text = string([]rune(t.text)[:min(len([]rune(t.text)), mostTyped)])
	}
}

// mostTyped bounds the text of a filter, in letters.
const mostTyped = 200

// apply filters a view, unless the filter is wrong.
func (s *State) apply(v *view, text string) bool {
	if v.query.Kind != VJobs {
		v.filter = text
		v.arrange(v.key())
		return true
	}
	if s.settings.CheckFilter != nil {
		if err := s.settings.CheckFilter(text); err != nil {
			s.typing.fault = strings.TrimPrefix(display.Clean(err.Error()), "--")
			return false
		}
	}
	v.query.Filter = text
	return true
}

// helpTitle is the title of the view of keys.
const helpTitle = "keys"

// helpView lists the keys.
func helpView() *view {
	lines := slices.Collect(strings.Lines(help))
	return &view{query: Query{Kind: Text, Filter: helpTitle}, text: func(width int) []row { return paragraphs(lines, width) }}
}

const help = `1 2 3 4 5, Tab    nodes, vjobs, plans (context switches), events, alarms
j k, arrows       down, up
PgDn PgUp         a page down, up; also Space
Ctrl-d Ctrl-u     half a page down, up
g G               to the first row, to the last

Enter             open: a vjob, an array, a node with its VMs, a plan with its actions, an event, an alarm
o                 the output of a vjob; left and right show its other VMs
Esc               back, or without the filter

/                 filter; Enter applies it, Esc cancels, empty shows everything
s S               sort by the next column; the other way round
f                 follow: stay at the newest row; any movement ends it
?                 these keys
q                 end

Filters are text that a row must have. In the page of vjobs they are those of vjob list:
state:waiting,running   owner:ada   project:physics   queue:batch   node:n3   label:campaign=7   name:sweep
state:ended shows vjobs that have ended; other words are searched for in names, parameters and comments.
`
