package backfill

// fcfs is first come, first served: the head starts when it fits, and no job passes it.
type fcfs struct{ running }

func newFCFS(size int64) *fcfs { return &fcfs{newRunning(size)} }

// Pass implements [Discipline].
func (f *fcfs) Pass(now Time, gone []int64, came []Job) []int64 {
	f.begin()
	for _, id := range gone {
		f.leave(id)
	}
	f.waiting.add(came...)
	for head := f.waiting.head(); head != nil && head.Width <= f.free; head = f.waiting.head() {
		f.start(f.waiting.first, now)
	}
	return f.started
}

// Wake implements [Discipline]: jobs start when others end.
func (*fcfs) Wake() Time { return Never }
