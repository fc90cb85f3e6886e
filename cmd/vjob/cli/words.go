package cli

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// WordsVar gives a command a flag for words with commas between them, which can be given several times. Unlike the
// lists of pflag, which are CSV, it costs nothing at each start of the program, for each command.
func WordsVar(flags *pflag.FlagSet, list *[]string, name string, usual []string, usage string) {
	*list = usual
	flags.Var(&words{list: list}, name, usage)
}

// words is the value of such a flag.
type words struct {
	list  *[]string
	given bool // they are no longer the usual ones
}

// Set adds words; the first ones take the place of the usual ones.
func (w *words) Set(text string) error {
	if !w.given {
		*w.list, w.given = []string{}, true
	}
	if text != "" {
		*w.list = slices.AppendSeq(*w.list, strings.SplitSeq(text, ","))
	}
	return nil
}

// String returns the words.
func (w *words) String() string {
	if w.list == nil { // pflag asks a zero value
		return ""
	}
	return strings.Join(*w.list, ",")
}

// WordsType is the type that pflag tells of flags for words.
const WordsType = "words"

// Type returns [WordsType].
func (w *words) Type() string { return WordsType }
