package request_test

import (
	"strings"
	"testing"

	"vjob/oar"
	"vjob/oar/request"
)

// Errors about limits name the limit and are short.
func TestLimits(t *testing.T) {
	many := func(n int, s string) string { return strings.Repeat(s, n) }
	for _, c := range []struct{ name, text, want string }{
		{"a megabyte", many(1<<20, "x"), "the request has 1048576 bytes; 65536 are allowed"},
		{"a megabyte of braces", many(1<<20, "{"), "65536 are allowed"},
		{"open braces", many(1<<16, "{"), "the { is open"},
		{"open quotes", "{a='" + many(60000, "x") + "}/nodes=1", "the ' is open"},
		{"quotes without an end", "{a=" + many(60001, "'"), "the { is open"},
		{"groups", many(1001, "+a=1"), "there are more than 1000 groups"},
		{"levels", many(33, "/a=1"), "there are more than 32 levels"},
		{"empty levels", "a=1" + many(60000, "/"), ""},
		{"empty groups", "a=1" + many(60000, "+"), "nothing stands behind the +"},
		{"digits", "a=" + many(31, "1"), "a count has at most 30 digits"},
		{"a walltime of digits", "a=1,walltime=" + many(60000, "1"), "want less than 2562047 hours"},
		{"a walltime of colons", "a=1,walltime=1" + many(60000, ":"), ""},
		{"parentheses", "{" + many(60000, "(") + "}", "stand in each other more than 64 deep"},
		{"negations", "{" + many(16000, "NOT ") + "a}", "stand in each other more than 64 deep"},
		{"conditions", "{a" + many(9000, " OR a") + "}", "there are more than 1000 conditions"},
		{"values", "{a IN (1" + many(9000, ",1") + ")}", "a list has at most 1000 values"},
		{"nul", "nodes=\x00", "is no count"},
		{"not UTF-8", "\xff\xfe=1", "want the name of a level"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := request.Parse([]string{c.text}, request.DefaultConfig())
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if code, _ := oar.ExitOf(err); err == nil || !strings.Contains(err.Error(), c.want) || code != oar.ExitRequest {
				t.Fatalf("%v, want %s", err, c.want)
			}
			if len(err.Error()) > 2000 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
	values := strings.Split(many(request.MaxAlternatives, "nodes=1 ")+"nodes=1", " ")
	if _, err := request.Parse(values, request.DefaultConfig()); err == nil || !strings.Contains(err.Error(), "-l is given 101 times; 100 are allowed") {
		t.Error(err)
	}
}
