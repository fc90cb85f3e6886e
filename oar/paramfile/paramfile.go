// Package paramfile reads the parameters of an array job, for oarsub
// --array-param-file: a line for each sub-job.
//
//	# temperature pressure
//	100 "low pressure"
//	200 high   # the hot one
//
// A line is put behind the command as it stands, so what it says is for the shell;
// its quotes must be closed. Empty lines and comments count for nothing. A # begins a
// comment where a shell would take it for one: at the beginning of a word, outside of
// quotes. (OAR takes any, also one between quotes.)
package paramfile

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"vjob/oar/message"
)

// The limits of a file.
const (
	// MaxText is the most bytes.
	MaxText = 16 << 20
	// MaxLines is the most parameters, and so the largest array.
	MaxLines = 100_000
	// MaxLine is the most bytes of one.
	MaxLine = 16 << 10
)

// Parameters is what one sub-job gets.
type Parameters struct {
	Line int    // of the file, from 1
	Text string // without a comment, and blanks at the ends
}

// Parse reads a file; name is for messages. The error is a [*message.Error]: exit
// code 6 for a file without parameters, 12 for one that cannot be read.
func Parse(name, text string) ([]Parameters, error) {
	src := message.Source{Name: name, Text: text}
	if len(text) > MaxText {
		return nil, refuse(name, fmt.Sprintf("the file has %d bytes; %d are allowed", len(text), MaxText))
	}
	var list []Parameters
	number, at := 0, 0
	for line := range strings.Lines(text) {
		number++
		size, wrong := cut(strings.TrimRight(line, "\r\n"))
		if wrong != nil {
			wrong.span.Off, wrong.span.End = wrong.span.Off+at, wrong.span.End+at
			return nil, wrong.in(src)
		}
		if p := strings.Trim(line[:size], " \t"); p != "" {
			if len(list) == MaxLines {
				return nil, refuse(name, fmt.Sprintf("there are more than %d lines of parameters", MaxLines))
			}
			list = append(list, Parameters{number, p})
		}
		at += len(line)
	}
	if len(list) == 0 {
		return nil, &message.Error{
			Exit: message.ExitArray, OAR: "# Error: an array job must have a positive number of sub-jobs.",
			Text: name + ": there are no parameters: want a line for each sub-job",
		}
	}
	return list, nil
}

// fault is what is wrong with a line.
type fault struct {
	span message.Span
	text string
}

func (f *fault) in(src message.Source) error {
	return &message.Error{Exit: message.ExitScript, OAR: unreadable(src.Name), Place: src.At(f.span), Text: f.text}
}

func refuse(name, text string) error {
	return &message.Error{Exit: message.ExitScript, OAR: unreadable(name), Text: name + ": " + text}
}

func unreadable(name string) string { return "[ERROR] Cannot open the parameter file " + name + "." }

// cut is where the parameters of a line end: before its comment, or at its end.
func cut(line string) (size int, wrong *fault) {
	if len(line) > MaxLine {
		return 0, &fault{message.Span{Off: 0, End: 1}, fmt.Sprintf("the line has %d bytes; %d are allowed", len(line), MaxLine)}
	}
	quote, opened := byte(0), 0
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c >= utf8.RuneSelf || c < ' ' || c == 0x7f:
			size, wrong := letter(line, i)
			if wrong != nil {
				return 0, wrong
			}
			i += size - 1
		case c == '\\' && quote != '\'' && i+1 < len(line) && line[i+1] >= ' ' && line[i+1] < 0x7f:
			i++ // what follows means itself
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, opened = c, i
		case quote == 0 && c == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t'):
			return i, nil
		}
	}
	if quote != 0 {
		return 0, &fault{message.Span{Off: opened, End: opened + 1}, fmt.Sprintf("the quote is open: want %c before the end of the line", quote)}
	}
	return len(line), nil
}

// letter is the length of a letter that is no plain one, which belongs to a text.
func letter(line string, at int) (size int, wrong *fault) {
	r, size := utf8.DecodeRuneInString(line[at:])
	span := message.Span{Off: at, End: at + size}
	switch {
	case r == utf8.RuneError && size == 1:
		return 0, &fault{span, fmt.Sprintf("the byte %#02x is not UTF-8: want a text", line[at])}
	case r != '\t' && unicode.IsControl(r):
		return 0, &fault{span, fmt.Sprintf("the character %U stands here: want a text", r)}
	}
	return size, nil
}
