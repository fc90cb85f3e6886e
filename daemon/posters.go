package daemon

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"

	"vjob/notify"
)

// posters are the posters of notifications: one at a time, which another one replaces when the settings change.
type posters struct {
	current atomic.Pointer[notify.Poster]
	next    chan *notify.Poster
}

func (p *posters) start(first *notify.Poster) {
	p.current.Store(first)
	p.next = make(chan *notify.Poster, 1)
}

// replace has another poster continue. It does not wait for the present one. It has one caller at a time.
func (p *posters) replace(next *notify.Poster) {
	select {
	case <-p.next: // not even begun
	default:
	}
	p.next <- next
}

// notify says that there may be new events.
func (p *posters) notify() { p.current.Load().Notify() }

// run delivers until the context ends. What one poster owes, the next one reads from its file.
func (p *posters) run(ctx context.Context, log *slog.Logger) error {
	for {
		running, stop := context.WithCancel(ctx)
		ended := make(chan error, 1)
		go func() { ended <- p.current.Load().Run(running) }()
		select {
		case err := <-ended:
			stop()
			return err
		case next := <-p.next:
			stop()
			if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
				log.Error("notifications: the poster ended", slog.Any("error", err))
			}
			p.current.Store(next)
		}
	}
}
