package output_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/daemon/output"
)

// world is a store, the consoles of one vjob, and the folder of its owner, in memory.
type world struct {
	job      *cluster.VJob
	consoles map[string]*bytes.Buffer // by VM, with .errors
	ended    bool
	closed   atomic.Bool
	files    map[string][]byte
	fault    error // of all operations on files
	crash    func(piece []byte) []byte
}

func (w *world) OpenOutputs(context.Context) ([]journal.OpenOutput, error) {
	if w.closed.Load() {
		return nil, nil
	}
	return []journal.OpenOutput{{VJob: w.job.ID, Owner: "ann", Ended: w.ended}}, nil
}

func (w *world) CloseOutput(context.Context, cluster.VJobID) error {
	w.closed.Store(true)
	return nil
}

func (w *world) VJob(context.Context, cluster.VJobID) (journal.Kept, error) {
	return journal.Kept{Row: journal.Row{VJob: w.job}}, nil
}

func (w *world) open(name string) (io.ReadCloser, error) {
	text, ok := w.consoles[name]
	if !ok {
		return nil, cluster.ErrNotFound
	}
	return io.NopCloser(bytes.NewReader(bytes.Clone(text.Bytes()))), nil
}

func (w *world) Console(_ context.Context, vm cluster.VMID) (io.ReadCloser, error) {
	return w.open(vm.String())
}

func (w *world) Errors(_ context.Context, vm cluster.VMID) (io.ReadCloser, error) {
	return w.open(vm.String() + ".errors")
}

func (w *world) Size(name string) (int64, error) {
	if w.fault != nil {
		return 0, w.fault
	}
	w.files[name] = append([]byte{}, w.files[name]...)
	return int64(len(w.files[name])), nil
}

func (w *world) Read(name string, at int64, length int) ([]byte, error) {
	text := w.files[name][at:]
	return bytes.Clone(text[:min(length, len(text))]), w.fault
}

func (w *world) Append(name string, at int64, piece []byte) error {
	if w.fault != nil {
		return w.fault
	}
	if at != int64(len(w.files[name])) {
		return errors.New("not at its end")
	}
	kept := piece
	if w.crash != nil {
		kept = w.crash(piece)
	}
	w.files[name] = append(w.files[name], kept...)
	if len(kept) < len(piece) {
		return errors.New("crashed")
	}
	return nil
}

func (w *world) Cut(name string, to int64) error {
	w.files[name] = w.files[name][:to]
	return w.fault
}

func (w *world) Sync(string) error { return w.fault }
func (w *world) Close()            {}

// print appends to the console of a VM.
func (w *world) print(rank int, errs, text string) {
	name := cluster.VMID{VJob: w.job.ID, Rank: rank}.String() + errs
	if w.consoles[name] == nil {
		w.consoles[name] = &bytes.Buffer{}
	}
	w.consoles[name].WriteString(text)
}

func newWorld(vms int, terms cluster.Terms) *world {
	job := &cluster.VJob{ID: 7, Owner: "ann", Terms: &terms, VMs: make([]cluster.VM, vms)}
	return &world{job: job, consoles: map[string]*bytes.Buffer{}, files: map[string][]byte{}}
}

// copyFor copies for some seconds; then the copier is killed.
func (w *world) copyFor(t *testing.T, limit int64, d time.Duration) map[string]string {
	t.Helper()
	var problems map[string]string
	synctest.Test(t, func(t *testing.T) {
		c := output.New(output.Config{
			Store: w, Consoles: w, Limit: limit, Log: slog.New(slog.DiscardHandler), Now: time.Now, Every: time.Second,
			Open:   func(context.Context, string) (output.OpenFolder, error) { return w, nil },
			Marked: func(cluster.Payload) bool { return true },
		})
		ctx, cancel := context.WithTimeout(t.Context(), d)
		defer cancel()
		if err := c.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		problems = c.Problems(7)
	})
	return problems
}

func TestStreams(t *testing.T) {
	for _, c := range []struct {
		name  string
		vms   int
		terms cluster.Terms
		want  map[string]string
	}{
		{"together", 1, cluster.Terms{Output: "%j.out"}, map[string]string{"7.out": "a\nb\r\rend"}},
		{"apart", 1, cluster.Terms{Output: "%j.out", Error: "%j.err"}, map[string]string{"7.out": "a\nb\r\rend", "7.err": "e\n"}},
		{"errors only", 1, cluster.Terms{Error: "%j.err"}, map[string]string{"7.err": "e\n"}},
		{"by rank", 2, cluster.Terms{Output: "%j.%r"}, map[string]string{"7.0": "a\nb\r\rend", "7.1": "a\nb\r\rend"}},
		{"led", 2, cluster.Terms{Output: "%j", LeaderEnds: true}, map[string]string{"7": "a\nb\r\rend"}},
		{"all ranks", 2, cluster.Terms{Output: "%j"}, map[string]string{"7": "0: a\n0: b\r\rend\n1: a\n1: b\r\rend\n"}},
	} {
		w := newWorld(c.vms, c.terms)
		for rank := range c.vms {
			w.print(rank, "", "boot\r\n"+cluster.OutputMark+"\r\na\r\nb\r\rend"+cluster.ExitMark+"0\r\nbye\r\n")
			w.print(rank, ".errors", "e\r\n")
		}
		w.ended = true
		problems := w.copyFor(t, 0, 3*time.Second)
		got := map[string]string{}
		for name, text := range w.files {
			got[name] = string(text)
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) || !w.closed.Load() || len(problems) > 0 {
			t.Errorf("%s: %q, want %q; closed %t, problems %v", c.name, got, c.want, w.closed.Load(), problems)
		}
	}
}

