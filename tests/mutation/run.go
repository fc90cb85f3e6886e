package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// suite is the tests of one package, with flags.
type suite struct {
	text    string // the package and the flags of its tests
	pattern string
	args    []string
	bin     string
	dir     string
	digest  string // of the binary
	cpu     int    // seconds of CPU that a mutant may take; time on the wall depends on what else runs
	wall    time.Duration
}

// newSuite reads "./package -flag=value …".
func newSuite(text string) *suite {
	words := strings.Fields(text)
	return &suite{text: strings.Join(words, " "), pattern: words[0], args: words[1:]}
}

// workspace is where the mutated package is built: a folder of its own and an overlay, so
// that the work tree is not touched.
type workspace struct {
	dir  string
	tags string
}

// overlay writes the files of the schema.
func (b *workspace) overlay(s *schema) error {
	replace := map[string]string{}
	sources, names := s.render(), s.pkg.names
	sources = append(sources, fmt.Appendf(nil, support, s.pkg.files[0].Name.Name))
	for i, src := range sources {
		name := supportFile
		if i < len(names) {
			name = names[i]
		}
		file := filepath.Join(b.dir, name)
		if err := os.WriteFile(file, src, 0o600); err != nil {
			return err
		}
		replace[filepath.Join(s.pkg.dir, name)] = file
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(b.dir, "overlay.json"), text, 0o600)
}

// build compiles the tests of a suite, and runs them once without a mutant: they have to
// pass, and the time that they take bounds that of each mutant.
func (b *workspace) build(ctx context.Context, s *suite, number int) error {
	out, err := exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", "-tags="+b.tags, s.pattern).Output()
	if err != nil {
		return fmt.Errorf("go list %s: %w", s.pattern, err)
	}
	s.dir, s.bin = strings.TrimSpace(string(out)), filepath.Join(b.dir, fmt.Sprintf("%d.test", number))
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-tags="+b.tags, "-overlay="+filepath.Join(b.dir, "overlay.json"), "-o", s.bin, s.pattern)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go test -c %s: %w\n%s", s.pattern, err, out)
	}
	binary, err := os.ReadFile(s.bin)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(binary)
	s.digest, s.cpu, s.wall = hex.EncodeToString(sum[:8]), 600, 10*time.Minute
	began := time.Now()
	failed, by, used := s.run(ctx, 0)
	if failed {
		return fmt.Errorf("the tests of %s fail before any mutant: %s", s.pattern, by)
	}
	s.cpu, s.wall = 2+int(5*used.Seconds()), time.Minute+20*time.Since(began)
	return nil
}

var failure = regexp.MustCompile(`(?m)^(?:\s*--- FAIL: (\S+)|(?:panic|fatal error|runtime): (.*))`)

// run runs the tests on one mutant; it reports whether they notice, by what, and how much
// CPU they used.
func (s *suite) run(ctx context.Context, id int) (failed bool, by string, used time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, s.wall)
	defer cancel()
	// What grows without end must not take the memory of the machine.
	limits := fmt.Sprintf(`ulimit -v 6000000 -t %d; exec "$0" "$@"`, s.cpu)
	cmd := exec.CommandContext(ctx, "bash", append([]string{"-c", limits, s.bin, "-test.failfast", "-test.short"}, s.args...)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Dir, cmd.WaitDelay = &out, &out, s.dir, time.Second
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", variable, id))
	err := cmd.Run()
	if cmd.ProcessState != nil {
		used = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	if err == nil {
		return false, "", used
	}
	found := failure.FindStringSubmatch(out.String())
	switch {
	case ctx.Err() != nil:
		by = "it does not end"
	case found == nil:
		first, _, _ := strings.Cut(out.String(), "\n")
		by = strings.TrimSuffix(err.Error()+": "+first, ": ")
	case found[1] != "":
		by = found[1]
	default:
		by = "panic: " + found[2]
	}
	return true, by, used
}
