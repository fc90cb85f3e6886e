package main

import (
	_ "embed"
	"fmt"
	"strings"
)

// equivalentText lists the mutants that no test can or need notice. A paragraph begins
// with the reason, in lines with "# ", and then names mutants, a line each:
//
//	# Both are the same.
//	ctxswitch/gang Record.Clone: `a` => `b`
//
//go:embed equivalent.txt
var equivalentText string

// equivalents are the reasons by the names of mutants.
func equivalents(text, pkg string) (map[string]string, error) {
	reasons := map[string]string{}
	reason, open := "", false
	for n := 1; text != ""; n++ {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		switch about, isReason := strings.CutPrefix(line, "#"); {
		case line == "":
			reason, open = "", false
		case isReason && !open:
			reason = strings.TrimSpace(reason + about)
		case isReason:
			return nil, fmt.Errorf("equivalent.txt:%d: a reason after a mutant: leave a line empty before it", n)
		case reason == "":
			return nil, fmt.Errorf("equivalent.txt:%d: a mutant without a reason: write it above, after #", n)
		default:
			open = true
			if of, name, _ := strings.Cut(line, " "); of == pkg {
				reasons[name] = reason
			}
		}
	}
	return reasons, nil
}
