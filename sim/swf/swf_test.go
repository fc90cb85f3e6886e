package swf_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"

	"vjob/cluster"
	"vjob/sim/swf"
)

// line is a whole line of a log: number, submit, wait, run, allocated processors,
// and so on; the fields that are not given are -1.
func line(fields string) string {
	return fields + strings.Repeat(" -1", 18-len(strings.Fields(fields))) + "\n"
}

func packed(tb testing.TB, text string) string {
	tb.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := io.WriteString(z, text)
	if err := errors.Join(err, z.Close()); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

const head = "; Version: 2.2\n;MaxProcs:  8 (and 2 for service)\n;; ORIG ; MaxProcs: 99\n; MaxProcs: 7\n\n"

// little has one job for each convention.
var little = head +
	line("1 100 -1 50 4 -1 -1 4 60") +
	line("  2\t100 -1 50.9 4 -1.0 -1 2 60") + // other width; a fraction
	line("3 130 -1 50 4 -1 -1 -1 0") + // no walltime, none requested
	line("4 140 -1 99 -1 -1 -1 1 60") + // killed
	line("5 120 -1 50 1 -1 -1 1 60") + // out of order
	line("6 150 -1 50 -1 -1 -1 0 60") + // no processors
	line("7 150 -1 0 1 -1 -1 1 60") + // no run time
	line("8 -1 -1 5 1 -1 -1 1 60") + // no submission
	line("9 160 -1 5 9 -1 -1 9 60") + // too wide
	line("10 160 -1 5 9 -1 -1 8 315360000") + "\r\n" + // ten years
	"  ; a comment in the middle; MaxProcs: 1\n" +
	line("4 170 -1 5 1 -1 -1 1 60 -1 3") + // its number was met, and it is a part
	"11 170 -1 5 9"

func TestConventions(t *testing.T) {
	none := swf.Others{MemoryKiB: -1, User: -1, Group: -1, Queue: -1, Preceding: -1, Think: -1}
	for name, text := range map[string]string{
		"plain": little, "compressed": packed(t, little), "other ends": strings.ReplaceAll(little, "\n", "\r\n"),
		"marked": "\xef\xbb\xbf" + little, "in two": packed(t, little[:300]) + packed(t, little[300:]),
	} {
		log, err := swf.Read(strings.NewReader(text), 0)
		if err != nil {
			t.Fatal(name, err)
		}
		want := &swf.Log{
			Jobs: []swf.Job{
				{1, 0, 50, 60, 4, none}, {2, 0, 50, 60, 2, none}, {5, 20, 50, 60, 1, none}, {3, 30, 50, 50, 4, none}, {4, 40, 60, 60, 1, none}, {10, 60, 5, 315360000, 8, none}, {4, 70, 5, 60, 1, none},
			},
			Processors: 8, Declared: 8, Word: "MaxProcs", Lines: 11,
			Counts: []swf.Count{
				{swf.CutOff, 1, 19},
				{swf.NoProcessors, 1, 11},
				{swf.NoRun, 1, 12},
				{swf.NoSubmit, 1, 13},
				{swf.TooWide, 1, 14},
				{swf.Requested, 2, 7},
				{swf.NoWalltime, 1, 8},
				{swf.Killed, 1, 9},
				{swf.OutOfOrder, 1, 10},
				{swf.Repeated, 1, 18},
				{swf.Part, 1, 18},
			},
		}
		if !reflect.DeepEqual(log, want) {
			t.Errorf("%s:\n%+v\nwant\n%+v", name, log, want)
		}
	}
}

// Fields that make no difference on a pool may be missing or invalid.
func TestOthers(t *testing.T) {
	text := "; UnixStartTime: 843480031\n" + head + "1 100 -1 50 4 -1 2048 4 60 -1 1 12 3 -1 2 -1 -1 -1\n" +
		"2 130 -1 50 4 -1 2048 4 60 4096 1 many 3.0 -1 99999999999 -1 1 15\n"
	log, err := swf.Read(strings.NewReader(text), 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []swf.Others{{2048, 12, 3, 2, -1, -1}, {4096, -1, 3, -1, 1, 15}}
	if got := []swf.Others{log.Jobs[0].Others, log.Jobs[1].Others}; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if at := log.Start.Unix(); at != 843480131 {
		t.Errorf("it begins at %d", at)
	}
}

// A given pool overrides that of the log.
func TestPoolGiven(t *testing.T) {
	log, err := swf.Read(strings.NewReader(little), 2)
	if err != nil || len(log.Jobs) != 4 || log.Processors != 2 || log.Declared != 8 {
		t.Error(log, err)
	}
}

// The first comment on the machine counts, and processors count before nodes.
func TestProcessors(t *testing.T) {
	for head, want := range map[string]struct {
		processors int64
		word       string
	}{
		"; MaxProcs: 100\n; MaxNodes: 50\n":                           {100, "MaxProcs"},
		"; MaxNodes: 50 (of two)\n;\tMaxProcs :\t93,312 (and more)\n": {93312, "MaxProcs"},
		"; MaxNodes: 1,152\n":                                         {1152, "MaxNodes"},
		"; MaxProcs: -1\n; MaxNodes: 64\n; MaxNodes: 32\n":            {64, "MaxNodes"},
		"; MaxProcs: unknown\n; MaxNodes: 8\n; Note: MaxProcs: 9\n":   {8, "MaxNodes"},
	} {
		log, err := swf.Read(strings.NewReader(head+line("1 100 -1 5 4 -1 -1 4 60")), 0)
		if err != nil || log.Processors != want.processors || log.Word != want.word {
			t.Errorf("%q: %+v, %v; want %+v", head, log, err, want)
		}
	}
}

func TestWrong(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":            {"", "jobs: none of the log can be replayed"},
		"comments":         {head, "jobs: none"},
		"nothing left":     {head + line("1 100 -1 0 4 -1 -1 4 60"), "1 from line 6 on: no run time, or 0: left out"},
		"no word":          {head + line("1 100 -1 50 4 -1 -1 four 60"), `line 6: field 8, the requested processors: "four" is not a number`},
		"no number":        {head + line("1 100 -1 NaN 4 -1 -1 4 60"), `line 6: field 4, the run time: "NaN" is not`},
		"no end":           {head + line("1 100 -1 5 4 -1 -1 4 1e300"), `line 6: field 9, the requested time: "1e300" is not a number up to 10^12`},
		"huge":             {head + line("1 99999999999999999999 -1 5 4 -1 -1 4 9"), `field 2, the submit time`},
		"few fields":       {head + "1 2 3 4\n" + line("1 100 -1 5 4 -1 -1 4 60"), `line 6: 4 fields, want the 18 of the Standard Workload Format`},
		"no processors":    {line("1 100 -1 5 4 -1 -1 4 60"), `processors: missing: the log has neither MaxProcs nor MaxNodes`},
		"processors of 0":  {"; MaxProcs: 0\n" + line("1 100 -1 5 4 -1 -1 4 60"), `processors: missing`},
		"endless line":     {head + strings.Repeat("1 ", 1<<16), `line 6: longer than 65536 bytes`},
		"half a gzip":      {packed(t, little)[:80], "the gzip file is cut off or damaged"},
		"damaged gzip":     {packed(t, little)[:60] + "\x00\xff" + packed(t, little)[62:], "cut off or damaged"},
		"gzip of nothing":  {"\x1f\x8b", "cut off or damaged"},
		"something else":   {"PK\x03\x04\n\x00\xff\n", `line 1: field 1, the job number`},
		"workload of ours": {"{\n\"vjobs\": []\n}\n", `line 1: field 1, the job number: "{" is not`},
	} {
		t.Run(name, func(t *testing.T) {
			log, err := swf.Read(strings.NewReader(c.text), 0)
			if !errors.Is(err, cluster.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v, %v; want %s", log, err, c.want)
			}
		})
	}
}

// An error of the underlying reader is not an error of the input.
func TestBroken(t *testing.T) {
	broken := errors.New("the cable is out")
	_, err := swf.Read(io.MultiReader(strings.NewReader(little), errorReader{broken}), 0)
	if !errors.Is(err, broken) || errors.Is(err, cluster.ErrInvalid) {
		t.Error(err)
	}
}

type errorReader struct{ err error }

func (r errorReader) Read([]byte) (int, error) { return 0, r.err }

// Logs and documents differ in their beginning.
func TestLooks(t *testing.T) {
	for text, want := range map[string]bool{
		little: true, "\xef\xbb\xbf" + little: true, packed(t, little): true, packed(t, little)[:100]: true, line("1 2"): true, "\n\n  -1 2": true,
		"": false, "-": false, "- a: 1": false, "{": false, "# x\n1": false, "vjobs: []": false, "\x1f\x8b": false, packed(t, `{"a":1}`): false,
	} {
		if got := swf.Looks([]byte(text)); got != want {
			t.Errorf("%.40q: %t", text, got)
		}
	}
}

// Every convention has a description.
func TestWords(t *testing.T) {
	for c := range swf.Part + 1 {
		if text := c.String(); text == "" || strings.HasSuffix(text, "left out") != c.Skips() {
			t.Errorf("%d: %q, skips %t", c, text, c.Skips())
		}
	}
}

// The counts of a log as the archive has it are those that its cleaning is known to
// have (Parallel Workloads Archive, KTH-SP2).
func TestOriginal(t *testing.T) {
	dir := os.Getenv("VJOB_TRACES")
	if dir == "" {
		t.Skip("SKIPPED: VJOB_TRACES names no folder with swf/KTH-SP2.original.swf.gz")
	}
	in, err := os.Open(dir + "/swf/KTH-SP2.original.swf.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	log, err := swf.Read(in, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := map[swf.Convention]int{}
	for _, c := range log.Counts {
		got[c.Convention] = c.Jobs
	}
	want := map[swf.Convention]int{swf.NoProcessors: 1, swf.NoRun: 8, swf.Requested: 219, swf.Killed: 475}
	if !reflect.DeepEqual(got, want) || log.Lines != 28476 || len(log.Jobs) != 28467 || log.Processors != 100 {
		t.Errorf("%v of %d, %d remain, on %d; want %v of 28476, 28467, on 100", got, log.Lines, len(log.Jobs), log.Processors, want)
	}
}

// The jobs of any accepted input can be replayed, and all jobs are accounted for.
func FuzzRead(f *testing.F) {
	f.Add([]byte(little), int64(0))
	f.Add([]byte(packed(f, little)), int64(4))
	f.Add([]byte(head+line("1 0 0 1e11 1 0 0 1 9e11")), int64(1))
	f.Fuzz(func(t *testing.T, text []byte, processors int64) {
		if processors < 0 {
			return
		}
		log, err := swf.Read(bytes.NewReader(text), processors)
		if err != nil {
			return
		}
		left := log.Lines - len(log.Jobs)
		for _, c := range log.Counts {
			if c.Convention.Skips() && c.Convention != swf.CutOff {
				left -= c.Jobs
			}
		}
		if left != 0 {
			t.Errorf("%d jobs were dropped silently", left)
		}
		last := int64(0)
		for _, j := range log.Jobs {
			if j.Submit < last || j.Run < 1 || j.Run > j.Walltime || j.Processors < 1 || j.Processors > log.Processors {
				t.Fatalf("%+v after %d on %d", j, last, log.Processors)
			}
			last = j.Submit
		}
		if log.Jobs[0].Submit != 0 {
			t.Errorf("the first is submitted at %d", log.Jobs[0].Submit)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	text := []byte(head + strings.Repeat(line("4711 17097640 -1 3477 4 -1 -1 4 5394 -1 1 90 92"), 10_000))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := swf.Read(bytes.NewReader(text), 8); err != nil {
			b.Fatal(err)
		}
	}
}
