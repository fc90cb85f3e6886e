// Command mutation changes one small thing at a time in a package and shows which changes
// no test notices: a condition that always holds, a bound moved by one, a call left out.
//
//	go run ./tests/mutation [-also './tests/sim -seeds=20'] ./ctxswitch/gang [flags of its tests]
//
// All mutants of a package are compiled into one test binary, and an environment variable
// chooses one of them: hundreds run in a minute. The files that are compiled come from an
// overlay; the work tree is not touched. The tests of the package run first, then those
// of the packages after -also. A mutant that all of them pass survives: a test is missing,
// or the mutant means the same and equivalent.txt says why. Results stay in a file below
// .cache; those of the same tests are not run again, so that a run can be interrupted.
//
// The mutants are made by rule and are many. tests/mutants holds others: few, written by
// hand, each a mistake of the protocol that took the simulation to find.
package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
)

// options is what the command line says.
type options struct {
	pattern, tags, cache string
	also                 []string
	files                string // or lines of them, comma between them; "" for all
	sample               int
	seed                 uint64
	parallel             int
	list, survivors      bool
	known                string // in place of equivalent.txt
}

func main() {
	var o options
	flag.StringVar(&o.tags, "tags", "libvirt_dlopen", "build tags")
	flag.StringVar(&o.cache, "cache", ".cache/mutation", "folder of results")
	flag.StringVar(&o.files, "files", "", "mutate these files of the package, or lines of them, only, as in a.go,b.go:12")
	flag.IntVar(&o.sample, "sample", 0, "run that many mutants only, drawn by -seed")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of -sample")
	flag.IntVar(&o.parallel, "parallel", 1, "mutants at a time")
	flag.BoolVar(&o.list, "list", false, "list the mutants and run none")
	flag.BoolVar(&o.survivors, "survivors", false, "take for granted what tests have noticed before, and run the others only")
	flag.Func("also", "tests that run on what the package's own let pass: './package -flag=value'; may be repeated", func(text string) error {
		if strings.TrimSpace(text) == "" {
			return fmt.Errorf("it names no package: write './tests/sim -seeds=20'")
		}
		o.also = append(o.also, text)
		return nil
	})
	flag.Parse()
	o.pattern, o.known = strings.Join(flag.Args(), " "), equivalentText
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	open, err := o.run(ctx, os.Stdout)
	stop()
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "mutation:", err)
		os.Exit(2)
	case open > 0:
		os.Exit(1)
	}
}

// run makes the mutants of a package and runs the tests on them. It returns how many
// survive without an explanation, or are explained wrongly.
func (o *options) run(ctx context.Context, w io.Writer) (int, error) {
	own := newSuite(o.pattern)
	p, err := load(own.pattern, o.tags)
	if err != nil {
		return 0, err
	}
	s, err := newSchema(p)
	if err != nil {
		return 0, err
	}
	if o.list {
		return 0, list(w, s.mutants())
	}
	_, short, _ := strings.Cut(p.path, "/")
	reasons, err := equivalents(o.known, short)
	if err != nil {
		return 0, err
	}
	b := &workspace{tags: o.tags}
	b.dir, err = os.MkdirTemp("", "mutation")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(b.dir) //nolint:errcheck // in the folder of temporary files
	if err := b.overlay(s); err != nil {
		return 0, err
	}
	var suites []*suite
	for i, text := range append([]string{o.pattern}, o.also...) {
		suites = append(suites, newSuite(text))
		if err := b.build(ctx, suites[i], i); err != nil {
			return 0, err
		}
	}
	kept, err := openResults(filepath.Join(o.cache, strings.ReplaceAll(short, "/", "_")+".json"))
	if err != nil {
		return 0, err
	}
	defer kept.file.Close() //nolint:errcheck // each line was checked when it was written
	mutants := o.draw(o.inFiles(s.mutants()))
	if err := o.tryAll(ctx, mutants, suites, kept); err != nil {
		return 0, err
	}
	return report(w, short, mutants, kept, reasons, o.sample == 0 && o.files == "")
}

// inFiles leaves the mutants of some files, or of some lines of them.
func (o *options) inFiles(mutants []*mutant) []*mutant {
	if o.files == "" {
		return mutants
	}
	names := strings.Split(o.files, ",")
	return slices.DeleteFunc(mutants, func(m *mutant) bool {
		return !slices.Contains(names, m.file) && !slices.Contains(names, fmt.Sprintf("%s:%d", m.file, m.line))
	})
}

