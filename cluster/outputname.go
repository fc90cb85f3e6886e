package cluster

import (
	"fmt"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds of patterns of output files, in bytes.
const (
	maxOutputPattern = 512
	maxFileName      = 255 // of one part of a path, as file systems have it
)

// outputLetters are the conversions of a pattern, with the most bytes that each can become.
var outputLetters = map[byte]int{'j': 19, 'A': 19, 'a': 10, 'r': 10, 'x': 64, '%': 1}

const wantOutputLetters = "%j (number of the vjob), %A and %a (number and index in its array), %r (rank of the VM), %x (name) or %%"

// ErrorsApart reports whether the standard error goes to a file of its own.
func (t *Terms) ErrorsApart() bool { return t.Error != "" && t.Error != t.Output }

// KeepsOutput reports whether the output goes to files.
func (t *Terms) KeepsOutput() bool { return t.Output != "" || t.Error != "" }

// OutputName returns the path that a pattern of the terms gives for a VM, below the folder of the owner. Outside an
// array %A is the number of the vjob and %a is 0, as for the number of an array and the index in it.
func (j *VJob) OutputName(pattern string, rank int) string {
	array := j.ID
	if j.Array != 0 {
		array = j.Array
	}
	name := ArrayName(j.Name)
	if name == "" {
		name = "vjob"
	}
	values := map[byte]string{
		'j': j.ID.String(), 'A': array.String(), 'a': strconv.Itoa(j.Index), 'r': strconv.Itoa(rank), 'x': name, '%': "%",
	}
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		if pattern[i] == '%' && i+1 < len(pattern) {
			i++
			b.WriteString(values[pattern[i]])
			continue
		}
		b.WriteByte(pattern[i])
	}
	return b.String()
}

// OutputByRank reports whether a pattern names a file for each VM; otherwise all VMs write to one.
func OutputByRank(pattern string) bool { return converts(pattern, 'r') }

// converts reports whether a pattern has a conversion.
func converts(pattern string, letter byte) bool {
	for i := 0; i+1 < len(pattern); i++ {
		if pattern[i] == '%' {
			i++
			if pattern[i] == letter {
				return true
			}
		}
	}
	return false
}

// namesOneVJob reports whether a pattern gives each vjob a file of its own.
func namesOneVJob(pattern string) bool {
	return converts(pattern, 'j') || converts(pattern, 'A') && converts(pattern, 'a')
}

// FitOutput returns a pattern of another system as the terms of a vjob take it: one file for many vjobs gets the number
// of the vjob before its ending. A [FieldError] of the field says why it is no pattern all the same.
func FitOutput(field, pattern string) (string, error) {
	if err := checkOutputPath(field, pattern); err != nil || pattern == "" {
		return pattern, err
	}
	if !namesOneVJob(pattern) {
		ending := path.Ext(pattern)
		pattern = strings.TrimSuffix(pattern, ending) + "-%j" + ending
	}
	return pattern, checkOutput(field, pattern)
}

// checkOutput returns a [FieldError] for a pattern that names no file below the folder of the owner, or none that is
// only this vjob's. An empty pattern is valid.
func checkOutput(field, pattern string) error {
	if err := checkOutputPath(field, pattern); err != nil || pattern == "" {
		return err
	}
	if !namesOneVJob(pattern) {
		return Fault(field, "%s names one file for many vjobs: put %%j into it, or %%A and %%a, such as run-%%j.out", pattern)
	}
	return nil
}

// checkOutputPath returns a [FieldError] for a pattern that names no file below the folder of the owner.
func checkOutputPath(field, pattern string) error {
	switch {
	case pattern == "":
		return nil
	case len(pattern) > maxOutputPattern:
		return BadField(field, pattern, fmt.Sprintf("at most %d bytes", maxOutputPattern))
	case !utf8.ValidString(pattern) || !Printable(pattern, ""):
		return BadField(field, pattern, "a path without control characters")
	case pattern[0] == '/':
		return Fault(field, "%s is absolute: leave out the first /, the file is made below your folder of the output directory", pattern)
	}
	for part := range strings.SplitSeq(pattern, "/") {
		if err := checkOutputPart(field, pattern, part); err != nil {
			return err
		}
	}
	return nil
}

// checkOutputPart checks what stands between two slashes.
func checkOutputPart(field, pattern, part string) error {
	length := 0
	for i := 0; i < len(part); i++ {
		if part[i] != '%' {
			length++
			continue
		}
		if i++; i == len(part) {
			return Fault(field, "%s has a %% at the end of a name: want %s", pattern, wantOutputLetters)
		}
		most, known := outputLetters[part[i]]
		if !known {
			letter, _ := utf8.DecodeRuneInString(part[i:])
			return Fault(field, "%s has %%%c: want %s", pattern, letter, wantOutputLetters)
		}
		length += most
	}
	switch {
	case part == "":
		return Fault(field, "%s has an empty name: leave out the / at the end or beside another one", pattern)
	case part == "..":
		return Fault(field, "%s has .. in it: the file is made below your folder of the output directory", pattern)
	case part[0] == '.':
		return Fault(field, "%s has a name that begins with a dot: files of programs' settings are not written", pattern)
	case length > maxFileName:
		return BadField(field, pattern, fmt.Sprintf("names of at most %d bytes with all numbers", maxFileName))
	}
	return nil
}
