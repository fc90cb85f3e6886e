package vjobs

import (
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/parse"
)

// termFlags are the flags of `vjob submit` that say on what terms the vjob runs.
type termFlags struct {
	queue, project, deadline string
	floor                    float64
	bestEffort               bool
	yields, minRun           string
	flexible                 string
	reserve                  string
	notBefore, notAfter      string
	after                    []string
	unmet                    string
	led, idempotent          bool
	container                bool
	inner                    int64
	notify                   []string
	labels                   []string
}

// register adds the flags to a command.
func (f *termFlags) register(flags *pflag.FlagSet) {
	flags.StringVarP(&f.queue, "queue", "q", "", "`QUEUE` to stand in")
	flags.StringVar(&f.project, "project", "", "`PROJECT` for which it counts")
	flags.StringVar(&f.deadline, "deadline", "", "`TIME` by which it should have ended, such as 'tomorrow 08:00' or +6h")
	flags.StringVar(&f.reserve, "reserve", "", "`TIME` from which its room is kept free, such as 'tomorrow 08:00'")
	flags.StringVar(&f.reserve, "at", "", "as --reserve")
	flags.StringVar(&f.notBefore, "not-before", "", "`TIME` before which it is not started, such as 'tomorrow 08:00' or +6h")
	flags.StringVar(&f.notAfter, "not-after", "", "`TIME` by which it has failed unless it has started")
	flags.StringArrayVar(&f.after, "after", nil, "`[CONDITION:]VJOB` that it waits for: afterok (as if none is given), afterany, afternotok, after; 120[] is all of array 120; may be repeated")
	flags.StringVar(&f.unmet, "unmet", "", "what becomes of it when that can never be: fail, hold or run")
	flags.BoolVar(&f.bestEffort, "best-effort", false, "run only on capacity that no other vjob needs")
	flags.StringVar(&f.yields, "yields", "", "how it makes room: suspend, end or never")
	flags.StringVar(&f.minRun, "min-run", "", "`TIME` after each start for which it makes no room")
	flags.BoolVar(&f.led, "led", false, "it ends when the guest of its first VM has shut itself down")
	flags.StringVar(&f.flexible, "flexible", "", "`TIME` by which its start may be put off for a lower price of energy, such as 6h")
	flags.BoolVar(&f.idempotent, "idempotent", false, "submit it again when it fails")
	flags.BoolVar(&f.container, "container", false, "hold room for other vjobs, which are submitted with --inner; nothing else runs in it")
	flags.Int64Var(&f.inner, "inner", 0, "run inside the `CONTAINER` of this number")
	flags.Float64Var(&f.floor, "floor", 0, "the least `SHARE` of its CPU with which it is content, from 0 to 1; none is all of it")
	flags.StringArrayVar(&f.notify, "notify", nil, "`WHO` is told of its states: mail:NAME@HOST or https://…; may be repeated")
	flags.StringArrayVar(&f.labels, "label", nil, "`NAME=VALUE` that is kept with it; may be repeated")
}

// override puts the flags that were given over what a file says.
func (f *termFlags) override(cmd *cobra.Command, t *wire.Terms, now time.Time) (err error) {
	given := cmd.Flags().Changed
	if !(f.floor >= 0 && f.floor <= 1) { // NaN could not even be sent
		return cluster.BadField("--floor", f.floor, "from 0 to 1")
	}
	setIf(given("queue"), &t.Queue, f.queue)
	setIf(given("project"), &t.Project, f.project)
	setIf(given("floor"), &t.Floor, f.floor)
	setIf(given("best-effort"), &t.BestEffort, f.bestEffort)
	setIf(given("yields"), &t.Yields, f.yields)
	setIf(given("unmet"), &t.Unmet, f.unmet)
	setIf(given("led"), &t.Led, f.led)
	setIf(given("idempotent"), &t.Idempotent, f.idempotent)
	setIf(given("container"), &t.Container, f.container)
	setIf(given("inner"), &t.Inner, f.inner)
	setIf(given("notify"), &t.Notify, f.notify)
	if given("min-run") {
		d, err := parse.Walltime("--min-run", f.minRun)
		if err != nil {
			return err
		}
		t.MinRunSeconds = int64(d / time.Second)
	}
	if given("flexible") {
		d, err := parse.Walltime("--flexible", f.flexible)
		if err != nil {
			return err
		}
		t.FlexibleSeconds = int64(d / time.Second)
	}
	for _, m := range []struct {
		flag, text string
		at         **time.Time
	}{
		{"--deadline", f.deadline, &t.Deadline},
		{"--reserve", f.reserve, &t.Reservation},
		{"--not-before", f.notBefore, &t.NotBefore},
		{"--not-after", f.notAfter, &t.NotAfter},
	} {
		if *m.at, err = parse.MomentFlag(m.flag, m.text, *m.at, now); err != nil {
			return err
		}
	}
	if given("after") {
		if t.After, err = parseAfter(f.after); err != nil {
			return err
		}
	}
	if given("label") {
		t.Labels, err = parseLabels(f.labels)
	}
	return err
}

func setIf[T any](given bool, at *T, value T) {
	if given {
		*at = value
	}
}

// parseAfter reads "afterok:12" or "12", and "12[]" for a whole array.
func parseAfter(list []string) (after []wire.Dependency, err error) {
	for _, text := range list {
		when, number, found := strings.Cut(text, ":")
		if !found {
			when, number = "", text
		} else if _, err := cluster.ParseCondition(when); err != nil {
			return nil, cluster.BadField("--after", text, "afterok, afterany, afternotok or after, a colon, and the number of a vjob")
		}
		number, array := strings.CutSuffix(number, "[]")
		id, err := cluster.ParseVJobID(number)
		if err != nil {
			return nil, cluster.BadField("--after", text, "the number of a vjob or an array, such as 12, afterany:12 or afterok:120[]")
		}
		after = append(after, wire.Dependency{On: int64(id), When: when, Array: array})
	}
	return after, nil
}

func parseLabels(list []string) (map[string]string, error) {
	labels := map[string]string{}
	for _, text := range list {
		name, value, found := strings.Cut(text, "=")
		if !found || name == "" {
			return nil, cluster.BadField("--label", text, "NAME=VALUE")
		}
		labels[name] = value
	}
	return labels, nil
}
