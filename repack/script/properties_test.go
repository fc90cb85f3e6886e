package script_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"vjob/repack/script"
)

var sameTree = cmp.Options{
	cmp.Comparer(func(_, _ script.Pos) bool { return true }),
	cmpopts.IgnoreUnexported(script.File{}),
	cmpopts.EquateEmpty(),
}

func TestFormattedFilesAreTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := &script.File{Body: drawBlock(t, 2)}
		text := script.Format(f)
		got, problems := script.Parse("drawn", text)
		if len(problems) > 0 {
			t.Fatalf("%s\n%v", text, problems)
		}
		if d := cmp.Diff(f, got, sameTree); d != "" {
			t.Fatalf("%s\n%s", text, d)
		}
		if again := script.Format(got); again != text {
			t.Fatalf("formatted once:\n%s\ntwice:\n%s", text, again)
		}
	})
}

func drawBlock(t *rapid.T, depth int) script.Block {
	var b script.Block
	for i := range rapid.IntRange(0, 4).Draw(t, "statements") {
		c := script.Comments{Before: drawComments(t, i > 0, true)}
		if rapid.Bool().Draw(t, "comment behind") {
			c.After = comment.Draw(t, "comment")
		}
		kind := rapid.IntRange(0, 2).Draw(t, "statement")
		switch {
		case kind == 0:
			b.List = append(b.List, &script.Assign{Comments: c, Name: variable.Draw(t, "name"), Value: drawExpr(t, 3)})
		case kind == 1 && depth > 0:
			b.List = append(b.List, &script.For{Comments: c, Name: variable.Draw(t, "name"), In: drawExpr(t, 3), Body: drawBlock(t, depth-1)})
		default:
			b.List = append(b.List, drawCall(t, c))
		}
	}
	b.Tail = drawComments(t, len(b.List) > 0, false)
	return b
}

// drawComments draws lines of comments and single empty lines.
func drawComments(t *rapid.T, emptyFirst, emptyLast bool) []string {
	var list []string
	for range rapid.IntRange(0, 3).Draw(t, "comments") {
		if len(list) == 0 && !emptyFirst || len(list) > 0 && list[len(list)-1] == "" || rapid.Bool().Draw(t, "a comment") {
			list = append(list, comment.Draw(t, "comment"))
		} else {
			list = append(list, "")
		}
	}
	if n := len(list) - 1; n >= 0 && list[n] == "" && !emptyLast {
		list = list[:n]
	}
	return list
}

func drawCall(t *rapid.T, comments script.Comments) *script.Call {
	c := &script.Call{
		Comments: comments,
		Mode:     script.Mode(rapid.IntRange(0, 2).Draw(t, "mode")),
		Rule:     rapid.SampledFrom([]string{"spread", "continuous", "discrete", "vms", "in", "r-1.x"}).Draw(t, "rule"),
	}
	if rapid.Bool().Draw(t, "soft") {
		c.Penalty = drawExpr(t, 1)
	}
	for range rapid.IntRange(0, 3).Draw(t, "arguments") {
		a := script.Arg{Value: drawExpr(t, 2)}
		if rapid.Bool().Draw(t, "named") {
			a.Name = anyName.Draw(t, "argument")
		}
		c.Args = append(c.Args, a)
	}
	return c
}

