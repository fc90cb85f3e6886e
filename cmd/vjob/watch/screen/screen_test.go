package screen_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-runewidth"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/display"
	"vjob/cmd/vjob/watch/screen"
	"vjob/tests/golden"
	"vjob/tests/pace"
)

// TestScreens holds what users see, at two sizes.
func TestScreens(t *testing.T) {
	for name, tt := range map[string]struct {
		page screen.Kind
		keys []string
	}{
		"nodes": {page: screen.Nodes}, "vjobs": {page: screen.VJobs}, "plans": {page: screen.Plans}, "events": {page: screen.Events},
		"alarms": {page: screen.Alarms},
		"node":   {screen.Nodes, []string{"enter"}},
		"vjob":   {screen.VJobs, []string{"enter"}},
		"output": {screen.VJobs, []string{"o", "l"}},
		"array":  {screen.VJobs, []string{"G", "enter"}},
		"plan":   {screen.Plans, []string{"enter"}},
		"event":  {screen.Events, []string{"enter"}},
		"alarm":  {screen.Alarms, []string{"enter"}},
		"keys":   {screen.VJobs, []string{"?"}},
		"sorted": {screen.VJobs, []string{"j", "j", "s", "s", "s", "S"}},
		"wrong":  {screen.VJobs, []string{"/", "s", "t", "a", "t", "e", ":", "x", "enter"}},
		"filter": {screen.VJobs, []string{"/", "o", "w", "n", "e", "r", ":", "a", "d", "a", "enter"}},
	} {
		for _, size := range [][2]int{{80, 24}, {132, 40}} {
			t.Run(fmt.Sprintf("%s-%dx%d", name, size[0], size[1]), func(t *testing.T) {
				s := start(tt.page, size[0], size[1])
				answer(s)
				press(s, tt.keys...)
				text := s.Draw()
				fits(t, text, size[0], size[1])
				golden.Same(t, fmt.Sprintf("testdata/%s-%dx%d.golden", name, size[0], size[1]), text+"\n")
			})
		}
	}
}

// TestLost says that the daemon does not answer, since when, and shows what was read before.
func TestLost(t *testing.T) {
	s := start(screen.VJobs, 100, 12)
	answer(s)
	lost := screen.Answer{Query: s.Query(), Err: fmt.Errorf("no answer from unix:///run/vjobd.sock: %w", cluster.ErrUnavailable)}
	s.Take(lost)
	s.Tick(noon.Add(42 * time.Second))
	s.Take(lost)
	golden.Same(t, "testdata/lost.golden", s.Draw()+"\n")
	s.Resize(40, 3)
	if text := s.Draw(); !strings.Contains(text, "NO ANSWER") {
		t.Errorf("a small terminal does not tell: %q", text)
	}
	answer(s)
	if text := s.Draw(); s.Lost() || strings.Contains(text, "NO ANSWER") {
		t.Errorf("the daemon answers again: %q", text)
	}
	refused := screen.Answer{Query: s.Query(), Err: errors.New("alarms: forbidden")}
	s.Take(refused)
	s.Resize(100, 24)
	if text := s.Draw(); s.Lost() || !strings.Contains(text, "alarms: forbidden") {
		t.Errorf("a refusal is not shown: %q", text)
	}
}

