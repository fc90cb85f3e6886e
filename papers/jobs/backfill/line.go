package backfill

import (
	"math"
	"slices"
)

// line is the queue of waiting jobs, for searches of the next one that is small enough. Its
// places fall into blocks with known least width and length, so that a search passes over
// blocks.
type line struct {
	jobs   []Job // one that has left has the width none
	blocks []block
	first  int // no job waits before this place
	left   int // places without a job, from first on
}

// block is what is known of the jobs at some places.
type block struct {
	width  int64 // of the narrowest
	length Time  // of the shortest
}

const (
	blockSize = 64
	none      = math.MaxInt64
)

// add puts jobs at the end.
func (l *line) add(jobs ...Job) {
	for _, j := range jobs {
		if len(l.jobs)%blockSize == 0 {
			l.blocks = append(l.blocks, block{none, Never})
		}
		b := &l.blocks[len(l.blocks)-1]
		b.width, b.length = min(b.width, j.Width), min(b.length, j.Length)
		l.jobs = append(l.jobs, j)
	}
}

// head returns the first job; nil if the queue is empty.
func (l *line) head() *Job {
	if l.first == len(l.jobs) {
		return nil
	}
	return &l.jobs[l.first]
}

// end is the place after the last one.
func (l *line) end() int { return len(l.jobs) }

// next is the first place, this one or a later one, of a job that is at most so
// wide, and either no wider than the extra or no longer than the room; or the end.
func (l *line) next(place int, width, extra int64, room Time) int {
	for place < len(l.jobs) {
		b, end := &l.blocks[place/blockSize], min(len(l.jobs), (place/blockSize+1)*blockSize)
		if b.width <= width && (b.width <= extra || b.length <= room) {
			for ; place < end; place++ {
				if j := &l.jobs[place]; j.Width <= width && (j.Width <= extra || j.Length <= room) {
					return place
				}
			}
		}
		place = end
	}
	return place
}

// remove takes the job at a place out of the line. Places stay as they are until
// the line is tidied.
func (l *line) remove(place int) {
	l.jobs[place] = Job{Width: none, Length: Never}
	from := place / blockSize * blockSize
	b := block{none, Never}
	for _, j := range l.jobs[from:min(len(l.jobs), from+blockSize)] {
		b.width, b.length = min(b.width, j.Width), min(b.length, j.Length)
	}
	l.blocks[place/blockSize] = b
	l.left++
	for l.first < len(l.jobs) && l.jobs[l.first].Width == none {
		l.first++
		l.left--
	}
}

// drop takes a job out of the line that waits somewhere in it, if it does.
func (l *line) drop(id int64) {
	place := slices.IndexFunc(l.jobs[l.first:], func(j Job) bool { return j.ID == id && j.Width != none })
	if place >= 0 {
		l.remove(l.first + place)
	}
}

// tidy closes the gaps once they are most of the line. Places change.
func (l *line) tidy() {
	if gaps := l.first + l.left; gaps < blockSize || 2*gaps < len(l.jobs) {
		return
	}
	jobs := l.jobs[l.first:]
	*l = line{jobs: l.jobs[:0], blocks: l.blocks[:0]}
	for _, j := range jobs {
		if j.Width != none {
			l.add(j)
		}
	}
}