var (
	comment  = rapid.SampledFrom([]string{"#", "# why", "#why", "## x", "# a // b; $c", "# α"})
	variable = rapid.StringMatching(`[A-Za-z0-9_]{1,5}`)
	anyName  = rapid.OneOf(
		rapid.StringMatching(`[A-Za-z0-9_.%-]{1,6}`),
		rapid.SampledFrom([]string{"for", "in", "soft", "vms", "nodes", "1", "01", "1-5", "1.5", "..", ".", "a.", "-a", "a-", "%", "5%", "α", "a b", `"`, `\`, `'`, `\"`, "$a", "#", "//", "a[1]"}),
	)
)

func drawExpr(t *rapid.T, depth int) script.Expr {
	kind := rapid.IntRange(0, 7).Draw(t, "expression")
	if depth == 0 {
		kind %= 5
	}
	switch kind {
	case 0:
		return &script.Word{Text: anyName.Draw(t, "word")}
	case 1:
		return &script.Var{Name: variable.Draw(t, "variable")}
	case 2:
		return &script.Family{Name: variable.Draw(t, "family"), Items: drawItems(t)}
	case 3:
		return drawPattern(t)
	case 4:
		return &script.Labelled{Key: anyName.Draw(t, "key"), Value: anyName.Draw(t, "value")}
	case 5:
		b := &script.Braces{}
		for range rapid.IntRange(0, 3).Draw(t, "members") {
			b.List = append(b.List, drawExpr(t, depth-1))
		}
		return b
	case 6:
		return &script.Cast{Nodes: rapid.Bool().Draw(t, "nodes"), X: drawExpr(t, depth-1)}
	default:
		op := rapid.SampledFrom([]byte("+-&/")).Draw(t, "operator")
		return &script.Binary{Op: op, X: drawExpr(t, depth-1), Y: drawExpr(t, depth-1)}
	}
}

func drawPattern(t *rapid.T) *script.Pattern {
	p := &script.Pattern{}
	for i := range rapid.IntRange(1, 4).Draw(t, "parts") {
		if i == 0 || p.Parts[i-1].Items != nil {
			if rapid.Bool().Draw(t, "text") {
				p.Parts = append(p.Parts, script.Part{Text: anyName.Draw(t, "part")})
				continue
			}
		}
		p.Parts = append(p.Parts, script.Part{Items: drawItems(t)})
	}
	if len(p.Parts) == 1 && p.Parts[0].Items == nil {
		p.Parts = append(p.Parts, script.Part{Items: drawItems(t)})
	}
	return p
}

func drawItems(t *rapid.T) (items []script.Item) {
	bound := func() script.Bound {
		if rapid.Bool().Draw(t, "by variable") {
			return script.Bound{Text: variable.Draw(t, "variable"), Var: true}
		}
		return script.Bound{Text: anyName.Draw(t, "bound")}
	}
	for range rapid.IntRange(1, 3).Draw(t, "items") {
		i := script.Item{From: bound(), Range: rapid.Bool().Draw(t, "range")}
		if i.Range {
			i.To = bound()
		}
		items = append(items, i)
	}
	return items
}

// evaluated is the set that an expression stands for.
func evaluated(t *rapid.T, text string) []int {
	p, err := script.CompileWith("drawn", "spread("+text+" + VM30);", exampleNames(), kinds)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	set := p.Postings[0].Values["vms"].([]int)
	return set[:len(set)-1] // without VM30, which makes it one that is not empty
}

func drawSet(t *rapid.T, label string) string {
	members := rapid.SliceOfNDistinct(rapid.IntRange(1, 20), 0, 10, rapid.ID).Draw(t, label)
	words := make([]string, len(members))
	for i, m := range members {
		words[i] = fmt.Sprintf("VM%d", m)
	}
	return "{" + strings.Join(words, ", ") + "}"
}

func TestLawsOfSets(t *testing.T) {
	laws := [][2]string{
		{"a + b", "b + a"},
		{"a & b", "b & a"},
		{"(a + b) + c", "a + (b + c)"},
		{"(a & b) & c", "a & (b & c)"},
		{"a & (b + c)", "a & b + a & c"},
		{"a + b & c", "(a + b) & (a + c)"},
		{"a + a", "a"},
		{"a & a", "a"},
		{"a - a", "{}"},
		{"a + {}", "a"},
		{"a & {}", "{}"},
		{"a - {}", "a"},
		{"{} - a", "{}"},
		{"a - (b + c)", "a - b - c"},
		{"a - (b & c)", "(a - b) + (a - c)"},
		{"a - b + a & b", "a"},
		{"(a - b) & b", "{}"},
		{"a + (b - a)", "a + b"},
		{"a & b", "a - (a - b)"},
		{"a * b", "a & b"},
	}
	rapid.Check(t, func(t *rapid.T) {
		with := strings.NewReplacer("a", drawSet(t, "a"), "b", drawSet(t, "b"), "c", drawSet(t, "c"))
		for _, law := range laws {
			left, right := evaluated(t, with.Replace(law[0])), evaluated(t, with.Replace(law[1]))
			slices.Sort(left)
			slices.Sort(right)
			if !slices.Equal(left, right) {
				t.Fatalf("%s is %v, %s is %v; %s", law[0], left, law[1], right, with.Replace("a, b, c"))
			}
		}
	})
}

// Order is kept: the first operand's, then that of what the second adds.
func TestOrderIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawSet(t, "a"), drawSet(t, "b")
		x, y := evaluated(t, a), evaluated(t, b)
		in := func(set []int) func(int) bool { return func(m int) bool { return slices.Contains(set, m) } }
		if got, want := evaluated(t, a+" + "+b), append(slices.Clone(x), slices.DeleteFunc(slices.Clone(y), in(x))...); !slices.Equal(got, want) {
			t.Fatalf("%s + %s is %v, want %v", a, b, got, want)
		}
		if got, want := evaluated(t, a+" - "+b), slices.DeleteFunc(slices.Clone(x), in(y)); !slices.Equal(got, want) {
			t.Fatalf("%s - %s is %v, want %v", a, b, got, want)
		}
	})
}

// A partition has all members once, in their order, in sets of one size but for the
// last.
func TestPartitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.IntRange(1, 10).Draw(t, "from")
		to := rapid.IntRange(from, 30).Draw(t, "to")
		n := rapid.IntRange(1, 12).Draw(t, "size")
		p, err := script.CompileWith("drawn", fmt.Sprintf("apart(VM[%d..%d] / %d);", from, to, n), exampleNames(), kinds)
		if err != nil {
			t.Fatal(err)
		}
		sets := p.Postings[0].Values["sets"].([][]int)
		next := from - 1
		for i, s := range sets {
			if len(s) > n || i < len(sets)-1 && len(s) < n || len(s) == 0 {
				t.Fatalf("set %d has %d members", i, len(s))
			}
			for _, m := range s {
				if m != next {
					t.Fatalf("want VM%d, got VM%d: %v", next+1, m+1, sets)
				}
				next++
			}
		}
		if next != to {
			t.Fatalf("the last is VM%d, want VM%d", next, to)
		}
	})
}
