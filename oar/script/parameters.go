package script

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"vjob/oar"
)

// The limits of a parameter file.
const (
	// MaxParameterFile is the maximal length of a file in bytes.
	MaxParameterFile = 16 << 20
	// MaxParameterLines is the maximal number of lines, and of sub-jobs of an array.
	MaxParameterLines = 100_000
	// MaxParameterLine is the maximal length of a line in bytes.
	MaxParameterLine = 16 << 10
)

// Parameters are the parameters of one sub-job.
type Parameters struct {
	Line int    // of the file, from 1
	Text string // without comment and surrounding blanks
}

// ParseParameters parses a file with one line for each sub-job; name is for messages:
//
//	# temperature pressure
//	100 "low pressure"
//	200 high   # the hot one
//
// A line is appended to the command as it is, so the shell expands it; its quotes must be closed.
// Empty lines and comments are skipped. As in a shell, a # begins a comment only at the beginning of
// a word outside of quotes. (In OAR every # does.)
//
// The error is an [*oar.Error] with exit code 6 for a file without parameters, 12 for an unreadable
// file.
func ParseParameters(name, text string) ([]Parameters, error) {
	src := oar.Source{Name: name, Text: text}
	if len(text) > MaxParameterFile {
		return nil, parameterFileError(name, fmt.Sprintf("the file has %d bytes; %d are allowed", len(text), MaxParameterFile))
	}
	var list []Parameters
	number, at := 0, 0
	for line := range strings.Lines(text) {
		number++
		size, wrong := parameterEnd(strings.TrimRight(line, "\r\n"))
		if wrong != nil {
			wrong.span.Off, wrong.span.End = wrong.span.Off+at, wrong.span.End+at
			return nil, wrong.in(src)
		}
		if p := strings.Trim(line[:size], " \t"); p != "" {
			if len(list) == MaxParameterLines {
				return nil, parameterFileError(name, fmt.Sprintf("there are more than %d lines of parameters", MaxParameterLines))
			}
			list = append(list, Parameters{number, p})
		}
		at += len(line)
	}
	if len(list) == 0 {
		return nil, &oar.Error{
			Exit: oar.ExitArray, OAR: "# Error: an array job must have a positive number of sub-jobs.",
			Text: name + ": there are no parameters: want a line for each sub-job",
		}
	}
	return list, nil
}

// lineFault is a fault in a line.
type lineFault struct {
	span oar.Span
	text string
}

func (f *lineFault) in(src oar.Source) error {
	return &oar.Error{Exit: oar.ExitScript, OAR: unreadable(src.Name), Position: src.At(f.span), Text: f.text}
}

func parameterFileError(name, text string) error {
	return &oar.Error{Exit: oar.ExitScript, OAR: unreadable(name), Text: name + ": " + text}
}

func unreadable(name string) string { return "[ERROR] Cannot open the parameter file " + name + "." }

// parameterEnd returns where the parameters of a line end: before its comment, or at its end.
func parameterEnd(line string) (size int, wrong *lineFault) {
	if len(line) > MaxParameterLine {
		return 0, &lineFault{oar.Span{Off: 0, End: 1}, fmt.Sprintf("the line has %d bytes; %d are allowed", len(line), MaxParameterLine)}
	}
	quote, opened := byte(0), 0
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c >= utf8.RuneSelf || c < ' ' || c == 0x7f:
			size, wrong := runeLength(line, i)
			if wrong != nil {
				return 0, wrong
			}
			i += size - 1
		case c == '\\' && quote != '\'' && i+1 < len(line) && line[i+1] >= ' ' && line[i+1] < 0x7f:
			i++ // the next character is literal
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, opened = c, i
		case quote == 0 && c == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t'):
			return i, nil
		}
	}
	if quote != 0 {
		return 0, &lineFault{oar.Span{Off: opened, End: opened + 1}, fmt.Sprintf("the quote is open: want %c before the end of the line", quote)}
	}
	return len(line), nil
}

// runeLength returns the length of a non-ASCII or control character, if it may stand in a text.
func runeLength(line string, at int) (size int, wrong *lineFault) {
	r, size := utf8.DecodeRuneInString(line[at:])
	span := oar.Span{Off: at, End: at + size}
	switch {
	case r == utf8.RuneError && size == 1:
		return 0, &lineFault{span, fmt.Sprintf("the byte %#02x is not UTF-8: want a text", line[at])}
	case r != '\t' && unicode.IsControl(r):
		return 0, &lineFault{span, fmt.Sprintf("the character %U stands here: want a text", r)}
	}
	return size, nil
}
