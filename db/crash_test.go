package db_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/db"
	"vjob/tests/storetest"
)

// childVariable makes the test binary the program that is killed, pruneVariable the program
// that prunes.
const (
	childVariable = "VJOB_DB_CRASH_CHILD"
	pruneVariable = "VJOB_DB_PRUNE_CHILD"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(childVariable); path != "" {
		run := crashChild
		if os.Getenv(pruneVariable) != "" {
			run = pruneChild
		}
		if err := run(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// crashChild opens the database and submits until it is killed. A line is written
// for each acknowledged vjob, and another one once its walk of states is known to
// be committed; a line that the parent has read was acknowledged before the kill.
func crashChild(path string) error {
	d, err := db.Open(path)
	if err != nil {
		return err
	}
	ctx := context.Background()
	if _, err := d.Load(ctx); err != nil {
		return err
	}
	var clients sync.WaitGroup
	for client := range 4 {
		clients.Go(func() {
			for i := 0; ; i++ {
				s := storetest.Submission("", 1+i%3)
				s.Key = fmt.Sprintf("%d-%d-%d", os.Getpid(), client, i)
				job, _, err := d.Submit(ctx, s)
				if err != nil {
					panic(err)
				}
				tell("%d waiting\n", job.ID)
				walk(ctx, d, job)
			}
		})
	}
	clients.Wait()
	return nil
}

// walk moves the vjob through some states, one step each.
func walk(ctx context.Context, d *db.DB, job *cluster.VJob) {
	for _, next := range []cluster.State{cluster.Booting, cluster.Running, cluster.Stopping, cluster.Terminated} {
		if err := job.Become(next, cluster.Because("walk")); err != nil {
			panic(err)
		}
		step := journal.Step{VJobs: []journal.VJobChange{storetest.Change(job)}, Events: []journal.Event{storetest.StateEvent(job)}}
		if err := d.Commit(ctx, step); err != nil {
			panic(err)
		}
		tell("%d %s\n", job.ID, next)
	}
}

// tell writes one line to the parent, unbuffered.
func tell(format string, args ...any) { _, _ = os.Stdout.Write(fmt.Appendf(nil, format, args...)) }

// TestKill kills a daemon at random moments, opens its database and expects everything that was
// acknowledged (I13 and I17). VJOB_DB_KILLS sets the number of kills,
// VJOB_DB_SEED the moments.
func TestKill(t *testing.T) {
	kills, seed := number(t, "VJOB_DB_KILLS", 30), number(t, "VJOB_DB_SEED", time.Now().UnixNano())
	if testing.Short() {
		kills = min(kills, 5)
	}
	t.Logf("VJOB_DB_SEED=%d VJOB_DB_KILLS=%d", seed, kills)
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	path := filepath.Join(t.TempDir(), "vjob.db")
	known := map[cluster.VJobID]cluster.State{}
	for kill := range kills {
		fresh := runAndKill(t, path, time.Duration(random.Int64N(int64(120*time.Millisecond))))
		for id, state := range fresh {
			if old, ok := known[id]; ok && state == cluster.Waiting {
				t.Fatalf("kill %d: number %s was given twice (it is %s)", kill, id, old)
			}
			known[id] = state
		}
		checkSurvivors(t, path, kill, known)
	}
	t.Logf("%d vjobs acknowledged in %d kills, none lost", len(known), kills)
}

// runAndKill returns the last acknowledged state of each vjob.
func runAndKill(t *testing.T, path string, after time.Duration) map[cluster.VJobID]cluster.State {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), childVariable+"="+path)
	var trouble strings.Builder
	child.Stderr = &trouble
	out := must[io.ReadCloser](t)(child.StdoutPipe())
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(after, func() { _ = child.Process.Kill() })
	defer timer.Stop()
	told := map[cluster.VJobID]cluster.State{}
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break // a last line that was cut was not acknowledged
		}
		id, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		state := must[cluster.State](t)(cluster.ParseState(name))
		told[must[cluster.VJobID](t)(cluster.ParseVJobID(id))] = state
	}
	err := child.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Exited() {
		t.Fatalf("the child was to be killed, and ended by itself: %v\n%s", err, trouble.String())
	}
	return told
}

// order is how far along the walk a state is.
var order = map[cluster.State]int{
	cluster.Waiting: 0, cluster.Booting: 1, cluster.Running: 2, cluster.Stopping: 3, cluster.Terminated: 4,
}

func checkSurvivors(t *testing.T, path string, kill int64, known map[cluster.VJobID]cluster.State) {
	t.Helper()
	d := must[*db.DB](t)(db.Open(path))
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := d.Check(t.Context()); err != nil {
		t.Fatalf("kill %d: %v", kill, err)
	}
	rows, _, err := d.VJobs(t.Context(), journal.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	kept := map[cluster.VJobID]cluster.State{}
	for _, r := range rows {
		kept[r.ID] = r.State
		if r.Version != order[r.State] {
			t.Errorf("kill %d: vjob %s is %s with version %d", kill, r.ID, r.State, r.Version)
		}
	}
	for id, state := range known {
		now, ok := kept[id]
		if !ok || order[now] < order[state] {
			t.Errorf("kill %d: vjob %s was acknowledged %s; it is %s (present: %t)", kill, id, state, now, ok)
		}
	}
}

// number reads a setting of the test from the environment.
func number(t *testing.T, name string, otherwise int64) int64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	return must[int64](t)(strconv.ParseInt(text, 10, 64))
}
