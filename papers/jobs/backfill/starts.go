package backfill

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
)

// WriteStarts writes the start of every job as CSV: its number in the log and the
// seconds since the first submission, in the order of the queue.
func (r *Result) WriteStarts(w io.Writer) error {
	b := bufio.NewWriter(w)
	_, _ = b.WriteString("job,start\n") // the error comes again when it is flushed
	var line []byte
	for i, start := range r.Starts {
		line = strconv.AppendInt(line[:0], r.Jobs[i].Number, 10)
		line = strconv.AppendInt(append(line, ','), int64(start), 10)
		_, _ = b.Write(append(line, '\n'))
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write the starts: %w", err)
	}
	return nil
}
