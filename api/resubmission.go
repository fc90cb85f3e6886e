package api

import (
	"context"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// submission answers GET /v1/vjobs/{id}/submission: what submits the same again.
func (h *vjobHandler) submission(c *gin.Context, caller Subject) error {
	kept, err := h.inPath(c, caller, Read)
	if err != nil {
		return err
	}
	q := queryReader{c: c}
	whole := q.flag("array")
	if q.err != nil {
		return q.err
	}
	s := submissionOf(&kept)
	switch {
	case whole && kept.Array == 0:
		return cluster.Fault("array", "vjob %s belongs to no array", kept.ID)
	case whole:
		if s.Parameters, err = h.parameters(c.Request.Context(), caller, kept.Array); err != nil {
			return err
		}
		s.Array = len(s.Parameters)
	case kept.Array != 0:
		s.Array, s.Parameters = 1, []string{kept.Parameter}
	}
	return answer(c, http.StatusOK, s)
}

// parameters lists the parameters of an array, of its vjobs that are still kept; of those that were tried again once.
func (h *vjobHandler) parameters(ctx context.Context, caller Subject, array cluster.VJobID) ([]string, error) {
	rows, _, err := h.vjobs.VJobs(ctx, journal.Filter{Owner: caller.Viewer(), Array: array})
	if err != nil {
		return nil, err
	}
	list := make([]string, 0, len(rows))
	for i := range rows {
		if rows[i].Replaces == 0 {
			list = append(list, rows[i].Parameter)
		}
	}
	return list, nil
}

// submissionOf is the submission of a vjob, with the walltime, the pool and the mode of moves that it has now.
func submissionOf(kept *journal.Kept) wire.Submission {
	vms, rules := kept.VMs, kept.Rules
	if len(kept.Shapes) > 0 {
		vms, rules = kept.Shapes[0].VMs, kept.Shapes[0].Rules
	}
	s := wire.Submission{
		Name: kept.Name, Priority: kept.Priority, WalltimeSeconds: int64(kept.Walltime / time.Second), Rules: rules, Terms: wireTerms(kept.Terms),
	}
	if len(kept.Shapes) > 0 {
		s.WalltimeSeconds, s.Shapes = int64(kept.Shapes[0].Walltime/time.Second), s.Shapes[1:]
	}
	s.Terms.Terms.Shapes, s.Pool, s.Moves = nil, kept.Pool, kept.Moves
	if kept.Array != 0 {
		s.Name, _, _ = strings.Cut(s.Name, "[")
	}
	s.Count, s.Template, s.VMs = foldVMs(vmSpecsOf(vms))
	for i := range s.Shapes {
		shape := &s.Shapes[i]
		shape.Count, shape.Template, shape.VMs = foldVMs(shape.VMs)
	}
	return s
}

// vmSpecsOf describes VMs as a submission does.
func vmSpecsOf(vms []cluster.VM) []wire.VMSpec {
	list := make([]wire.VMSpec, len(vms))
	for i, vm := range vms {
		work := vm.Work()
		list[i] = wire.VMSpec{
			CPUMilli: int64(vm.Reserved.CPU), MemoryMiB: int64(vm.Reserved.Memory), Image: work.Image,
			Command: work.Command, Script: work.Script, Env: work.Env,
		}
		if work.Program != nil {
			list[i].Steps, list[i].ExitCode = wireProgram(work.Program)
		}
	}
	return list
}

func wireProgram(p *cluster.Program) (steps []wire.Step, exit *int) {
	for _, s := range p.Steps {
		step := wire.Step{
			CPUMilli: int64(s.CPU), MemoryMiB: int64(s.Memory), Seconds: s.Duration.Seconds(),
			NetworkMbit: math.Round(float64(s.Network)/125) / 1000,
		}
		for _, ref := range s.After {
			step.After = append(step.After, wire.StepRef{Rank: ref.Rank, Index: ref.Index})
		}
		steps = append(steps, step)
	}
	if p.Exit != 0 {
		exit = &p.Exit
	}
	return steps, exit
}

// foldVMs gives equal VMs as a count and a template.
func foldVMs(list []wire.VMSpec) (count int, template *wire.VMSpec, vms []wire.VMSpec) {
	differs := func(v wire.VMSpec) bool { return !reflect.DeepEqual(v, list[0]) }
	if len(list) == 0 || slices.ContainsFunc(list, differs) {
		return 0, nil, list
	}
	return len(list), &list[0], nil
}
