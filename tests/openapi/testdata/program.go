// This program uses the client that oapi-codegen makes of the OpenAPI document, against the daemon behind a socket. The
// test puts it beside the generated file.
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"
)

func main() {
	if err := run(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, socket string) error {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
	c, err := NewClientWithResponses("http://vjob", WithHTTPClient(&http.Client{Transport: &http.Transport{DialContext: dial}}))
	if err != nil {
		return err
	}
	steps := []Step{{CpuMilli: 500, Seconds: 1}}
	work := &VMSpec{CpuMilli: 500, MemoryMib: 256, Steps: &steps}
	one, five := int64(1), int64(5)
	done, err := c.SubmitVJobWithResponse(ctx, nil, Submission{Name: to("once"), Count: &one, Template: work})
	if err != nil || done.JSON201 == nil {
		return fmt.Errorf("submit: %v, %s", err, done.Body)
	}
	state := ""
	for began := time.Now(); state != "terminated"; time.Sleep(20 * time.Millisecond) {
		now, err := c.GetVJobWithResponse(ctx, "once", nil)
		if err != nil || now.JSON200 == nil || time.Since(began) > time.Minute {
			return fmt.Errorf("wait: %v, %s", err, now.Body)
		}
		state = string(now.JSON200.State)
	}
	fmt.Println("once is", state)

	sweep, err := c.SubmitVJobWithResponse(ctx, nil, Submission{Name: to("sweep"), Array: &five, Hold: to(true), Count: &one, Template: work})
	if err != nil || sweep.JSON201 == nil {
		return fmt.Errorf("submit an array: %v, %s", err, sweep.Body)
	}
	limit := 2
	for q := (&ListVJobsParams{Name: to("sweep"), Limit: &limit}); ; {
		page, err := c.ListVJobsWithResponse(ctx, q)
		if err != nil || page.JSON200 == nil {
			return fmt.Errorf("list: %v, %s", err, page.Body)
		}
		fmt.Println("a page of", len(page.JSON200.Vjobs))
		if q.Cursor = page.JSON200.Next; q.Cursor == nil {
			break
		}
	}

	none := int64(0)
	wrong, err := c.SubmitVJobWithResponse(ctx, nil, Submission{Name: to("7"), Count: &none, Template: work})
	if err != nil || wrong.JSON400 == nil || wrong.JSON400.Error.Fields == nil {
		return fmt.Errorf("submit what is wrong: %v, %s", err, wrong.Body)
	}
	for _, fault := range *wrong.JSON400.Error.Fields {
		fmt.Println("refused:", fault.Field)
	}
	return nil
}

func to[T any](x T) *T { return &x }
