package replay

import "time"

// maxSamples is the maximum number of samples of a run.
const maxSamples = 8192

// sampler decides when the next sample is due. When there are too many samples, it
// drops every second one and halves the rate.
type sampler struct {
	every time.Duration
	next  time.Time
}

func (s *sampler) add(sample Sample, now time.Time, samples *[]Sample) {
	*samples = append(*samples, sample)
	if len(*samples) >= maxSamples {
		kept := (*samples)[:0]
		for i, old := range *samples {
			if i%2 == 0 {
				kept = append(kept, old)
			}
		}
		*samples = kept
		s.every *= 2
	}
	for !s.next.After(now) {
		s.next = s.next.Add(s.every)
	}
}
