package backfill

// firstFit starts every job that fits, in the order of the queue. Nothing is kept free, so
// wide jobs may starve.
type firstFit struct{ running }

func newFirstFit(size int64) *firstFit { return &firstFit{newRunning(size)} }

// Pass implements [Discipline].
func (f *firstFit) Pass(now Time, gone []int64, came []Job) []int64 {
	f.begin()
	place := f.waiting.end() // jobs that wait already did not fit into what was free
	for _, id := range gone {
		if _, ran := f.leave(id); ran {
			place = f.waiting.first
		}
	}
	f.waiting.add(came...)
	for {
		if place = f.waiting.next(place, f.free, f.free, Never); place == f.waiting.end() {
			return f.started
		}
		f.start(place, now)
	}
}

// Wake implements [Discipline]: jobs start when others end.
func (*firstFit) Wake() Time { return Never }
