package fairshare_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/queue/fairshare"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

const week = 7 * 24 * time.Hour

func settings(shares map[string]float64) fairshare.Settings {
	return fairshare.Settings{HalfLife: week, CPU: 1, Share: 1, Shares: shares}
}

func tree(tb testing.TB, r fairshare.Settings) *fairshare.Tree {
	tb.Helper()
	tree, err := fairshare.New(r)
	if err != nil {
		tb.Fatal(err)
	}
	return tree
}

func path(text string) fairshare.Path { return strings.Split(text, "/") }

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a)) }

// The figures are those of the example in Slurm's documentation of the classic
// algorithm, three levels deep, of a machine used to 70 %. The example divides by the capacity, here
// by all use, so that an account without a share uses the rest.
func TestPublishedExample(t *testing.T) {
	tree := tree(t, settings(map[string]float64{
		"A": 40, "A/B": 30, "A/C": 10, "A/B/1": 1, "A/C/2": 1, "A/C/3": 1,
		"D": 60, "D/E": 25, "D/F": 35, "D/E/4": 1, "D/F/5": 1, "rest": 0,
	}))
	for who, used := range map[string]float64{"A/B/1": 20, "A/C/2": 25, "D/E/4": 25, "rest": 30} {
		tree.Charge(path(who), noon, fairshare.Usage{CPUSec: used})
	}
	for who, want := range map[string]float64{
		"A/B/1": 0.408479, "A/C/2": 0.022097, "A/C/3": 0.125, "D/E/4": 0.5, "D/F/5": 0.749154, "rest": 0,
	} {
		// The documentation rounds the last one's usage to 0.1458 before it goes on.
		if got := tree.Factor(path(who)); math.Abs(got-want) > 1e-4 {
			t.Errorf("%s: %.6f, want %.6f", who, got, want)
		}
	}
}

func TestWhoUsesLittle(t *testing.T) {
	tree := tree(t, settings(nil))
	if f := tree.Factor(path("physics/ann")); f != 1 {
		t.Errorf("before anything was used: %v", f)
	}
	tree.Charge(path("physics/ann"), noon, fairshare.Usage{CPUSec: 100})
	tree.Charge(path("biology/bob"), noon, fairshare.Usage{CPUSec: 100})
	for who, want := range map[string]float64{
		"physics/ann": 0.5, "biology/bob": 0.5, // just what is theirs
		"history/eve": 1,
		"physics/dan": 0.5, // stands in for ann: half of a quarter too much, over a quarter
	} {
		if f := tree.Factor(path(who)); !near(f, want) {
			t.Errorf("%s: %v, want %v", who, f, want)
		}
	}
}

// naive sums all charges, each decayed separately; the tree must give the same for any epoch.
type naive struct {
	settings fairshare.Settings
	charges  []charge
}

type charge struct {
	who    string
	at     time.Time
	amount float64
}

func (n *naive) used(who string, at time.Time) (sum float64) {
	for _, c := range n.charges {
		if who == "" || c.who == who || strings.HasPrefix(c.who, who+"/") {
			sum += c.amount * math.Pow(0.5, float64(at.Sub(c.at))/float64(n.settings.HalfLife))
		}
	}
	return sum
}

// siblings returns the accounts with the same parent and their shares.
func (n *naive) siblings(who string) map[string]float64 {
	depth, parent := strings.Count(who, "/"), who[:max(0, strings.LastIndex(who, "/"))]
	all := map[string]float64{}
	add := func(p string) {
		parts := strings.Split(p, "/")
		if len(parts) > depth && strings.Join(parts[:depth], "/") == parent {
			name := strings.Join(parts[:depth+1], "/")
			all[name] = n.settings.Share
			if share, named := n.settings.Shares[name]; named {
				all[name] = share
			}
		}
	}
	add(who)
	for p := range n.settings.Shares {
		add(p)
	}
	for _, c := range n.charges {
		add(c.who)
	}
	return all
}

