package drs

import (
	"fmt"
	"testing"
)

func TestZZ(t *testing.T) {
	for seed := range uint64(6) {
		off := table1(seed, nil).run()
		on := table1(seed, unlimited()).run()
		fmt.Printf("%.2f %.2f   %.2f %.2f %d gain %.2f %.2f\n", off.cpu, off.memory, on.cpu, on.memory, on.migrations, on.cpu-off.cpu, on.memory-off.memory)
		for _, r := range on.rounds {
			fmt.Print(r.moves, " ")
		}
	}
}
