package replay

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
)

// WriteStarts writes the first start of each vjob as CSV: its name, and seconds from the
// start of the workload, in order of submission. The time of vjobs that never ran is empty.
func (r *Result) WriteStarts(out io.Writer) error {
	w := csv.NewWriter(out)
	_ = w.Write([]string{"job", "start"}) // the writer keeps the error
	for i := range r.VJobs {
		start := ""
		if at := r.VJobs[i].Started; at >= 0 {
			start = strconv.FormatFloat(at.Seconds(), 'f', -1, 64)
		}
		_ = w.Write([]string{r.VJobs[i].Name, start})
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return fmt.Errorf("write the starts: %w", err)
	}
	return nil
}
