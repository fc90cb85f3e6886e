package powercut

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"vjob/tests/powercut/disk"
)

// Recording is what a program did, by its name.
type Recording struct {
	Name string
	Log  *disk.Log
}

// Campaign cuts the power many times.
type Campaign struct {
	Recordings []Recording
	Seed       uint64
	Cuts       int
	Workers    int
	Folder     string // the cuts are rebuilt below it, and removed
	// Check looks at the files of a cut. Marks are what the program had said by then.
	Check    func(folder string, r Recording, marks []string) error
	Progress func(done, violations int) // called after each batch, by one worker at a time; may be nil
}

// Cut is one loss of power of a campaign. Its number and the seed determine it.
type Cut struct {
	Seed, Number uint64
	Profile      disk.Profile
	Instant      int // operations of the recording that were done
	recording    int
	random       *rand.Rand
}

// Violation is a cut after which a promise was broken.
type Violation struct {
	Cut
	Recording string
	Err       error
}

func (v *Violation) String() string {
	return fmt.Sprintf("seed %d, cut %d (%s, %s, operation %d): %v", v.Seed, v.Number, v.Recording, v.Profile, v.Instant, v.Err)
}

// batch is how many cuts a worker takes at once. It plays each log once for a batch.
const batch = 64

// Run makes the cuts and returns the violations in order of their numbers, and errors
// of the machine itself.
func (c *Campaign) Run() (violations []*Violation, err error) {
	var (
		mu      sync.Mutex
		next    int
		done    int
		workers sync.WaitGroup
	)
	for worker := range c.Workers {
		workers.Go(func() {
			folder := filepath.Join(c.Folder, fmt.Sprint(worker))
			for {
				mu.Lock()
				from := next
				next += batch
				stop := err != nil
				mu.Unlock()
				if stop || from >= c.Cuts {
					return
				}
				to := min(from+batch, c.Cuts)
				found, failed := c.batch(folder, from, to)
				mu.Lock()
				done += to - from
				violations = append(violations, found...)
				err = errors.Join(err, failed)
				if c.Progress != nil {
					c.Progress(done, len(violations))
				}
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	slices.SortFunc(violations, func(a, b *Violation) int { return cmp.Compare(a.Number, b.Number) })
	return violations, err
}

// batch makes the cuts of some numbers. They are sorted, so that a disk plays on from
// one to the next.
func (c *Campaign) batch(folder string, from, to int) (violations []*Violation, err error) {
	cuts := make([]Cut, 0, to-from)
	for number := from; number < to; number++ {
		cuts = append(cuts, c.draw(uint64(number)))
	}
	slices.SortFunc(cuts, func(a, b Cut) int {
		return cmp.Or(cmp.Compare(a.recording, b.recording), cmp.Compare(a.Profile, b.Profile), cmp.Compare(a.Instant, b.Instant))
	})
	var d *disk.Disk
	for i, cut := range cuts {
		r := c.Recordings[cut.recording]
		if i == 0 || cut.recording != cuts[i-1].recording || cut.Profile != cuts[i-1].Profile {
			d = disk.New(r.Log, cut.Profile)
		}
		d.Play(cut.Instant)
		if err := Rebuild(folder, d.Cut(cut.random)); err != nil {
			return violations, err
		}
		if err := c.Check(folder, r, r.Log.Marks(cut.Instant)); err != nil {
			violations = append(violations, &Violation{cut, r.Name, err})
		}
	}
	return violations, os.RemoveAll(folder)
}

// draw chooses where a cut is: anywhere, or as soon as something was said, when what
// was promised is youngest.
func (c *Campaign) draw(number uint64) Cut {
	random := rand.New(rand.NewPCG(c.Seed, number))
	cut := Cut{Seed: c.Seed, Number: number, random: random}
	cut.recording = random.IntN(len(c.Recordings))
	cut.Profile = disk.Profiles[random.IntN(len(disk.Profiles))]
	log := c.Recordings[cut.recording].Log
	cut.Instant = log.Start + random.IntN(len(log.Ops)-log.Start+1)
	if random.IntN(2) == 0 {
		for cut.Instant > log.Start && log.Ops[cut.Instant-1].Kind != disk.Mark {
			cut.Instant--
		}
	}
	return cut
}

// Rebuild makes a folder hold what is on a disk, and nothing else.
func Rebuild(folder string, tree disk.Tree) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	for _, name := range tree.Folders {
		if err := os.Mkdir(filepath.Join(folder, name), 0o700); err != nil {
			return err
		}
	}
	for name, data := range tree.Files {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}
