package api_test

import (
	"context"
	"fmt"
	"io"
	"strings"

	"vjob/api/wire"
	"vjob/cluster"
)

// console has the same text for every VM of rank 0.
type console struct{}

func (console) Errors(_ context.Context, vm cluster.VMID) (io.ReadCloser, error) {
	return nil, fmt.Errorf("standard error of %s: %w", vm, cluster.ErrNotFound)
}

func (console) Console(_ context.Context, vm cluster.VMID) (io.ReadCloser, error) {
	if vm.Rank != 0 {
		return nil, fmt.Errorf("console of %s: %w", vm, cluster.ErrNotFound)
	}
	return io.NopCloser(strings.NewReader("one\ntwo\nthree\n")), nil
}

type catalogue []wire.Image

func (c catalogue) Images(context.Context) ([]wire.Image, error) { return c, nil }
