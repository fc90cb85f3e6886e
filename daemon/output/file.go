package output

import (
	"bytes"
	"context"
	"fmt"
	"strconv"

	"vjob/cluster"
)

// Folder has the files of one user. An error of [Folder.Append] does not tell how much was appended.
type Folder interface {
	Size(name string) (int64, error) // makes the file if it is missing
	Read(name string, at int64, length int) ([]byte, error)
	Append(name string, at int64, piece []byte) error // at the end of the file, which has to be there
	Cut(name string, to int64) error
	Sync(name string) error
}

// file is an output file. The file itself is the memory of how much was copied: what is in it already is compared with
// what was printed, and what is missing is appended.
type file struct {
	name    string
	limit   int64 // bytes; 0: no limit
	sources []*source

	opened bool
	at     int64 // up to where the file is known to be right
	size   int64
	full   bool // the limit is reached
}

// filesOf lists the output files of a vjob.
func filesOf(job *cluster.VJob, limit int64, marked func(cluster.Payload) bool) (list []*file) {
	type stream struct {
		pattern string
		errors  bool
	}
	streams := []stream{{job.Output, false}}
	if job.ErrorsApart() {
		streams = append(streams, stream{job.Error, true})
	}
	for _, s := range streams {
		if s.pattern == "" {
			continue
		}
		byRank := cluster.OutputByRank(s.pattern)
		for rank := range job.VMs {
			if rank > 0 && job.LeaderEnds && !byRank {
				break // the others wait for the first VM
			}
			if rank == 0 || byRank {
				list = append(list, &file{name: job.OutputName(s.pattern, rank), limit: limit})
			}
			f := list[len(list)-1]
			f.sources = append(f.sources, &source{vm: cluster.VMID{VJob: job.ID, Rank: rank}, errors: s.errors, marked: !s.errors && marked(job.VMs[rank].Work())})
		}
	}
	return list
}

// Names lists the names of the output files of a vjob, below the folder of its owner.
func Names(job *cluster.VJob) []string {
	files := filesOf(job, 0, func(cluster.Payload) bool { return false })
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = f.name
	}
	return names
}

// reset forgets all that is known.
func (f *file) reset() {
	f.opened, f.full, f.at, f.size = false, false, 0, 0
	for _, s := range f.sources {
		s.reset()
	}
}

// copy brings the file up to date. After an error it begins again at the next call.
func (f *file) copy(ctx context.Context, c Consoles, to Folder, ended bool) (err error) {
	defer func() {
		if err != nil {
			f.reset()
		}
	}()
	if !f.opened {
		if f.size, err = to.Size(f.name); err != nil {
			return err
		}
		if len(f.sources) > 1 {
			if err := f.resume(ctx, c, to, ended); err != nil {
				return err
			}
		}
		f.opened = true
	}
	if len(f.sources) > 1 {
		err = f.copyLines(ctx, c, to, ended)
	} else {
		err = f.copyBytes(ctx, c, to, ended)
	}
	switch {
	case err != nil || !ended:
		return err
	case f.at < f.size && !f.full:
		return f.otherText()
	}
	return to.Sync(f.name)
}

// copyBytes copies the text of the only VM.
func (f *file) copyBytes(ctx context.Context, c Consoles, to Folder, ended bool) error {
	s := f.sources[0]
	for !f.full {
		more, err := s.fill(ctx, c, ended)
		if err != nil {
			return err
		}
		for s.pending.Len() > 0 && !f.full {
			if err := f.put(to, s.pending.Next(pieceSize)); err != nil {
				return err
			}
		}
		if !more {
			return nil
		}
	}
	return nil
}

