package simulated

// observer passes changes to [Cluster.OnChange].
type observer struct {
	onChange *func(Change)
	clock    *clock
	epochs   map[Disk]int // of the guests
}

// report passes a change to OnChange. mem is the memory concerned, or nil.
func (o *observer) report(ch Change, mem *memory) {
	if *o.onChange == nil {
		return
	}
	ch.At = o.clock.time()
	if mem != nil {
		ch.Stamp, ch.Corrupt = mem.Stamp, mem.Corrupt
		switch ch.Kind {
		case Booted, Unpaused, Migrated, Split:
		default:
			ch.MemoryEpoch, ch.DiskEpoch = mem.Epoch, o.epochs[mem.disk(ch.VM)]
		}
	}
	(*o.onChange)(ch)
}
