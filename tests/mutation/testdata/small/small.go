// Package small has one of each thing that is mutated.
package small

import (
	"errors"
	"fmt"
	"time"
)

type kind uint8

const (
	none kind = iota
	some
	many
)

type box struct {
	Kind  kind
	Sizes []int
	Open  bool
}

var limit = 3

func make1(sizes []int, wait time.Duration) (*box, error) {
	if len(sizes) == 0 {
		return nil, errors.New("no sizes")
	}
	b := &box{Kind: some, Sizes: sizes, Open: true}
	for i := range sizes {
		if sizes[i] < 0 || sizes[i] > 9 && wait > time.Second {
			return nil, fmt.Errorf("size %d", i)
		}
	}
	if len(sizes) >= limit {
		b.Kind = many
	}
	return b, nil
}

func (b *box) sum(weight int) (total int) {
	defer func() { b.Open = false }()
	for _, s := range b.Sizes {
		total += s * weight
	}
	return total + 1
}

func (k kind) String() string {
	switch k {
	case some:
		return "some"
	case many:
		return "many"
	}
	return ""
}

func wait(done, other chan int) int {
	select {
	case n := <-done:
		return n
	case <-other:
	}
	for n := 0; ; n++ {
		if n > 3 {
			return n
		}
	}
}
