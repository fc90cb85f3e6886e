package api

import (
	"fmt"
	"iter"
	"runtime/debug"
)

// ahead walks a sequence in a goroutine of its own, one step ahead of its consumer.
func ahead[T any](seq iter.Seq2[T, error]) iter.Seq2[T, error] {
	type step struct {
		value T
		err   error
	}
	return func(yield func(T, error) bool) {
		steps, enough := make(chan step), make(chan struct{})
		defer close(enough)
		go func() {
			defer close(steps)
			send := func(value T, err error) bool {
				select {
				case steps <- step{value, err}:
					return true
				case <-enough:
					return false
				}
			}
			defer func() {
				if what := recover(); what != nil {
					var none T
					send(none, fmt.Errorf("panic: %v\n%s", what, debug.Stack()))
				}
			}()
			seq(send)
		}()
		for s := range steps {
			if !yield(s.value, s.err) {
				return
			}
		}
	}
}
