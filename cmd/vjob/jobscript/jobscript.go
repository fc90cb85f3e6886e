// Package jobscript reads the directives of job scripts: #VJOB lines with the flags of vjob submit, and the #SBATCH and
// #OAR lines of scripts for Slurm and OAR, as far as they have a counterpart.
package jobscript

import (
	"errors"
	"fmt"
	"strings"

	"vjob/cluster"
)

// Flags tell what flags a command has.
type Flags interface {
	// Lookup returns the name of the flag that a word such as --name or -q begins, and whether a value may follow
	// as the next word.
	Lookup(word string) (name string, takesValue, known bool)
}

// Directive is one flag that a script gives.
type Directive struct {
	Line        int // from 1
	Flag, Value string
}

// Script is a job script.
type Script struct {
	Name       string
	Text       string // what runs
	Directives []Directive
	// Warnings name what has no counterpart, each with its line.
	Warnings []string
	// First reports that the script runs in the first VM only, as a batch script of Slurm or OAR does.
	First bool
}

// Is reports whether a file is a script rather than a vjob file.
func Is(text string) bool { return strings.HasPrefix(text, "#!") }

// dialect is one kind of directives.
type dialect struct {
	prefix string
	read   func(r *reader, words []string) error
}

var dialects = []dialect{{"#VJOB", (*reader).native}, {"#SBATCH", (*reader).slurm}, {"#OAR", (*reader).oar}}

// reader collects what the lines of a script say.
type reader struct {
	script *Script
	flags  Flags
	line   int
	slurmSize
}

// Read reads the directives in the head of a script: in the lines before the first that is no comment. An error names
// the script and the line.
func Read(name, text string, flags Flags) (Script, error) {
	s := Script{Name: name, Text: text}
	r := reader{script: &s, flags: flags}
	for line := range strings.Lines(text) {
		r.line++
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") {
			break
		}
		for _, d := range dialects {
			rest, ok := strings.CutPrefix(line, d.prefix)
			if !ok || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
				continue
			}
			words, err := wordsOf(rest)
			if err == nil {
				err = d.read(&r, words)
			}
			if err != nil {
				return s, r.at(err)
			}
		}
	}
	r.finish()
	return s, nil
}

// at names the line of an error.
func (r *reader) at(err error) error {
	return fmt.Errorf("%s:%d: %w", r.script.Name, r.line, err)
}

// wordsOf splits a directive as a shell does, up to a comment.
func wordsOf(text string) ([]string, error) {
	words, err := cluster.Words(text)
	if err != nil {
		return nil, cluster.Fault("directive", "%s: a quote is not closed", strings.TrimSpace(text))
	}
	for i, w := range words {
		if strings.HasPrefix(w, "#") {
			return words[:i], nil
		}
	}
	return words, nil
}

func (r *reader) set(flag, value string) {
	r.script.Directives = append(r.script.Directives, Directive{r.line, flag, value})
}

func (r *reader) warn(format string, args ...any) {
	r.script.Warnings = append(r.script.Warnings, fmt.Sprintf("%s:%d: ", r.script.Name, r.line)+fmt.Sprintf(format, args...))
}

// native reads the flags of vjob submit.
func (r *reader) native(words []string) error {
	for len(words) > 0 {
		word, value, given := strings.Cut(words[0], "=")
		words = words[1:]
		if !strings.HasPrefix(word, "-") {
			return cluster.BadField("#VJOB", word, "a flag of vjob submit, such as --vms 4")
		}
		flag, takesValue, known := r.flags.Lookup(word)
		switch {
		case !known:
			return cluster.BadField("#VJOB", word, "a flag of vjob submit")
		case given:
		case !takesValue:
			value = "true"
		case len(words) == 0:
			return cluster.Fault("--"+flag, "no value follows")
		default:
			value, words = words[0], words[1:]
		}
		r.set(flag, value)
	}
	return nil
}

// option is an option of another scheduler with its value.
type option struct {
	name, value string
	given       bool // it has a value
}

// options splits words into options; letters maps the short names. An option whose name is not in takes has no value
// of its own.
func options(words []string, letters map[byte]string, takes func(name string) bool) (list []option, err error) {
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		var o option
		switch long, isLong := strings.CutPrefix(word, "--"); {
		case isLong:
			o.name, o.value, o.given = strings.Cut(long, "=")
		case len(word) > 1 && word[0] == '-':
			name, known := letters[word[1]]
			if !known {
				name = word[:2]
			}
			o.name, o.value, o.given = name, strings.TrimPrefix(word[2:], "="), len(word) > 2
		default:
			return nil, cluster.BadField("directive", word, "an option, such as --nodes=4")
		}
		if !o.given && takes(o.name) {
			if len(words) == 0 {
				return nil, cluster.Fault("--"+o.name, "no value follows")
			}
			o.value, words, o.given = words[0], words[1:], true
		}
		list = append(list, o)
	}
	return list, nil
}

// Locate adds the place of the directive to an error about its flag. A nil script leaves errors as they are.
func (s *Script) Locate(err error) error {
	bad, ok := errors.AsType[*cluster.FieldError](err)
	if s == nil || !ok {
		return err
	}
	for _, d := range s.Directives {
		if bad.Field == "--"+d.Flag {
			return fmt.Errorf("%s:%d: %w", s.Name, d.Line, err)
		}
	}
	return err
}
