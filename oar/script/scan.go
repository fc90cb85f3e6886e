package script

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"vjob/internal/suggest"
	"vjob/oar"
)

// The limits of a script.
const (
	// MaxScript is the maximal length of a script in bytes.
	MaxScript = 1 << 20
	// MaxOptions is the maximal number of options in a script.
	MaxOptions = 1000
	// MaxErrors is the maximal number of errors in a report.
	MaxErrors = 20
)

// linePrefix begins a line with an option.
const linePrefix = "#OAR"

// Scan returns the options in the lines that begin with #OAR, from the second line on. The first line
// must begin with #. name is for messages. The error lists all bad lines and has exit code 12.
func Scan(name, text string) (Options, []oar.Warning, error) {
	s := scanner{src: oar.Source{Name: name, Text: text}}
	if len(text) > MaxScript {
		return nil, nil, s.whole("the script has %d bytes; %d are allowed", len(text), MaxScript)
	}
	if strings.Contains(text, "\x00") {
		return nil, nil, s.whole("the script has a byte 0: want a text")
	}
	number, at := 0, 0
	for line := range strings.Lines(text) {
		number++
		s.line(number, at, strings.TrimRight(line, " \t\r\n"))
		at += len(line)
	}
	if len(s.errs) > 0 {
		s.errs = append(s.errs, &oar.Error{
			Exit: oar.ExitScript, Text: fmt.Sprintf("[ERROR] %d error(s) encountered while parsing the file %s.", s.failed, name),
		})
		return nil, nil, errors.Join(s.errs...)
	}
	return s.options, s.warnings, nil
}

// scanner scans one script.
type scanner struct {
	src      oar.Source
	silent   bool // the first line does not begin with #, so no line counts
	told     bool
	failed   int
	errs     []error
	options  Options
	warnings []oar.Warning
}

// line scans one line; at is its offset in the script.
func (s *scanner) line(number, at int, line string) {
	if number == 1 {
		s.silent = !strings.HasPrefix(line, "#")
	}
	rest, ok := strings.CutPrefix(line, linePrefix)
	given := strings.TrimLeft(rest, " \t")
	if !ok || given == rest || given == "" {
		return
	}
	span := oar.Span{Off: at + len(line) - len(given), End: at + len(line)}
	switch {
	case number == 1:
		s.warn(span, "the first line is not looked at: this option does not count")
		return
	case s.silent && !s.told:
		s.told = true
		s.warn(span, "no option of this script counts, because its first line does not begin with #")
		return
	case s.silent:
		return
	}
	o, err := parseOption(given)
	o.Line = number
	switch {
	case err != nil:
		s.fail(span, line, err)
	case len(s.options) == MaxOptions:
		s.fail(span, line, fmt.Errorf("there are more than %d options", MaxOptions))
	default:
		s.add(o, span)
	}
}

// add adds an option, and warns if it replaces another.
func (s *scanner) add(o Option, at oar.Span) {
	if k, _ := findOption(o.Name); !k.added && o.Name != "property" {
		for _, before := range s.options {
			if before.Name == o.Name {
				s.warn(at, fmt.Sprintf("--%s stands on line %d too; this one counts", o.Name, before.Line))
				break
			}
		}
	}
	s.options = append(s.options, o)
}

// parseOption parses "-l value", "-lvalue", "--resource value" or "--resource=value".
func parseOption(given string) (Option, error) {
	var k scriptOption
	var ok bool
	var value string
	attached := false
	if long, is := strings.CutPrefix(given, "--"); is {
		end := strings.IndexAny(long, "= \t")
		if end < 0 {
			end = len(long)
		}
		if k, ok = findOption(long[:end]); !ok {
			return Option{}, unknown(long[:end])
		}
		attached = strings.HasPrefix(long[end:], "=")
		value = strings.TrimPrefix(long[end:], "=")
	} else {
		letter, is := strings.CutPrefix(given, "-")
		if !is || letter == "" {
			return Option{}, fmt.Errorf("want an option such as -l nodes=2")
		}
		_, size := utf8.DecodeRuneInString(letter)
		if k, ok = findLetter(letter[:size]); !ok {
			return Option{}, fmt.Errorf("-%s is no option for a script", oar.Printable(letter[:size]))
		}
		value = letter[size:]
	}
	value = unquoted(strings.TrimLeft(value, " \t"))
	return Option{Name: k.name, Value: value}, k.check(value, attached)
}

func unknown(name string) error {
	names := make([]string, len(scriptOptions))
	for i, k := range scriptOptions {
		names[i] = k.name
	}
	if near := suggest.Nearest(name, names); near != "" {
		return fmt.Errorf("--%s is no option for a script; did you mean --%s?", withoutQuotes(name), near)
	}
	return fmt.Errorf("--%s is no option for a script", withoutQuotes(name))
}

func withoutQuotes(name string) string { return strings.Trim(oar.Quoted(name), `"`) }

// check checks the value of an option.
func (k scriptOption) check(value string, attached bool) error {
	switch {
	case k.takes == noArgument && (value != "" || attached):
		return fmt.Errorf("--%s takes no value", k.name)
	case k.takes != noArgument && value == "":
		return fmt.Errorf("--%s takes a value", k.name)
	case k.takes == numberArgument && (len(value) > 18 || strings.Trim(value, "0123456789") != ""):
		return fmt.Errorf("--%s takes a number, and this is %s", k.name, oar.Quoted(value))
	}
	return nil
}

// unquoted removes the quotes around a whole value, as a shell does.
func unquoted(value string) string {
	if len(value) < 2 || value[0] != '"' && value[0] != '\'' {
		return value
	}
	inner := value[1 : len(value)-1]
	if value[len(value)-1] != value[0] || strings.IndexByte(inner, value[0]) >= 0 {
		return value
	}
	return inner
}

func (s *scanner) warn(at oar.Span, text string) {
	if len(s.warnings) < MaxErrors {
		s.warnings = append(s.warnings, oar.Warning{Position: s.src.At(at), Text: text})
	}
}

// fail records an error with OAR's line.
func (s *scanner) fail(at oar.Span, line string, err error) {
	s.failed++
	if s.failed > MaxErrors {
		return
	}
	s.errs = append(s.errs, &oar.Error{
		Exit: oar.ExitScript, OAR: `/!\ Not able to scan file line: ` + line + ".",
		Position: s.src.At(at), Text: err.Error(),
	})
}

func (s *scanner) whole(format string, args ...any) error {
	return &oar.Error{Exit: oar.ExitScript, OAR: "[ERROR] Cannot open the file " + s.src.Name + ".", Text: s.src.Name + ": " + fmt.Sprintf(format, args...)}
}
