package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// stream is an open stream of events. It ends with its context.
type stream struct {
	arrivals chan time.Time // of events; an arrival is dropped if nothing takes it
	mu       sync.Mutex
	reached  map[reached]bool
	changed  chan struct{} // closed when one is added to reached
}

// reached is a state in which a vjob was since the stream was opened.
type reached struct {
	VJob  int64  `json:"vjob"`
	State string `json:"state"`
}

// follow opens a stream of the events from now on.
func (c *client) follow(ctx context.Context) (*stream, error) {
	conn, err := c.take(ctx)
	if err != nil {
		return nil, err
	}
	a, err := conn.ask("GET", "/v1/events?latest=true", "text/event-stream", nil)
	if err == nil && a.status != http.StatusOK {
		err = fmt.Errorf("a stream of events: status %d", a.status)
	}
	if err == nil {
		err = conn.SetDeadline(time.Time{})
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	s := &stream{arrivals: make(chan time.Time, 1), reached: map[reached]bool{}, changed: make(chan struct{})}
	go func() {
		defer func() { _ = conn.Close() }()
		for lines := bufio.NewScanner(a.body); lines.Scan(); {
			if data, ok := strings.CutPrefix(lines.Text(), "data:"); ok {
				s.note(data)
			}
		}
	}()
	return s, nil
}

// note notes an event.
func (s *stream) note(data string) {
	select {
	case s.arrivals <- time.Now():
	default:
	}
	var event reached
	if err := json.Unmarshal([]byte(data), &event); err != nil || event.State == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reached[event] = true
	close(s.changed)
	s.changed = make(chan struct{})
}

// reaches waits until a vjob that was submitted since has been in a state.
func (s *stream) reaches(ctx context.Context, id int64, state string) error {
	const patience = 10 * time.Minute
	tired := time.After(patience)
	for {
		s.mu.Lock()
		has, changed := s.reached[reached{id, state}], s.changed
		delete(s.reached, reached{id, state})
		s.mu.Unlock()
		if has {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		case <-tired:
			return fmt.Errorf("vjob %d is not %s after %s", id, state, patience)
		}
	}
}

// next waits for the next arrival.
func (s *stream) next(ctx context.Context) (time.Time, error) {
	select {
	case at := <-s.arrivals:
		return at, nil
	case <-ctx.Done():
		return time.Time{}, ctx.Err()
	case <-time.After(30 * time.Second):
		return time.Time{}, errors.New("no event in 30 s")
	}
}

// measureEvents measures how long the first event after a pause takes to a client that follows.
func measureEvents(ctx context.Context, r *run) error {
	d, _, err := r.start(ctx, cluster{nodes: 8, cpu: 4, memoryGiB: 8, speed: 20})
	if err != nil {
		return err
	}
	defer d.stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := d.follow(ctx)
	if err != nil {
		return err
	}
	var each latencies
	for range 30 {
		if err := d.settle(ctx); err != nil {
			return err
		}
		for len(s.arrivals) > 0 {
			<-s.arrivals
		}
		held := gang(1)
		held.Hold = true // so that its submission is the only event
		began := time.Now()
		if _, err := d.submit(ctx, held); err != nil {
			return err
		}
		at, err := s.next(ctx)
		if err != nil {
			return err
		}
		each = append(each, at.Sub(began))
	}
	const aim = 5 * time.Millisecond
	r.add(figure{
		What: "from the submission to its event at a client, after a pause", Measured: each.text(), Aim: "5 ms",
		Met: within(each.quantile(0.5).Seconds(), aim.Seconds()), Before: "58 ms",
	})
	return nil
}

// measureStreams opens many streams, and measures how long an event takes to all of them.
func measureStreams(ctx context.Context, r *run) error {
	d, _, err := r.start(ctx, cluster{nodes: 8, cpu: 4, memoryGiB: 8, speed: 20})
	if err != nil {
		return err
	}
	defer d.stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	small, _ := d.memory()
	var open []*stream
	var fault error
	for len(open) < r.sizes.streams {
		s, err := d.follow(ctx)
		if err != nil {
			fault = err
			break
		}
		open = append(open, s)
	}
	measured := fmt.Sprintf("%d", len(open))
	if fault != nil {
		measured += fmt.Sprintf(", then %v", fault)
	} else {
		if err := d.settle(ctx); err != nil {
			return err
		}
		before, began := d.cpu(), time.Now()
		held := gang(1)
		held.Hold = true
		if _, err := d.submit(ctx, held); err != nil {
			return err
		}
		each, err := arrivals(ctx, open, began)
		if err != nil {
			return err
		}
		large, _ := d.memory()
		measured += fmt.Sprintf("; an event at all of them after %s, CPU %s, %d KiB each", short(each.quantile(1)), short(d.cpu()-before), (large-small)*1024/len(open))
	}
	r.add(figure{What: "event streams at once", Measured: measured, Aim: fmt.Sprintf("%d", r.sizes.streams), Met: least(float64(len(open)), float64(r.sizes.streams)), Before: "64, then 503"})
	return nil
}

// arrivals waits for the next event of each stream.
func arrivals(ctx context.Context, open []*stream, began time.Time) (each latencies, err error) {
	var mu sync.Mutex
	var wait sync.WaitGroup
	for _, s := range open {
		wait.Go(func() {
			at, e := s.next(ctx)
			mu.Lock()
			defer mu.Unlock()
			if e != nil {
				err = e
				return
			}
			each = append(each, at.Sub(began))
		})
	}
	wait.Wait()
	return each, err
}
