package workload

// VMs counts the members of all vjobs.
func (w *Workload) VMs() int {
	n := 0
	for i := range w.Jobs {
		s := &w.Jobs[i].Submission
		n += len(s.VMs) * max(1, len(s.Array))
	}
	return n
}