// TestSelectionStays: the cursor stays on its vjob, and that where it is, as vjobs come and go.
func TestSelectionStays(t *testing.T) {
	s := start(screen.VJobs, 80, 24)
	list := func(ids ...int64) {
		l := wire.VJobList{Total: len(ids)}
		for _, id := range ids {
			l.VJobs = append(l.VJobs, wire.VJob{ID: id, Name: fmt.Sprintf("job-%d", id), State: "running", VMCount: 1})
		}
		s.Take(screen.Answer{Query: s.Query(), Value: l})
	}
	ids := make([]int64, 50)
	for i := range ids {
		ids[i] = int64(i + 1)
	}
	list(ids...)
	for range 30 {
		s.Press("j", "j")
	}
	at := lineOf(s.Draw(), "job-31")
	list(ids[10:]...)
	if got := lineOf(s.Draw(), "job-31"); got != at || !marked(s.Draw(), "job-31") {
		t.Errorf("the row is in line %d, was in %d:\n%s", got, at, s.Draw())
	}
	list(slices.Concat(ids[20:30], ids[31:])...) // it has ended
	if !marked(s.Draw(), "job-") {
		t.Errorf("no row is marked:\n%s", s.Draw())
	}
	s.Press("f", "f")
	list(ids...)
	if !marked(s.Draw(), "job-50") {
		t.Errorf("the last row is not followed:\n%s", s.Draw())
	}
	s.Press("k", "k")
	list(append(ids, 51)...)
	if !marked(s.Draw(), "job-49") {
		t.Errorf("a movement does not end following:\n%s", s.Draw())
	}
}

func lineOf(text, word string) int {
	return slices.IndexFunc(strings.Split(text, "\n"), func(line string) bool { return strings.Contains(line, word) })
}

func marked(text, word string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "> ") && strings.Contains(line, word) {
			return true
		}
	}
	return false
}

// TestQueries: each view asks for what it shows, and nothing is asked for texts.
func TestQueries(t *testing.T) {
	s := start(screen.VJobs, 80, 24)
	answer(s)
	for _, tt := range []struct {
		key  string
		want screen.Query
	}{
		{"enter", screen.Query{Kind: screen.OneVJob, ID: 12}},
		{"o", screen.Query{Kind: screen.Output, ID: 12}},
		{"right", screen.Query{Kind: screen.Output, ID: 12, Rank: 1}},
		{"right", screen.Query{Kind: screen.Output, ID: 12, Rank: 1}},
		{"esc", screen.Query{Kind: screen.OneVJob, ID: 12}},
		{"esc", screen.Query{Kind: screen.VJobs}},
		{"esc", screen.Query{Kind: screen.VJobs}},
		{"G", screen.Query{Kind: screen.VJobs}},
		{"enter", screen.Query{Kind: screen.VJobs, ID: 20}},
		{"?", screen.Query{Kind: screen.Text, Filter: "keys"}},
		{"esc", screen.Query{Kind: screen.VJobs, ID: 20}},
		{"tab", screen.Query{Kind: screen.Plans}},
		{"enter", screen.Query{Kind: screen.OnePlan, ID: 4}},
		{"1", screen.Query{Kind: screen.Nodes}},
		{"shift+tab", screen.Query{Kind: screen.Alarms}},
	} {
		press(s, tt.key)
		if got := s.Query(); got != tt.want {
			t.Errorf("after %s it asks for %+v, want %+v", tt.key, got, tt.want)
		}
	}
	press(s, "q")
	if !s.Ended() {
		t.Error("q does not end the view")
	}
}

// TestColours: colours are used where they are wanted only, and the text is the same without.
func TestColours(t *testing.T) {
	plain, painted := start(screen.Nodes, 100, 20), screen.New(screen.Settings{Page: screen.Nodes, Colours: true}, noon)
	painted.Resize(100, 20)
	painted.Take(screen.Answer{Query: screen.Query{Kind: screen.Pulse}, Value: screen.PulseShown{Health: wire.Health{Ready: true}, Plan: new(plan()), Alarms: new(2)}})
	answer(plain)
	answer(painted)
	if strings.Contains(plain.Draw(), "\x1b") {
		t.Error("colours that are not wanted")
	}
	stripped := strip(painted.Draw())
	if stripped == painted.Draw() {
		t.Error("no colours")
	}
	for i, line := range strings.Split(stripped, "\n") {
		if want := strings.Split(plain.Draw(), "\n")[i]; strings.TrimRight(line, " ") != strings.TrimRight(want, " ") {
			t.Errorf("line %d: %q with colours, %q without", i, line, want)
		}
	}
}

