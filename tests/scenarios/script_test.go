package scenarios_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// line is one line of a script, in words. Text in quotes is one word.
type line struct {
	number int
	text   string
	words  []string
}

// readScript splits a script into lines, without comments and empty lines.
func readScript(text string) (head line, rest []line, err error) {
	for i, raw := range strings.Split(text, "\n") {
		l := line{number: i + 1, text: strings.TrimSpace(raw)}
		if l.text == "" || strings.HasPrefix(l.text, "#") {
			continue
		}
		if l.words, err = words(l.text); err != nil {
			return head, nil, l.failed(err)
		}
		rest = append(rest, l)
	}
	if len(rest) == 0 || rest[0].words[0] != "row" {
		return head, nil, errors.New("1: the first line must be \"row N: …\"")
	}
	return rest[0], rest[1:], nil
}

func (l line) failed(err error) error { return fmt.Errorf("%d: %s: %w", l.number, l.text, err) }

// words splits a line at spaces, but not inside quotes. A quoted word keeps its opening quote.
func words(s string) ([]string, error) {
	var list []string
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		if s[0] == '"' {
			text, rest, ok := strings.Cut(s[1:], `"`)
			if !ok {
				return nil, errors.New("a quote is not closed")
			}
			list, s = append(list, `"`+text), rest
			continue
		}
		word, rest, _ := strings.Cut(s, " ")
		list, s = append(list, word), rest
	}
	return list, nil
}

// quoted returns a word that must have been quoted.
func quoted(word string) (string, error) {
	text, ok := strings.CutPrefix(word, `"`)
	if !ok {
		return "", fmt.Errorf("%q: want a text in quotes", word)
	}
	return text, nil
}

// settings reads "name=value" words, and refuses names that are not known.
func settings(list []string, known ...string) (map[string]string, error) {
	set := map[string]string{}
	for _, word := range list {
		name, value, ok := strings.Cut(word, "=")
		found := false
		for _, k := range known {
			found = found || k == name
		}
		if !ok || !found {
			return nil, fmt.Errorf("%q: want one of %v, each with a value", word, known)
		}
		set[name] = value
	}
	return set, nil
}

// parseResources reads "2cpu" and "2GiB".
func parseResources(cpu, memory string) (r cluster.Resources, err error) {
	number, ok := strings.CutSuffix(cpu, "cpu")
	if !ok {
		return r, fmt.Errorf("%q: want CPU, such as 2cpu", cpu)
	}
	if r.CPU, err = cluster.ParseCPU(number); err != nil {
		return r, err
	}
	r.Memory, err = cluster.ParseMiB(memory)
	return r, err
}

// parseWork reads "5m" or "2m*0.5cpu+1m*2cpu" into the steps of a guest.
func parseWork(s string, cpu cluster.MilliCPU) ([]cluster.Step, error) {
	var steps []cluster.Step
	for part := range strings.SplitSeq(s, "+") {
		length, need, own := strings.Cut(part, "*")
		step := cluster.Step{CPU: cpu}
		var err error
		if step.Duration, err = time.ParseDuration(length); err != nil {
			return nil, err
		}
		if own {
			if step.CPU, err = cluster.ParseCPU(strings.TrimSuffix(need, "cpu")); err != nil {
				return nil, err
			}
		}
		steps = append(steps, step)
	}
	return steps, nil
}

// parseVerb reads the name of a hypervisor's verb.
func parseVerb(s string) (v hypervisor.Verb, err error) {
	err = v.UnmarshalText([]byte(s))
	return v, err
}

// parseCount reads a number from 0.
func parseCount(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q: want a number", s)
	}
	return n, nil
}
