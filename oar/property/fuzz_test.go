package property_test

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	_ "github.com/mattn/go-sqlite3"

	"vjob/oar"
	"vjob/oar/property"
)

// Any text: no panic; an error has a position; a condition that is formatted parses as the same.
func FuzzProperty(f *testing.F) {
	for _, text := range []string{
		"cluster = 'azur' AND (mem >= 64 OR NOT gpu IS NULL)", "host LIKE 'n%\\_' AND switch NOT IN ('sw1', \"it's\") AND mem BETWEEN -32 AND 12.8",
		"a", "NOT NOT a=b", "(a=1 AND b=2) AND c=3", "1=1", "'", "a IS NOT NULL | b & c <> 'x''y'",
	} {
		f.Add(text)
	}
	same := []cmp.Option{cmpopts.IgnoreTypes(oar.Span{})}
	f.Fuzz(func(t *testing.T, text string) {
		x, err := property.Parse("-p", text)
		if err != nil {
			var e *oar.Error
			if !errors.As(err, &e) || e.Position.Line < 1 || !strings.Contains(e.Position.Excerpt, "^") {
				t.Fatalf("%q is refused by %#v", text, err)
			}
			return
		}
		x.Matches(node)
		if x.Expr == nil {
			return
		}
		again, err := property.Parse("-p", x.Expr.String())
		if err != nil {
			t.Fatalf("%q is formatted as %q: %v", text, x.Expr, err)
		}
		if d := cmp.Diff(x.Expr, again.Expr, same...); d != "" {
			t.Fatalf("%q is formatted as %q:\n%s", text, x.Expr, d)
		}
	})
}

// SQLite agrees with every condition, also about missing properties. The test uses texts and integers
// in columns of their type, where SQL and this package have the same rules.
func TestMeansWhatSQLMeans(t *testing.T) {
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), "PRAGMA case_sensitive_like = ON; CREATE TABLE node (a TEXT, b TEXT, m INTEGER, n INTEGER)"); err != nil {
		t.Fatal(err)
	}
	const seed = 1
	rng := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	for range 3000 {
		of := world(rng)
		text := condition(rng, 3)
		f, err := property.Parse("-p", text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var row []any
		for _, name := range []string{"a", "b", "m", "n"} {
			row = append(row, nil)
			if v, ok := of[name]; ok {
				row[len(row)-1] = v
			}
		}
		if _, err := db.ExecContext(t.Context(), "DELETE FROM node; INSERT INTO node VALUES (?, ?, ?, ?)", row...); err != nil {
			t.Fatal(err)
		}
		want := 0
		if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM node WHERE "+text).Scan(&want); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		got := f.Matches(func(name string) (string, bool) { v, ok := of[name]; return v, ok })
		if got != (want == 1) {
			t.Errorf("seed %d: %s of %v: %v, and %v to SQL", seed, text, of, got, want == 1)
		}
	}
}

// world is a node; a and b are texts, m and n integers. Each may be missing.
func world(rng *rand.Rand) map[string]string {
	of := map[string]string{}
	for _, name := range []string{"a", "b"} {
		if rng.IntN(4) > 0 {
			of[name] = words[rng.IntN(len(words))]
		}
	}
	for _, name := range []string{"m", "n"} {
		if rng.IntN(4) > 0 {
			of[name] = fmt.Sprint(rng.IntN(20) - 5)
		}
	}
	return of
}

var words = []string{"", "x", "xy", "xyx", "Xy", "it''s", "y%", "_"}

// condition returns a random condition over world with a maximal depth.
func condition(rng *rand.Rand, depth int) string {
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	if depth > 0 {
		switch rng.IntN(4) {
		case 0:
			return condition(rng, depth-1) + " AND " + condition(rng, depth-1)
		case 1:
			return condition(rng, depth-1) + " OR " + condition(rng, depth-1)
		case 2:
			return pick("NOT ", "") + "(" + condition(rng, depth-1) + ")"
		}
	}
	name, value := pick("a", "b"), func() string { return "'" + pick(words...) + "'" }
	if rng.IntN(2) == 0 {
		name, value = pick("m", "n"), func() string { return fmt.Sprint(rng.IntN(20) - 5) }
	}
	not := pick("", "NOT ")
	switch rng.IntN(6) {
	case 0:
		return name + " IS " + not + "NULL"
	case 1:
		return name + " " + not + "IN (" + value() + ", " + value() + ")"
	case 2:
		return name + " " + not + "BETWEEN " + value() + " AND " + value()
	case 3:
		return pick("a", "b") + " " + not + "LIKE '" + pick("x%", "%x", "x_", "%y%", "", "%", "__%", "%x%y%", "_") + "'"
	}
	return name + pick("=", "<>", "!=", "<", "<=", ">", ">=") + value()
}
