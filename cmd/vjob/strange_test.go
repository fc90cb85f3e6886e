package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"vjob/cmd/vjob/cli"
)

// strange are values that no command expects, and some that look as if they were right.
var strange = []string{
	"", "0", "-1", "99999999999999999999", "NaN", "p1", "1,,2", "[3-", "n[1-99999999]", "%s%n", "a=", "\x00\xff", "../x", "{{", "2026-13-40", strings.Repeat("9", 5000),
}

// answers are those of servers that say something, nothing or nonsense.
var answers = map[string]http.HandlerFunc{
	"empty object": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") },
	"null":         func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "null") },
	"nonsense":     func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `[{"a":`) },
	"not found": func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"error": "vjob 1: not found"}`, http.StatusNotFound)
	},
}

// No command ends in a panic, whatever its arguments, its flags and the server's answers.
func TestStrangeArguments(t *testing.T) {
	t.Chdir(t.TempDir()) // some flags name files that are written
	for name, answer := range answers {
		server := httptest.NewServer(answer)
		t.Cleanup(server.Close)
		eachCommand(commands(&cli.App{Streams: cli.Standard()}), nil, func(path []string, c *cobra.Command) {
			for n := range 5 {
				mustNotPanic(t, server.URL, path, slices.Repeat([]string{"1"}, n)...)
			}
			if name != "empty object" {
				return
			}
			for i := range strange {
				rotated := slices.Concat(strange[i:], strange[:i])
				for n := range 4 {
					mustNotPanic(t, server.URL, path, append([]string{"--"}, rotated[:n+1]...)...)
				}
			}
			c.Flags().VisitAll(func(f *pflag.Flag) {
				for _, value := range strange {
					mustNotPanic(t, server.URL, path, "--"+f.Name+"="+value)
				}
			})
			server.CloseClientConnections()
		})
	}
}

// eachCommand calls a function for each command that can be run, with the words that name it.
func eachCommand(list []*cobra.Command, path []string, do func(path []string, c *cobra.Command)) {
	for _, c := range list {
		words := append(slices.Clip(path), c.Name())
		if c.Runnable() && strings.Join(words, " ") != "energy day" { // it simulates a day
			do(words, c)
		}
		eachCommand(c.Commands(), words, do)
	}
}

// mustNotPanic runs a command for a moment.
func mustNotPanic(t *testing.T, server string, path []string, args ...string) {
	t.Helper()
	line := append(slices.Clip(path), args...)
	defer func() {
		if fault := recover(); fault != nil {
			t.Errorf("vjob %q: %v\n%s", line, fault, debug.Stack())
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	run(ctx, cli.Streams{
		In: strings.NewReader("x\n"), Out: &bytes.Buffer{}, Err: &bytes.Buffer{}, Now: func() time.Time { return noon },
		Getenv: func(k string) string { return map[string]string{"VJOB_SERVER": server}[k] }, Width: func() int { return 80 },
	}, line)
}
