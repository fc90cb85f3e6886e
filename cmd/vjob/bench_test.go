package main

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"vjob/api/client"
	"vjob/api/wire"
)

// crowd starts a daemon with so many vjobs that wait.
func crowd(b *testing.B, vjobs int) *shell {
	b.Helper()
	s, _ := liveWith(b, nil)
	c, err := client.New(client.Settings{Server: s.env["VJOB_SERVER"]})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	var senders sync.WaitGroup
	const at = 8
	for first := range at {
		senders.Go(func() {
			for i := first; i < vjobs; i += at {
				_, _, err := c.Submit(b.Context(), wire.Submission{
					Name: fmt.Sprintf("job-%d", i), Hold: true, Count: 1, Template: &wire.VMSpec{CPUMilli: 1000, MemoryMiB: 512},
				}, "")
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	senders.Wait()
	return s
}

// BenchmarkCommands runs what users type most against a daemon with 5,000 vjobs, in the process of the benchmark: the start of
// a process adds a few milliseconds.
func BenchmarkCommands(b *testing.B) {
	s := crowd(b, 5000)
	for _, line := range []string{
		"list", "list --match job-49", "list -o yaml", "list -o csv", "list --columns id,name --sort -memory", "show job-4000",
		"__complete delete ", "__complete delete job-49", "__complete delete 49", "__complete list --project ", "__complete list --label ", "__complete nodes drain ",
	} {
		b.Run(strings.ReplaceAll(line, " ", "_"), func(b *testing.B) {
			s := *s
			s.t = b
			for b.Loop() {
				s.ok(strings.Split(line, " ")...)
			}
		})
	}
}
