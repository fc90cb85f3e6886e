package oar_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"vjob/oar"
)

// grammar is the language that the parser accepts, as a regular expression.
var grammar = regexp.MustCompile(`^\s*(\d{4}-\d{1,2}-\d{1,2}(\s+|$))?(\d{1,2}(:\d{1,2}(:\d{1,2})?)?)?\s*$`)

// Random strings of the characters of dates are parsed exactly if the grammar matches.
func TestParseReadsTheGrammar(t *testing.T) {
	const seed, signs = 6, "0012-- ::\tx+"
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	read := 0
	for range 200_000 {
		text := []byte("2024-02-02 02:02:02")[:4+chance.IntN(16)]
		for range chance.IntN(4) {
			text[chance.IntN(len(text))] = signs[chance.IntN(len(signs))]
		}
		_, _, err := oar.ParseTime(string(text), time.UTC)
		want := grammar.Match(text) && strings.TrimSpace(string(text)) != ""
		if got := err == nil || meaningless(err); got != want {
			t.Fatalf("%q: read %v (%v), but the grammar says %v", text, got, err, want)
		}
		if want {
			read++
		}
	}
	if read < 10_000 {
		t.Errorf("only %d were dates: the test tells little", read)
	}
}

// meaningless reports errors of texts in the grammar: the date does not exist, or has no day.
func meaningless(err error) bool {
	return regexp.MustCompile(`^there is no|has no day|, or YYYY`).MatchString(err.Error())
}