// The daemon is killed at random points, also in the middle of a write. In the end each line is there once, in order.
func TestCrashes(t *testing.T) {
	for seed := range uint64(150) {
		random := rand.New(rand.NewPCG(seed, 7))
		vms := 1 + random.IntN(3)
		w := newWorld(vms, cluster.Terms{Output: "%j.out"})
		want := make([][]string, vms)
		crashes := 0
		w.crash = func(piece []byte) []byte {
			if random.IntN(3) == 0 {
				crashes++
				return piece[:random.IntN(len(piece)+1)]
			}
			return piece
		}
		for rank := range vms {
			w.print(rank, "", "boot\r\n"+cluster.OutputMark+"\r\n")
		}
		for step := range 30 {
			for range random.IntN(4) {
				rank, line := random.IntN(vms), fmt.Sprintf("line %d %s", step, strings.Repeat("x", random.IntN(20)))
				if random.IntN(20) == 0 {
					line = strings.Repeat("y", random.IntN(100_000))
				}
				w.print(rank, "", line+"\r\n")
				want[rank] = append(want[rank], line)
			}
			if random.IntN(3) > 0 {
				w.copyFor(t, 0, time.Duration(random.IntN(4000))*time.Millisecond+1)
			}
		}
		w.ended, w.crash = true, nil
		for rank := range vms {
			w.print(rank, "", cluster.ExitMark+"0\r\n")
		}
		problems := w.copyFor(t, 0, time.Hour)
		got := make([][]string, vms)
		for line := range strings.Lines(string(w.files["7.out"])) {
			rank := 0
			if vms > 1 {
				rank, line = int(line[0]-'0'), line[3:]
			}
			got[rank] = append(got[rank], strings.TrimSuffix(line, "\n"))
		}
		for rank := range vms {
			if vms > 1 {
				want[rank] = broken(want[rank])
			}
			if !slices.Equal(got[rank], want[rank]) {
				t.Fatalf("seed %d, %d VMs, %d crashes: VM %d has %.200q, want %.200q; problems %v", seed, vms, crashes, rank, got[rank], want[rank], problems)
			}
		}
		if !w.closed.Load() || len(problems) > 0 {
			t.Fatalf("seed %d: closed %t, problems %v", seed, w.closed.Load(), problems)
		}
	}
}

// broken breaks long lines as a file of several VMs does.
func broken(lines []string) (list []string) {
	const most = 32 << 10
	for _, line := range lines {
		for len(line) >= most {
			list, line = append(list, line[:most]), line[most:]
		}
		list = append(list, line)
	}
	return list
}

// A fault of a file is reported, and the copying goes on once the file is mended.
func TestFaultsAreTold(t *testing.T) {
	for name, c := range map[string]struct {
		limit int64
		spoil func(w *world)
		want  string
		mend  func(w *world)
		text  string
	}{
		"full disk":    {0, func(w *world) { w.fault = errors.New("the file system is full") }, "the file system is full", func(w *world) { w.fault = nil }, "hello\n"},
		"other text":   {0, func(w *world) { w.files["7.out"] = []byte("helios") }, "7.out has other text than the output from byte 0 on: move it away", func(w *world) { delete(w.files, "7.out") }, "hello\n"},
		"longer":       {0, func(w *world) { w.files["7.out"] = []byte("hello\nyou") }, "7.out has other text than the output from byte 6 on: move it away", func(w *world) { w.files["7.out"] = []byte("hel") }, "hello\n"},
		"at its limit": {3, func(*world) {}, "the limit of this site is reached: vjob logs has the rest", nil, "hel"},
	} {
		w := newWorld(1, cluster.Terms{Output: "%j.out"})
		w.print(0, "", cluster.OutputMark+"\nhello\n"+cluster.ExitMark+"0\n")
		w.ended = true
		c.spoil(w)
		problems := w.copyFor(t, c.limit, 10*time.Second)
		if problems["7.out"] != c.want || w.closed.Load() != (c.mend == nil) {
			t.Errorf("%s: %q, want %q; closed %t", name, problems, c.want, w.closed.Load())
		}
		if c.mend != nil {
			c.mend(w)
			if problems := w.copyFor(t, c.limit, time.Minute); len(problems) > 0 || !w.closed.Load() {
				t.Errorf("%s, mended: %q, closed %t", name, problems, w.closed.Load())
			}
		}
		if got := string(w.files["7.out"]); got != c.text {
			t.Errorf("%s: %q, want %q", name, got, c.text)
		}
	}
}
