// Package completion tells shells what can follow on a command line: numbers and names of vjobs, nodes, queues and so on,
// from the daemon, and words that are fixed. It is silent if there is no daemon.
//
// Nothing is registered at the commands: the placeholders of their usage, such as VJOB or NODE, say what completes their
// arguments and flags. See tables.go.
package completion

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"vjob/api/client"
	"vjob/cmd/vjob/cli"
	"vjob/internal/pattern"
)

// patience is the longest time that a shell waits for the daemon.
const patience = time.Second

// source offers what can be typed in one place. A candidate is a word, or a word, a tab and what it means.
type source func(ctx context.Context, c *client.Client, typed string) []cobra.Completion

// fixed offers words that need no daemon.
func fixed(words ...string) source {
	return func(context.Context, *client.Client, string) []cobra.Completion { return words }
}

var (
	free  = fixed() // text that cannot be foreseen
	files source    // nil: the shell completes files
)

// Register completes all arguments and flags of the commands below root that do not complete themselves, if the command
// line asks for completions: for others it would take longer than all the rest of a start.
func Register(a *cli.App, root *cobra.Command, args []string) {
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		r := &registry{a}
		r.visit(root)
	}
	root.InitDefaultCompletionCmd("completion")
	if cmd, _, err := root.Find([]string{"completion"}); err == nil && cmd != root {
		cmd.Short, cmd.Long = "print a script that completes commands, for a shell", help
	}
}

const help = `Prints a script that has your shell complete commands, flags, numbers and names of vjobs, elements of arrays, nodes, queues,
projects, images, labels, pools, plans and so on when you press Tab. For you alone:

  bash   vjob completion bash > ~/.local/share/bash-completion/completions/vjob
         (needs the package bash-completion; the folder may have to be made: mkdir -p)
  zsh    mkdir -p ~/.zfunc; vjob completion zsh > ~/.zfunc/_vjob
         and in ~/.zshrc, before compinit: fpath=(~/.zfunc $fpath)
  fish   vjob completion fish > ~/.config/fish/completions/vjob.fish

For all users, as root: /usr/share/bash-completion/completions/vjob, /usr/share/zsh/vendor-completions/_vjob and
/usr/share/fish/vendor_completions.d/vjob.fish. In this shell only: source <(vjob completion bash).

A new shell has it. Without a daemon the commands and flags are completed all the same.`

// registry registers completions.
type registry struct{ a *cli.App }

func (r *registry) visit(cmd *cobra.Command) {
	if cmd.ValidArgsFunction == nil && len(cmd.ValidArgs) == 0 && cmd.Runnable() {
		cmd.ValidArgsFunction = r.arguments(Placeholders(cmd))
	}
	register := func(f *pflag.Flag) {
		if _, has := cmd.GetFlagCompletionFunc(f.Name); has || f.Value.Type() == "bool" {
			return
		}
		if s, known := Of(cmd, f); known {
			// The error says that the flag does not exist, or is completed already.
			_ = cmd.RegisterFlagCompletionFunc(f.Name, r.words(s, f.Value.Type() == cli.WordsType))
		}
	}
	cmd.LocalFlags().VisitAll(register)
	for _, sub := range cmd.Commands() {
		r.visit(sub)
	}
}

var (
	flagsOfUse  = pattern.New(`--?[a-z][a-z-]* [A-Z|]+`)
	placeholder = pattern.New(`\b[A-Z]{2,}\b( ?\.\.\.|…)?`)
)

// Placeholders returns the arguments that the usage of a command names, such as "VJOB..." and "TIME".
func Placeholders(cmd *cobra.Command) []string {
	_, use, _ := strings.Cut(cmd.Use, " ")
	return placeholder().FindAllString(flagsOfUse().ReplaceAllString(use, ""), -1)
}

// Argument returns the placeholder without the dots that repeat it.
func Argument(placeholder string) (name string, repeated bool) {
	name = strings.TrimRight(placeholder, ".… ")
	return name, name != placeholder
}

// Of returns what completes the value of a flag; known is false for flags that no table has.
func Of(cmd *cobra.Command, f *pflag.Flag) (s source, known bool) {
	word, _ := pflag.UnquoteUsage(f)
	for _, key := range []string{path(cmd) + " --" + f.Name, "--" + f.Name, word, f.Value.Type()} {
		if s, known = sources[key]; known {
			return s, true
		}
	}
	return nil, false
}

// ofArgument returns what completes an argument.
func ofArgument(cmd *cobra.Command, name string) (s source, known bool) {
	for _, key := range []string{path(cmd) + " " + name, name} {
		if s, known = sources[key]; known {
			return s, true
		}
	}
	return nil, false
}

// path is the command without the name of the program.
func path(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
}

// Known reports whether an argument of a command has an entry in the tables.
func Known(cmd *cobra.Command, name string) bool { _, known := ofArgument(cmd, name); return known }

// arguments completes the arguments of a command with these placeholders. After a repeated one the next may follow
// at any place.
func (r *registry) arguments(placeholders []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, given []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		begun := false // the repeated one
		var list []cobra.Completion
		directive := cobra.ShellCompDirectiveNoFileComp
		for i, p := range placeholders {
			name, repeated := Argument(p)
			if !begun && (i > len(given) || i < len(given) && !repeated) {
				continue
			}
			s, known := ofArgument(cmd, name)
			if known && s == nil {
				return nil, cobra.ShellCompDirectiveDefault
			}
			if known {
				words, d := r.words(s, false)(cmd, given, typed)
				list, directive = append(list, words...), directive|d
			}
			if !repeated || len(given) <= i {
				break
			}
			begun = true
		}
		list = slices.DeleteFunc(list, func(c cobra.Completion) bool { return slices.Contains(given, word(c)) })
		return list, directive
	}
}

// word is a candidate without what it means.
func word(c cobra.Completion) string {
	text, _, _ := strings.Cut(c, "\t")
	return text
}

// words completes from a source: of a list the word after the last comma.
func (r *registry) words(s source, list bool) cobra.CompletionFunc {
	if s == nil {
		return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault
		}
	}
	return func(cmd *cobra.Command, _ []string, typed string) (found []cobra.Completion, directive cobra.ShellCompDirective) {
		before := ""
		if list {
			before = typed[:strings.LastIndexByte(typed, ',')+1]
			typed = typed[len(before):]
		}
		directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		for _, candidate := range r.ask(cmd, s, typed) {
			if !strings.HasPrefix(word(candidate), typed) {
				continue
			}
			if strings.HasSuffix(word(candidate), "=") {
				directive |= cobra.ShellCompDirectiveNoSpace
			}
			found = append(found, before+candidate)
		}
		return found, directive
	}
}

// ask asks a source; without a daemon it has nothing to offer.
func (r *registry) ask(cmd *cobra.Command, s source, typed string) []cobra.Completion {
	c, err := r.a.ImpatientClient()
	if err != nil {
		return s(cmd.Context(), nil, typed)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(cmd.Context(), patience)
	defer cancel()
	return s(ctx, c, typed)
}