// put has the file continue with a piece: as far as it has text there, that has to be the same.
func (f *file) put(to Folder, piece []byte) error {
	if f.limit > 0 && f.at+int64(len(piece)) > f.limit {
		piece, f.full = piece[:f.limit-f.at], true
	}
	for len(piece) > 0 && f.at < f.size {
		there, err := to.Read(f.name, f.at, int(min(f.size-f.at, int64(len(piece)))))
		if err != nil {
			return err
		}
		if len(there) == 0 || !bytes.HasPrefix(piece, there) {
			return f.otherText()
		}
		f.at += int64(len(there))
		piece = piece[len(there):]
	}
	if len(piece) == 0 {
		return nil
	}
	if err := to.Append(f.name, f.at, piece); err != nil {
		return err
	}
	f.at += int64(len(piece))
	f.size = f.at
	return nil
}

func (f *file) otherText() error {
	return fmt.Errorf("%s has other text than the output from byte %d on: move it away", f.name, f.at)
}

// prefix begins the lines of a source in a file of several.
func (f *file) prefix(rank int) []byte {
	width := len(strconv.Itoa(len(f.sources) - 1))
	return fmt.Appendf(nil, "%*d: ", width, rank)
}

// copyLines copies whole lines of all VMs, each with the rank of its VM.
func (f *file) copyLines(ctx context.Context, c Consoles, to Folder, ended bool) error {
	var batch []byte
	for rank, s := range f.sources {
		for !f.full {
			line, err := s.line(ctx, c, ended)
			if err != nil {
				return err
			}
			if line == nil {
				break
			}
			line = append(f.prefix(rank), line...)
			if f.limit > 0 && f.at+int64(len(batch)+len(line)) > f.limit {
				f.full = true
				break
			}
			if len(batch)+len(line) > pieceSize {
				if err := f.put(to, batch); err != nil {
					return err
				}
				batch = batch[:0]
			}
			batch = append(batch, line...)
		}
	}
	if len(batch) == 0 {
		return nil
	}
	return f.put(to, batch)
}

// resume finds in the lines of the file how far each VM has come. A line that was cut off is removed.
func (f *file) resume(ctx context.Context, c Consoles, to Folder, ended bool) error {
	var rest []byte // the text from f.at on that was read
	for read := int64(0); read < f.size; {
		piece, err := to.Read(f.name, read, int(min(f.size-read, pieceSize)))
		if err != nil {
			return err
		}
		if len(piece) == 0 {
			return f.otherText()
		}
		read += int64(len(piece))
		rest = append(rest, piece...)
		for {
			end := bytes.IndexByte(rest, '\n') + 1
			if end == 0 {
				break
			}
			if err := f.expect(ctx, c, rest[:end], ended); err != nil {
				return err
			}
			f.at += int64(end)
			rest = rest[end:]
		}
		if len(rest) > 2*maxLine {
			return f.otherText()
		}
	}
	if len(rest) == 0 {
		return nil
	}
	if err := f.expectBeginning(ctx, c, rest, ended); err != nil {
		return err
	}
	if err := to.Cut(f.name, f.at); err != nil {
		return err
	}
	f.size = f.at
	return nil
}

// expect checks that a line of the file is the next one of its VM.
func (f *file) expect(ctx context.Context, c Consoles, line []byte, ended bool) error {
	width := len(f.prefix(0))
	if len(line) < width {
		return f.otherText()
	}
	rank, err := strconv.Atoi(string(bytes.TrimSpace(line[:width-2])))
	if err != nil || rank < 0 || rank >= len(f.sources) || !bytes.HasPrefix(line, f.prefix(rank)) {
		return f.otherText()
	}
	next, err := f.sources[rank].line(ctx, c, ended)
	if err != nil {
		return err
	}
	if !bytes.Equal(next, line[width:]) {
		return f.otherText()
	}
	return nil
}

// expectBeginning checks that a text is the beginning of the next line of a VM.
func (f *file) expectBeginning(ctx context.Context, c Consoles, text []byte, ended bool) error {
	for rank, s := range f.sources {
		prefix := f.prefix(rank)
		if !bytes.HasPrefix(prefix, text[:min(len(text), len(prefix))]) {
			continue
		}
		line, err := s.line(ctx, c, ended)
		if err != nil {
			return err
		}
		s.next = line
		if bytes.HasPrefix(append(prefix, line...), text) {
			return nil
		}
	}
	return f.otherText()
}
