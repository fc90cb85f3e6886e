package housekeeping

import (
	"context"
	"time"

	"vjob/cluster"
)

// Sweeper removes what is kept for vjobs that are not live, except consoles younger than keep. Every
// driver implements it.
type Sweeper interface {
	Sweep(ctx context.Context, live func(cluster.VJobID) bool, keep time.Duration) error
}

// Sweep lets the driver remove what is kept for ended vjobs, except consoles younger than keep returns. Live returns the live vjobs and may
// block.
func Sweep(driver Sweeper, live func(context.Context) (func(cluster.VJobID) bool, error), every time.Duration, keep func() time.Duration) Task {
	return Task{Name: "sweep", Every: every, Do: func(ctx context.Context) error {
		lives, err := live(ctx)
		if err != nil {
			return err
		}
		return driver.Sweep(ctx, lives, keep())
	}}
}
