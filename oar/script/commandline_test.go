package script_test

import (
	"fmt"
	"strings"
	"testing"

	"vjob/oar"
	"vjob/oar/script"
)

var known = []script.OptionSpec{
	{Name: "interactive", Letter: "I"},
	{Name: "resource", Letter: "l", Argument: script.TextArgument},
	{Name: "reservation", Letter: "r", Argument: script.TextArgument},
	{Name: "array", Argument: script.NumberArgument},
	{Name: "array-param-file", Argument: script.TextArgument},
	{Name: "connect", Letter: "C", Argument: script.OptionalArgument},
	{Name: "json", Letter: "J"},
}

// The options are parsed as by Getopt::Long with gnu_getopt, as in OAR.
func TestParseLine(t *testing.T) {
	for line, want := range map[string]string{
		"":                          "[] []",
		"-l|a|x":                    "[resource=a] [x]",
		"-la|x":                     "[resource=a] [x]",
		"-l=a|x":                    "[resource=a] [x]",
		"x|-IJ|-l|a|y":              "[interactive= json= resource=a] [x y]",
		"-IJla":                     "[interactive= json= resource=a] []",
		"--resource=a=b|--resource": "Option resource requires an argument",
		"--resource|-I":             "[resource=-I] []",
		"--RESOU|a":                 "[resource=a] []",
		"--res|a":                   "Option res is ambiguous (resource, reservation)",
		"--array|-2":                "[array=-2] []",
		"--array=x":                 `Value "x" invalid for option array (number expected)`,
		"--array-|f":                "[array-param-file=f] []",
		"-C":                        "[connect=] []",
		"-C|-I":                     "[connect= interactive=] []",
		"-C|12":                     "[connect=12] []",
		"-C12":                      "[connect=12] []",
		"-I|--|-l|x":                "[interactive=] [-l x]",
		"-":                         "[] [-]",
		"--interactive=1":           "Option interactive does not take an argument",
		"--resorce|a":               "Unknown option: resorce\ndid you mean --resource?",
		"--x":                       "Unknown option: x",
		"-x":                        "Unknown option: x",
		"-é":                        "Unknown option: é",
		"--=":                       "Unknown option:",
	} {
		var words []string
		if line != "" {
			words = strings.Split(line, "|")
		}
		given, arguments, err := script.ParseLine(known, words)
		var got []string
		for _, o := range given {
			got = append(got, o.Name+"="+o.Value)
		}
		text := fmt.Sprint(got, " ", arguments)
		if err != nil {
			text = strings.TrimSpace(err.Error())
			if code, _ := oar.ExitOf(err); code != oar.ExitOption {
				t.Errorf("%s: exit %d", line, code)
			}
		}
		if text != want {
			t.Errorf("%s: %s, want %s", line, text, want)
		}
	}
}

// No line panics, and each word becomes an option, a value or an argument.
func FuzzParseLine(f *testing.F) {
	for _, s := range []string{"-l|a", "--array|1", "-C|-I", "--|x", "-IJlx"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		given, arguments, err := script.ParseLine(known, strings.Split(line, "|"))
		if err == nil && len(given)+len(arguments) == 0 && line != "--" {
			t.Errorf("%q is nothing", line)
		}
	})
}
