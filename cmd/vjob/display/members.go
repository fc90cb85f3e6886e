package display

import (
	"fmt"
	"strings"

	"vjob/api/wire"
	"vjob/cluster"
)

// Members is an array in short: "[1-100] 37 waiting 60 running 3 ended".
func Members(m *wire.Members) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%d-%d]", m.First, m.Last)
	ended := 0
	for state := cluster.Waiting; state <= cluster.Failed; state++ {
		n := m.States[state.String()]
		switch {
		case state.Terminal():
			ended += n
		case n > 0:
			fmt.Fprintf(&b, " %d %s", n, state)
		}
	}
	if ended > 0 {
		fmt.Fprintf(&b, " %d ended", ended)
	}
	return b.String()
}
