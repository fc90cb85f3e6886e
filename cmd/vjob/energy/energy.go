// Package energy has the commands about energy: solve problems from files, compare methods,
// and show the current power and past energy of the cluster and its vjobs.
package energy

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/energy/format"
	"vjob/energy"
	"vjob/energy/solve"
	"vjob/papers/allocation"
)

// Command is `vjob energy`.
func Command(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "energy",
		Short: "show the power of the cluster and its vjobs; allocate CPU shares under power budgets and yield floors, offline",
		Long: `now asks the daemon what the cluster draws, account who has drawn what, consolidation which VMs were moved to
draw less. The others work on files of instances in the format easched/1: hosts with their power, jobs with their
needs, and one of three problems. boundedyield: the least power at a guaranteed yield;
boundedpower: the most yield within a power budget; mixed: a trade of one for the other. No
daemon is needed and nothing real is touched.`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(energySolveCommand(a), energyCheckCommand(a), energyCompareCommand(a), energyDayCommand(a), energyNowCommand(a), energyAccountCommand(a), energyConsolidationCommand(a))
	return cmd
}

// ours is the name of our own method, which is the default.
const ours = "vjob"

// algorithms are the names for --algorithm.
func algorithms() []string {
	names := []string{ours}
	for _, h := range allocation.All() {
		names = append(names, h.Name)
	}
	return names
}

// method is how an instance is solved.
type method struct {
	name     string
	deadline time.Duration // of our own method; 0 is no limit
	seed     uint64
	steps    int
}

// solution is what a method made of an instance.
type solution struct {
	*format.Instance
	algorithm string
	made      *energy.Allocation // nil: none
	measures  energy.Measures
	value     float64
	lp, lbh   float64
	feasible  bool // as far as the bounds can tell
	proved    bool
	why       []string
	elapsed   time.Duration
}

// solveInstance solves an instance, and checks the solution with an independent checker.
func solveInstance(a *cli.App, in *format.Instance, m method, stopped func() bool) (*solution, error) {
	r := &solution{Instance: in, algorithm: m.name}
	began := a.Now()
	if m.name == ours {
		if err := searchAll(a, r, m, began, stopped); err != nil {
			return nil, err
		}
	} else if err := r.follow(m.name); err != nil {
		return nil, err
	}
	r.elapsed = a.Now().Sub(began)
	r.lp, r.feasible = solve.LPBound(in.Problem)
	r.lbh, _ = solve.LBHBound(in.Problem)
	if r.made == nil {
		if len(r.why) == 0 { // the algorithms of the paper give no reasons
			r.why = in.Unplaceable()
		}
		if !r.feasible && len(r.why) == 0 {
			r.why = []string{"even divisible jobs on divisible hosts do not fit"}
		}
		return r, nil
	}
	var faults []string
	if r.measures, faults = in.Check(r.made); len(faults) > 0 {
		return nil, fmt.Errorf("this is a mistake of vjob, please report it: the allocation of %s is wrong, and was not written: %s", in.ID, faults[0])
	}
	r.value = in.Objective.Value(r.measures)
	return r, nil
}

// follow runs one of the published algorithms.
func (r *solution) follow(name string) error {
	for _, h := range allocation.All() {
		if h.Name == name && h.For == r.Objective {
			if len(r.Unplaceable()) == 0 {
				r.made = h.Algorithm(r.Problem)
			}
			return nil
		}
	}
	return cluster.Fault("--algorithm", "%q is not for %s, which instance %s asks for", name, r.Objective, r.ID)
}

// searchAll runs our own method on every processor, each with a seed of its own, until
// the deadline or a proof; with a number of steps, on one, so that the answer is the same
// every time.
func searchAll(a *cli.App, r *solution, m method, began time.Time, stopped func() bool) error {
	workers := runtime.GOMAXPROCS(0)
	if m.steps > 0 {
		workers = 1
	}
	var guard sync.Mutex
	proved := false
	results, errs := make([]*solve.Result, workers), make([]error, workers)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			o := solve.Options{Seed: m.seed + uint64(w)<<32, Steps: m.steps}
			o.Stop = func() bool {
				guard.Lock()
				defer guard.Unlock()
				return proved || stopped() || m.deadline > 0 && a.Now().Sub(began) >= m.deadline
			}
			results[w], errs[w] = solve.Solve(r.Problem, o)
			guard.Lock()
			defer guard.Unlock()
			proved = proved || errs[w] == nil && results[w].Proved
		})
	}
	all.Wait()
	for w, found := range results {
		if errs[w] != nil {
			return errs[w]
		}
		r.proved = r.proved || found.Proved
		if found.Allocation == nil {
			r.why = found.Reasons
		} else if r.made == nil || r.Objective.Better(found.Value, r.value) {
			r.made, r.value = found.Allocation, found.Value
		}
	}
	return nil
}

// readInstances reads the instances of a file, or of all files of a folder.
func readInstances(a *cli.App, path string) (list []*format.Instance, err error) {
	files := []string{path}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		if files, err = instanceFiles(path); err != nil {
			return nil, err
		}
	}
	seen := map[string]string{}
	for _, file := range files {
		err := a.ReadFrom("--in", file, func(r io.Reader, name string) error {
			more, err := format.ReadInstances(r, name)
			for _, in := range more {
				if other, double := seen[in.ID]; double {
					return cluster.Fault("--in", "instance %s of %q is in %s too", in.ID, file, other)
				}
				seen[in.ID] = file
			}
			list = append(list, more...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// instanceFiles are the files of a folder that may hold instances.
func instanceFiles(folder string) (files []string, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		name := strings.TrimSuffix(filepath.Base(path), ".gz")
		if err == nil && entry.Type().IsRegular() && strings.HasSuffix(name, ".json") {
			files = append(files, path)
		}
		return err
	})
	if err == nil && len(files) == 0 {
		err = cluster.BadField("--in", folder, "a folder with files *.json or *.json.gz")
	}
	slices.SortFunc(files, cmp.Compare)
	return files, err
}
