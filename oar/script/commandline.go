package script

import (
	"fmt"
	"slices"
	"strings"

	"vjob/internal/suggest"
	"vjob/oar"
)

// Argument is the kind of value that an option takes.
type Argument uint8

// The kinds of values.
const (
	NoArgument Argument = iota
	TextArgument
	NumberArgument
	OptionalArgument // text; missing if another option or the end follows
)

// OptionSpec describes an option of a command.
type OptionSpec struct {
	Name     string // without dashes
	Letter   string // may be ""
	Argument Argument
	Meaning  string // for the help, which omits options without one
}

// ParseLine parses a command line without the name of the command. As with Getopt::Long, letters may
// be bundled, long names abbreviated, options and arguments mixed; -- ends the options. The options
// are returned in order, by their long names. The error is an [*oar.Error] with exit code 1.
func ParseLine(known []OptionSpec, line []string) (given Options, arguments []string, err error) {
	p := lineParser{known: known, rest: line}
	for len(p.rest) > 0 {
		word := p.next()
		switch {
		case word == "--":
			return p.given, append(p.arguments, p.rest...), nil
		case strings.HasPrefix(word, "--"):
			err = p.long(word[2:])
		case strings.HasPrefix(word, "-") && word != "-":
			err = p.letters(word[1:])
		default:
			p.arguments = append(p.arguments, word)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return p.given, p.arguments, nil
}

type lineParser struct {
	known     []OptionSpec
	rest      []string
	given     Options
	arguments []string
}

func (p *lineParser) next() string {
	word := p.rest[0]
	p.rest = p.rest[1:]
	return word
}

// long parses name, or name=value.
func (p *lineParser) long(word string) error {
	name, value, valued := strings.Cut(word, "=")
	o, err := p.named(name)
	if err != nil {
		return err
	}
	if o.Argument == NoArgument {
		if valued {
			return optionError(fmt.Sprintf("Option %s does not take an argument", name), "")
		}
		p.add(o, "")
		return nil
	}
	if !valued {
		if value, err = p.behind(o, name); err != nil {
			return err
		}
	}
	return p.value(o, name, value)
}

// letters parses a bundle such as Il. The value of the last letter may follow without a blank.
func (p *lineParser) letters(bundle string) error {
	for i, letter := range bundle {
		at := slices.IndexFunc(p.known, func(o OptionSpec) bool { return o.Letter == string(letter) })
		if at < 0 {
			return optionError("Unknown option: "+string(letter), "")
		}
		o := p.known[at]
		if o.Argument == NoArgument {
			p.add(o, "")
			continue
		}
		value := strings.TrimPrefix(bundle[i+len(string(letter)):], "=")
		if value == "" {
			var err error
			if value, err = p.behind(o, string(letter)); err != nil {
				return err
			}
		}
		return p.value(o, string(letter), value)
	}
	return nil
}

// named finds an option by its name or an unambiguous prefix of it.
func (p *lineParser) named(name string) (OptionSpec, error) {
	var hits []OptionSpec
	var names []string
	for _, o := range p.known {
		if strings.EqualFold(o.Name, name) {
			return o, nil
		}
		if name != "" && len(name) < len(o.Name) && strings.EqualFold(o.Name[:len(name)], name) {
			hits, names = append(hits, o), append(names, o.Name)
		}
	}
	switch len(hits) {
	case 1:
		return hits[0], nil
	case 0:
		var all []string
		for _, o := range p.known {
			all = append(all, o.Name)
		}
		guess := ""
		if near := suggest.Nearest(name, all); near != "" {
			guess = "did you mean --" + near + "?"
		}
		return OptionSpec{}, optionError("Unknown option: "+name, guess)
	}
	return OptionSpec{}, optionError(fmt.Sprintf("Option %s is ambiguous (%s)", name, strings.Join(names, ", ")), "")
}

// behind returns the value of an option from the next word.
func (p *lineParser) behind(o OptionSpec, spelt string) (string, error) {
	none := len(p.rest) == 0 || p.rest[0] == "--"
	if o.Argument == OptionalArgument && (none || strings.HasPrefix(p.rest[0], "-")) {
		return "", nil
	}
	if none {
		return "", optionError(fmt.Sprintf("Option %s requires an argument", spelt), "")
	}
	return p.next(), nil
}

func (p *lineParser) value(o OptionSpec, spelt, value string) error {
	if o.Argument == NumberArgument && !isInteger(value) {
		return optionError(fmt.Sprintf("Value %q invalid for option %s (number expected)", value, spelt), "")
	}
	p.add(o, value)
	return nil
}

func (p *lineParser) add(o OptionSpec, value string) {
	p.given = append(p.given, Option{Name: o.Name, Value: value})
}

func isInteger(text string) bool {
	digits := strings.TrimPrefix(strings.TrimPrefix(text, "-"), "+")
	return digits != "" && strings.Trim(digits, "0123456789") == ""
}

func optionError(line, text string) error {
	return &oar.Error{Exit: oar.ExitOption, OAR: line, Text: text}
}
