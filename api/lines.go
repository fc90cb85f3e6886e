package api

import (
	"fmt"
	"iter"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
)

// accepts reports whether a request asks for a media type by its name.
func accepts(r *http.Request, media string) bool {
	return slices.ContainsFunc(r.Header.Values("Accept"), func(v string) bool { return strings.Contains(v, media) })
}

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
