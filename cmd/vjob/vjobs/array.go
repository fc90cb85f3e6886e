package vjobs

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
)

// arrayFlags are the flags of `vjob submit` that make an array of a vjob.
type arrayFlags struct{ size, file string }

// register adds the flags to a command.
func (f *arrayFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.size, "array", "", "`NUMBER[%MOST]` of vjobs that are all like this; 1000%20 is 1000, of which 20 run at once")
	flags.StringVar(&f.file, "array-file", "", "`FILE` with a line of parameters for each vjob, which follow the words of its command; # begins a comment")
}

// override puts the flags that were given over what a file says.
func (f *arrayFlags) override(a *cli.App, s *wire.Submission) (err error) {
	if f.size != "" {
		size, most, limited := strings.Cut(f.size, "%")
		if size == "" && f.file != "" {
			size = "0" // as many as the file has lines
		}
		n, err1 := strconv.Atoi(size)
		m, err2 := strconv.Atoi(cmp.Or(most, "0"))
		if err1 != nil || err2 != nil || n < 1 && f.file == "" || limited && m < 1 {
			return cluster.BadField("--array", f.size, "a number of vjobs, such as 1000, or with the most that run at once: 1000%20")
		}
		s.Array, s.MaxConcurrent = n, m
	}
	if f.file == "" {
		return nil
	}
	data, err := a.ReadInput(f.file)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(data)) {
		if text := strings.TrimSpace(line); text != "" && !strings.HasPrefix(text, "#") {
			s.Parameters = append(s.Parameters, text)
		}
	}
	if len(s.Parameters) == 0 {
		return cluster.BadField("--array-file", f.file, "a line of parameters for each vjob")
	}
	return nil
}
