package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"vjob/cmd/vjob/cli"
	"vjob/tests/golden"
)

// A command line in a document is a line of a code block, with or without the prompt, or
// inline code in a sentence.
var (
	inBlock    = regexp.MustCompile(`^\s*(?:\$ )?(?:bin/)?vjob ([^#|;&>]*)`)
	inSentence = regexp.MustCompile("`(?:bin/)?vjob ([^`#|;&>]*)")
	flagName   = regexp.MustCompile(`^\[?--([a-z][a-z-]*)`)
)

// commandLines returns the command lines of one document, by line number.
func commandLines(text string) map[int][]string {
	list, block := map[int][]string{}, false
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "```") {
			block = !block
		}
		form := inSentence
		if block {
			form = inBlock
		}
		for _, m := range form.FindAllStringSubmatch(line, -1) {
			list[i+1] = append(list[i+1], m[1])
		}
	}
	return list
}

// TestDocumentsShowExistingCommands checks that each command in a document exists, with its flags.
func TestDocumentsShowExistingCommands(t *testing.T) {
	var files []string
	for _, pattern := range []string{"../../docs/*.md", "../../docs/[a-z]*/*.md"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("no documents match %s: %v", pattern, err)
		}
		files = append(files, names...)
	}
	root := rootCommand()
	found := 0
	for _, name := range append(files, "../../README.md") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for number, lines := range commandLines(string(text)) {
			for _, line := range lines {
				if wrong := fault(root, strings.Fields(line)); wrong != "" {
					t.Errorf("%s:%d: vjob %s: %s", filepath.Base(name), number, line, wrong)
				}
				found++
			}
		}
	}
	t.Logf("%d commands", found)
	if found < 100 {
		t.Errorf("only %d commands were found: the pattern of commands no longer matches", found)
	}
}

// rootCommand returns the command vjob with all that cobra adds to it.
func rootCommand() *cobra.Command {
	root := tree(&cli.App{Streams: cli.Standard()}, []string{cobra.ShellCompRequestCmd})
	root.InitDefaultHelpFlag()
	root.InitDefaultVersionFlag()
	return root
}

// TestDocumentShowsTheCommands compares docs/reference/commands.md with the commands.
func TestDocumentShowsTheCommands(t *testing.T) {
	var b strings.Builder
	b.WriteString("| command | what it does |\n| --- | --- |\n")
	var list func(c *cobra.Command)
	list = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			if sub.Hidden || sub.Name() == "help" || sub.Name() == "completion" {
				continue
			}
			if sub.Runnable() {
				fmt.Fprintf(&b, "| `%s` | %s |\n", strings.ReplaceAll(sub.CommandPath()+strings.TrimPrefix(sub.Use, sub.Name()), "|", "\\|"), sub.Short)
			}
			list(sub)
		}
	}
	list(rootCommand())
	golden.Passage(t, "../../docs/reference/commands.md",
		"<!-- commands: written by go test ./cmd/vjob -update -->\n", "<!-- end of commands -->\n", b.String())
}

// fault describes the missing command or flag of a command line; "" if all exist.
func fault(root *cobra.Command, words []string) string {
	if len(words) == 0 || words[0][0] >= '0' && words[0][0] <= '9' {
		return "" // the program itself, or the beginning of a message about a vjob
	}
	c, rest, err := root.Find(words)
	if err != nil || c == root && !strings.HasPrefix(words[0], "-") {
		return "no such command"
	}
	if c.HasSubCommands() && len(rest) > 0 && rest[0][0] >= 'A' && rest[0][0] <= 'z' {
		return "no such command below vjob " + c.Name()
	}
	for _, word := range rest {
		if word == "--" {
			break // the words of a program follow
		}
		if m := flagName.FindStringSubmatch(word); m != nil && c.Flag(m[1]) == nil && m[1] != "help" {
			return "no flag --" + m[1]
		}
	}
	return ""
}
