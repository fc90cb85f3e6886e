package vjobs

import (
	"encoding"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
)

// termFlags are the flags of `vjob submit` for the terms of the vjob: those that [cluster.Terms] declares.
type termFlags struct {
	terms cluster.Terms
	texts map[string]*string   // of the terms that are parsed from one text, by flag
	lists map[string]*[]string // of the terms that are parsed from several texts, by flag
}

// register adds the flags to a command.
func (f *termFlags) register(flags *pflag.FlagSet) {
	f.texts, f.lists = map[string]*string{}, map[string]*[]string{}
	for _, t := range cluster.TermFields() {
		if t.Flag == "" {
			continue
		}
		letter := ""
		if len(t.Alias) == 1 {
			letter = t.Alias
		}
		switch at := t.In(&f.terms).(type) {
		case *string:
			flags.StringVarP(at, t.Flag, letter, "", t.Help)
		case *bool:
			flags.BoolVarP(at, t.Flag, letter, false, t.Help)
		case *float64:
			flags.Float64VarP(at, t.Flag, letter, 0, t.Help)
		case *[]string:
			flags.StringArrayVarP(at, t.Flag, letter, nil, t.Help)
		case *map[string]string, *[]cluster.Dependency:
			f.lists[t.Flag] = flags.StringArrayP(t.Flag, letter, nil, t.Help)
		default:
			f.texts[t.Flag] = flags.StringP(t.Flag, letter, "", t.Help)
		}
		if len(t.Alias) > 1 {
			flags.StringVar(f.texts[t.Flag], t.Alias, "", "as --"+t.Flag)
		}
	}
}

// override sets the terms of the flags that were given.
func (f *termFlags) override(cmd *cobra.Command, terms *wire.Terms, now time.Time) error {
	if inner := *f.texts["inner"]; inner != "" {
		terms.Inner = wire.VJobName(inner)
	}
	for _, t := range cluster.TermFields() {
		given := t.Flag != "" && cmd.Flags().Changed(t.Flag)
		if text := f.texts[t.Flag]; text != nil {
			given = *text != ""
		}
		if !given {
			continue
		}
		if err := f.parse(&t, now); err != nil {
			return cluster.Renamed("--"+t.Flag, err)
		}
		t.Copy(&terms.Terms, &f.terms)
	}
	if !(f.terms.MinShare >= 0 && f.terms.MinShare <= 1) { // JSON has no NaN
		return cluster.BadField("--floor", f.terms.MinShare, "from 0 to 1")
	}
	return nil
}

// parse reads the text of a flag into its term.
func (f *termFlags) parse(t *cluster.TermField, now time.Time) (err error) {
	switch at := t.In(&f.terms).(type) {
	case *time.Time:
		*at, err = cli.ParseMoment(t.Flag, *f.texts[t.Flag], now)
	case *cluster.Seconds:
		var d time.Duration
		d, err = cli.ParseWalltime(t.Flag, *f.texts[t.Flag])
		*at = cluster.Seconds(d)
	case *cluster.MilliCPU:
		*at, err = cluster.ParseCPU(*f.texts[t.Flag])
	case *[]cluster.Dependency:
		*at, err = parseAfter(*f.lists[t.Flag])
	case *map[string]string:
		*at, err = parseLabels(*f.lists[t.Flag])
	case *cluster.VJobID: // the daemon reads it, which knows the names
	case encoding.TextUnmarshaler:
		err = at.UnmarshalText([]byte(*f.texts[t.Flag]))
	}
	return err
}

// parseAfter reads "ok:12", "12" or a name in place of the number; "12[]" is a whole array, and "12[i]" the vjob of it
// with the same index.
func parseAfter(list []string) (after []cluster.Dependency, err error) {
	for _, text := range list {
		var d cluster.Dependency
		when, number, found := strings.Cut(text, ":")
		if !found {
			number = text
		} else if d.When, err = cluster.ParseCondition(when); err != nil {
			return nil, cluster.BadField("--after", text, "a condition (ok, notok, any or started), a colon, and the number or the name of a vjob")
		}
		number, d.Array = strings.CutSuffix(number, "[]")
		if !d.Array {
			number, d.Each = strings.CutSuffix(number, "[i]")
			d.Array = d.Each
		}
		if d.On, err = cluster.ParseVJobID(number); err != nil {
			_, err := cluster.ParseCondition(number)
			if err == nil || !strings.ContainsFunc(number, unicode.IsLetter) {
				return nil, cluster.BadField("--after", text, "the number or the name of a vjob or an array, such as 12, any:prepare or ok:120[]")
			}
			d.On, d.Name = 0, number
		}
		after = append(after, d)
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