func (n *naive) factor(who string, at time.Time) float64 {
	part, usage := 1.0, 0.0
	parts := strings.Split(who, "/")
	for i := range parts {
		name, sum := strings.Join(parts[:i+1], "/"), 0.0
		siblings := n.siblings(name)
		for _, s := range siblings {
			sum += s
		}
		own := 0.0
		if all := n.used("", at); all > 0 {
			own = n.used(name, at) / all
		}
		if i > 0 {
			own += (usage - own) * siblings[name] / sum
		}
		usage, part = own, part*siblings[name]/sum
	}
	if part == 0 {
		return 0
	}
	return math.Pow(2, -usage/part)
}

func TestAgainstEachCharge(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 0))
		r := settings(map[string]float64{"p0": 3, "p0/u1": 5, "p1": 0.5, "p2/u0": 0})
		r.HalfLife = []time.Duration{time.Hour, week}[seed%2]
		tr, all := tree(t, r), &naive{settings: r}
		at := noon
		for range 1 + rng.IntN(60) {
			at = at.Add(time.Duration(rng.Int64N(int64(20 * r.HalfLife))))
			c := charge{fmt.Sprintf("p%d/u%d", rng.IntN(4), rng.IntN(3)), at.Add(-time.Duration(rng.Int64N(int64(r.HalfLife)))), rng.Float64() * 1e6}
			tr.Charge(path(c.who), c.at, fairshare.Usage{CPUSec: c.amount})
			all.charges = append(all.charges, c)
		}
		for _, who := range []string{"p0/u0", "p0/u1", "p1/u2", "p2/u0", "p3/u1", "new/one", "p0/new", "p1"} {
			want := all.factor(who, at)
			if got := tr.Factor(path(who)); math.Abs(got-want) > 1e-6 || got < 0 || got > 1 {
				t.Fatalf("seed %d: %s has %v, want %v", seed, who, got, want)
			}
			if got, want := tr.Used(path(who), at), all.used(who, at); math.Abs(got-want) > 1e-6*max(1, want) {
				t.Fatalf("seed %d: %s has used %v, want %v", seed, who, got, want)
			}
		}
	}
}

// More use never raises the own factor and never lowers that of another project.
func TestMoreUseNeverHelps(t *testing.T) {
	const seed = 3
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	tr := tree(t, settings(map[string]float64{"a": 2, "b": 1}))
	at := noon
	for range 300 {
		who, other := "a/u", "b/u"
		if rng.IntN(2) == 0 {
			who, other = other, who
		}
		own, others := tr.Factor(path(who)), tr.Factor(path(other))
		at = at.Add(time.Duration(rng.Int64N(int64(week))))
		tr.Charge(path(who), at, fairshare.Usage{CPUSec: rng.Float64() * 1e4})
		if after := tr.Factor(path(who)); after > own+1e-12 && own < 1 {
			t.Fatalf("%s used more and rose from %v to %v", who, own, after)
		}
		if after := tr.Factor(path(other)); after < others-1e-12 && others < 1 {
			t.Fatalf("%s used more and %s fell from %v to %v", who, other, others, after)
		}
	}
}

func TestMemoryAndDamping(t *testing.T) {
	r := settings(nil)
	r.Memory, r.Damping = 0.25, 2
	tr := tree(t, r)
	tr.Charge(path("a"), noon, fairshare.Usage{CPUSec: 10, GiBSec: 40})
	tr.Charge(path("b"), noon, fairshare.Usage{CPUSec: 20})
	tr.Charge(path("b"), noon, fairshare.Usage{CPUSec: -5})
	tr.Charge(path("b"), noon, fairshare.Usage{CPUSec: math.NaN()})
	tr.Charge(path("b"), noon, fairshare.Usage{CPUSec: math.Inf(1)})
	if a, b := tr.Used(path("a"), noon), tr.Used(path("b"), noon.Add(week)); !near(a, 20) || !near(b, 10) {
		t.Errorf("used %v and %v", a, b)
	}
	if f := tr.Factor(path("a")); !near(f, math.Sqrt(0.5)) {
		t.Errorf("damped: %v", f)
	}
	if u := tr.Used(path("unknown"), noon); u != 0 {
		t.Errorf("unknown: %v", u)
	}
}