// strip removes colours.
func strip(text string) string {
	return regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAllString(text, "")
}

// fits checks that a text has the size of a terminal, and nothing that a terminal obeys.
func fits(t *testing.T, text string, width, height int) {
	t.Helper()
	lines := strings.Split(text, "\n")
	if height > 0 && len(lines) > height {
		t.Errorf("%d lines on %d", len(lines), height)
	}
	for _, line := range lines {
		if n := runewidth.StringWidth(line); n > width {
			t.Errorf("%d wide on %d: %q", n, width, line)
		}
		if strings.ContainsFunc(line, display.UnsafeRune) {
			t.Errorf("unsafe: %q", line)
		}
	}
}

// keys are those that the view knows, and some that it does not.
var keys = []string{
	"1", "2", "3", "4", "5", "tab", "shift+tab", "j", "k", "down", "up", "pgdown", "pgup", "ctrl+d", "ctrl+u", "g", "G", "home", "end",
	"enter", "enter", "enter", "o", "left", "right", "h", "l", "esc", "/", "s", "s", "S", "f", "?", "space", "backspace", "x", "世", "e", ":", "f13", "paste",
}

// TestRandomKeys presses keys at random, while sizes, answers and time change.
func TestRandomKeys(t *testing.T) {
	for seed := range uint64(300 / pace.Slower) {
		t.Run("seed "+strconv.FormatUint(seed, 10), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 15))
			width, height := 1+rng.IntN(140), 1+rng.IntN(50)
			s := start(screen.Kind(rng.IntN(5)), width, height)
			var pressed []string
			defer func() {
				if t.Failed() {
					t.Logf("seed %d, keys %q", seed, pressed)
				}
			}()
			for range 120 {
				switch rng.IntN(10) {
				case 0:
					width, height = 1+rng.IntN(140), 1+rng.IntN(50)
					s.Resize(width, height)
				case 1:
					s.Tick(noon.Add(time.Duration(rng.IntN(600)) * time.Second))
				case 2:
					s.Hear(events()[:rng.IntN(3)])
				case 3:
					s.Take(screen.Answer{Query: s.Query(), Err: []error{cluster.ErrUnavailable, cluster.ErrNotFound}[rng.IntN(2)]})
				case 4, 5:
					shrunk(s, rng)
				default:
					key := keys[rng.IntN(len(keys))]
					pressed = append(pressed, key)
					text := ""
					if len([]rune(key)) == 1 {
						text = key
					}
					s.Press(key, text)
				}
				fits(t, s.Draw(), width, height)
				if t.Failed() {
					return
				}
			}
		})
	}
}

// shrunk answers the query, with some of the rows missing.
func shrunk(s *screen.State, rng *rand.Rand) {
	v := value(s.Query())
	switch list := v.(type) {
	case nil:
		return
	case wire.VJobList:
		list.VJobs = list.VJobs[:rng.IntN(len(list.VJobs)+1)]
		v = list
	case wire.NodeList:
		list.Nodes = list.Nodes[:rng.IntN(len(list.Nodes)+1)]
		v = list
	case wire.Plan:
		list.Actions = list.Actions[:rng.IntN(len(list.Actions)+1)]
		v = list
	}
	s.Take(screen.Answer{Query: s.Query(), Value: v})
}

// BenchmarkDraw takes in and draws 5,000 vjobs.
func BenchmarkDraw(b *testing.B) {
	list := wire.VJobList{Total: 5000}
	for i := range 5000 {
		j := jobs()[i%3]
		j.ID = int64(i + 1)
		list.VJobs = append(list.VJobs, j)
	}
	s := start(screen.VJobs, 160, 50)
	for b.Loop() {
		s.Take(screen.Answer{Query: s.Query(), Value: list})
		s.Press("j", "j")
		_ = s.Draw()
	}
}