// draw takes a sample of the mutants, in their order.
func (o *options) draw(mutants []*mutant) []*mutant {
	if o.sample <= 0 || o.sample >= len(mutants) {
		return mutants
	}
	rng := rand.New(rand.NewPCG(o.seed, 0))
	rng.Shuffle(len(mutants), func(i, j int) { mutants[i], mutants[j] = mutants[j], mutants[i] })
	mutants = mutants[:o.sample]
	slices.SortFunc(mutants, func(a, b *mutant) int { return cmp.Compare(a.id, b.id) })
	return mutants
}

// tryAll runs the tests on each mutant of which no result of the same tests is kept.
func (o *options) tryAll(ctx context.Context, mutants []*mutant, suites []*suite, kept *results) error {
	var all strings.Builder
	for _, s := range suites {
		fmt.Fprintln(&all, s.digest, s.args)
	}
	sum := sha256.Sum256([]byte(all.String()))
	digest := hex.EncodeToString(sum[:8])
	var mu sync.Mutex
	var wg sync.WaitGroup
	var failed error
	work := make(chan *mutant)
	for range max(1, o.parallel) {
		wg.Go(func() {
			for m := range work {
				one := try(ctx, m, suites)
				one.Digest = digest
				mu.Lock()
				if ctx.Err() == nil {
					failed = cmp.Or(failed, kept.add(one))
				}
				mu.Unlock()
			}
		})
	}
	for _, m := range mutants {
		mu.Lock()
		old, ok := kept.last[m.name()]
		mu.Unlock()
		known := ok && (old.Digest == digest || o.survivors && old.Suite != "")
		if !known && ctx.Err() == nil {
			work <- m
		}
	}
	close(work)
	wg.Wait()
	return cmp.Or(failed, ctx.Err())
}

// try runs one suite after another until one notices the mutant.
func try(ctx context.Context, m *mutant, suites []*suite) result {
	one := result{Mutant: m.name(), Place: fmt.Sprintf("%s:%d", m.file, m.line)}
	for _, s := range suites {
		if failed, by, _ := s.run(ctx, m.id); failed {
			one.Suite, one.By = s.text, by
			break
		}
	}
	return one
}

func list(w io.Writer, mutants []*mutant) error {
	var b strings.Builder
	for _, m := range mutants {
		fmt.Fprintf(&b, "%d\t%s:%d\t%s\n", m.id, m.file, m.line, m.name())
	}
	return align(w, b.String())
}

// align writes lines with tabs as a table.
func align(w io.Writer, text string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if _, err := io.WriteString(t, text); err != nil {
		return err
	}
	return t.Flush()
}

// report shows the survivors and how many mutants were noticed by what. Of all mutants it
// also demands that the explained ones exist and survive.
func report(w io.Writer, pkg string, mutants []*mutant, kept *results, reasons map[string]string, all bool) (int, error) {
	noticed, explained, survivors, wrong := map[string]int{}, 0, 0, 0
	var b strings.Builder
	for _, m := range mutants {
		one := kept.last[m.name()]
		_, known := reasons[m.name()]
		delete(reasons, m.name())
		switch {
		case one.Suite != "":
			noticed[one.Suite]++
			if known {
				fmt.Fprintf(&b, "NOT EQUIVALENT\t%s:%d\t%s\tnoticed by %s\n", m.file, m.line, m.name(), one.By)
				wrong++
			}
		case known:
			explained++
		default:
			survivors++
			fmt.Fprintf(&b, "SURVIVES\t%s:%d\t%s\n", m.file, m.line, m.name())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(reasons)) {
		if all {
			fmt.Fprintf(&b, "NO SUCH MUTANT\tequivalent.txt\t%s\n", name)
			wrong++
		}
	}
	fmt.Fprintf(&b, "%s: %d mutants", pkg, len(mutants))
	for _, name := range slices.Sorted(maps.Keys(noticed)) {
		fmt.Fprintf(&b, ", %d noticed by %s", noticed[name], name)
	}
	fmt.Fprintf(&b, ", %d explained, %d survive\n", explained, survivors)
	return survivors + wrong, align(w, b.String())
}