func TestWrongRules(t *testing.T) {
	for field, change := range map[string]func(*fairshare.Settings){
		"half_life":     func(r *fairshare.Settings) { r.HalfLife = 0 },
		"cpu":           func(r *fairshare.Settings) { r.CPU = -1 },
		"memory":        func(r *fairshare.Settings) { r.Memory = math.NaN() },
		"damping":       func(r *fairshare.Settings) { r.Damping = 0.5 },
		"share":         func(r *fairshare.Settings) { r.Share = 0 },
		"shares.a":      func(r *fairshare.Settings) { r.Shares = map[string]float64{"a": -1} },
		"shares.a//bob": func(r *fairshare.Settings) { r.Shares = map[string]float64{"a//bob": 1} },
	} {
		r := settings(nil)
		change(&r)
		_, err := fairshare.New(r)
		if wrong, ok := errors.AsType[*cluster.FieldError](err); !ok || wrong.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	r := settings(nil)
	r.CPU = 0
	if _, err := fairshare.New(r); err == nil {
		t.Error("nothing counts, and that is no error")
	}
}

func ExampleTree_Factor() {
	tree, _ := fairshare.New(fairshare.Settings{HalfLife: week, CPU: 1, Share: 1, Shares: map[string]float64{"physics": 2, "biology": 1}})
	tree.Charge(fairshare.Path{"physics", "ann"}, noon, fairshare.Usage{CPUSec: 3600})
	tree.Charge(fairshare.Path{"biology", "bob"}, noon, fairshare.Usage{CPUSec: 3600})
	fmt.Printf("%.2f %.2f", tree.Factor(fairshare.Path{"physics", "ann"}), tree.Factor(fairshare.Path{"biology", "bob"}))
	// Output: 0.59 0.35
}

func BenchmarkCharge(b *testing.B) {
	tr := tree(b, settings(nil))
	at := noon
	for b.Loop() {
		at = at.Add(time.Second)
		tr.Charge(fairshare.Path{"physics", "ann"}, at, fairshare.Usage{CPUSec: 1})
	}
}

func BenchmarkFactor(b *testing.B) {
	tr := tree(b, settings(nil))
	tr.Charge(fairshare.Path{"physics", "ann"}, noon, fairshare.Usage{CPUSec: 1})
	for b.Loop() {
		tr.Factor(fairshare.Path{"physics", "ann"})
	}
}

// Rename moves the use of a user, which starts anew with the same share.
func TestRename(t *testing.T) {
	tr := tree(t, settings(map[string]float64{"physics": 2, "physics/ann": 3, "ann/x": 1}))
	tr.Charge(path("physics/ann"), noon, fairshare.Usage{CPUSec: 10})
	tr.Charge(path("physics/bob"), noon, fairshare.Usage{CPUSec: 5})
	tr.Charge(path("eve"), noon, fairshare.Usage{CPUSec: 1})
	other := tr.Factor(path("physics/bob"))
	tr.Rename("ann", "ann#7")
	tr.Rename("eve", "eve#8")
	tr.Rename("unknown", "unknown#9")
	for who, want := range map[string]float64{
		"physics": 15, "physics/ann": 0, "physics/ann#7": 10, "physics/bob": 5, "eve": 0, "eve#8": 1, "ann": 0, "ann/x": 0,
	} {
		if got := tr.Used(path(who), noon); !near(got, want) {
			t.Errorf("%s has used %v, want %v", who, got, want)
		}
	}
	// As after a restart, when the charges of the former name are counted again.
	again := tree(t, settings(map[string]float64{"physics": 2, "physics/ann": 3, "ann/x": 1}))
	again.Charge(path("physics/ann#7"), noon, fairshare.Usage{CPUSec: 10})
	again.Charge(path("physics/bob"), noon, fairshare.Usage{CPUSec: 5})
	again.Charge(path("eve#8"), noon, fairshare.Usage{CPUSec: 1})
	for _, who := range []string{"physics/ann", "physics/ann#7", "physics/bob", "eve", "eve#8"} {
		if got, want := tr.Factor(path(who)), again.Factor(path(who)); !near(got, want) {
			t.Errorf("the factor of %s is %v, after a start %v", who, got, want)
		}
	}
	if now := tr.Factor(path("physics/bob")); now == other {
		t.Error("the share of a former user does not count as one")
	}
}
