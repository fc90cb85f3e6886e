package api

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/notify"
)

// Bounds of terms.
const (
	maxAfter      = 1000 // dependencies
	maxShapes     = 16
	maxNotify     = 8
	maxLabels     = 64
	maxLabel      = 8 << 10 // bytes
	maxMinRun     = 30 * 86_400
	maxFlexible   = 30 * 86_400
	wantCondition = "afterok, afterany, afternotok or after"
)

var labelShape = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]{0,63}$`)

// terms checks what can be checked without the loop and the store. Which queues,
// projects and vjobs there are is theirs to say.
func terms(w *wire.Terms, vms int) (t cluster.Terms, err error) {
	t = cluster.Terms{
		Queue: w.Queue, Project: w.Project, Deadline: at(w.Deadline), MinShare: w.Floor,
		BestEffort: w.BestEffort, MinRun: time.Duration(w.MinRunSeconds) * time.Second, Reservation: at(w.Reservation),
		NotBefore: at(w.NotBefore), NotAfter: at(w.NotAfter), Flexible: time.Duration(w.FlexibleSeconds) * time.Second,
		MaxConcurrent: w.AtOnce, LeaderEnds: w.Led, Idempotent: w.Idempotent, Container: w.Container, Inner: cluster.VJobID(w.Inner),
		Notify: w.Notify, Labels: w.Labels,
	}
	steps := []func() error{
		func() error { return checkTermNames(w) },
		func() error { return check(w.Floor >= 0 && w.Floor <= 1, "floor", w.Floor, "from 0 to 1") },
		func() error { return inRange("min_run_seconds", w.MinRunSeconds, 0, maxMinRun) },
		func() error { return inRange("flexible_seconds", w.FlexibleSeconds, 0, maxFlexible) },
		func() error {
			both := w.FlexibleSeconds > 0 && w.Reservation != nil
			return check(!both, "flexible_seconds", w.FlexibleSeconds, "0: a vjob with a reservation starts when that begins")
		},
		func() error { return check(w.AtOnce >= 0, "at_once", w.AtOnce, "1 or more, or 0 for all") },
		func() error { return check(w.Inner >= 0, "inner", w.Inner, "the number of a container") },
		func() (err error) { t.Preemption, err = named(w.Yields, cluster.ParsePreemption); return err },
		func() (err error) { t.Unmet, err = named(w.Unmet, cluster.ParseUnmet); return err },
		func() (err error) { t.After, err = dependencies(w.After); return err },
		func() (err error) { t.Shapes, err = shapes(w.Shapes, vms); return err },
		func() error {
			never := t.BestEffort && t.Preemption == cluster.Never
			return check(!never, "yields", w.Yields, "suspend or end: a vjob that is best-effort makes room")
		},
		func() error { return checkNotify(w.Notify) },
		func() error { return checkLabels(w.Labels) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return cluster.Terms{}, err
		}
	}
	return t, nil
}

func at(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

// named reads the name of something, where "" is the first of its kind.
func named[T any](name string, parse func(string) (T, error)) (value T, err error) {
	if name == "" {
		return value, nil
	}
	return parse(name)
}

func checkTermNames(w *wire.Terms) error {
	return firstOf(
		optionalName("queue", w.Queue),
		optionalName("project", w.Project),
	)
}

func dependencies(list []wire.Dependency) (after []cluster.Dependency, err error) {
	if len(list) > maxAfter {
		return nil, cluster.BadField("after", len(list), fmt.Sprintf("at most %d dependencies", maxAfter))
	}
	for i, d := range list {
		field := fmt.Sprintf("after[%d]", i)
		when, err := named(d.When, cluster.ParseCondition)
		if err != nil {
			return nil, cluster.BadField(field+".when", d.When, wantCondition)
		}
		if d.On < 1 {
			return nil, cluster.BadField(field+".on", d.On, "the number of a vjob, such as 12")
		}
		after = append(after, cluster.Dependency{On: cluster.VJobID(d.On), When: when, Array: d.Array})
	}
	return after, nil
}

// shapes reads the alternatives of a moldable vjob.
func shapes(list []wire.Shape, vms int) (shapes []cluster.Shape, err error) {
	if len(list) > maxShapes {
		return nil, cluster.BadField("shapes", len(list), fmt.Sprintf("at most %d alternatives", maxShapes))
	}
	for i := range list {
		shape, err := shapeOf(&list[i], vms)
		if err != nil {
			return nil, cluster.WithPath(fmt.Sprintf("shapes[%d]", i), err)
		}
		shapes = append(shapes, shape)
	}
	return shapes, nil
}

func shapeOf(w *wire.Shape, vms int) (cluster.Shape, error) {
	s := wire.Submission{Count: w.Count, Template: w.Template, VMs: w.VMs, WalltimeSeconds: w.WalltimeSeconds, Rules: w.Rules}
	if w.WalltimeSeconds < 1 {
		return cluster.Shape{}, cluster.BadField("walltime_seconds", w.WalltimeSeconds, "1 or more: the alternative that ends first is taken")
	}
	sub, err := Submission(&s, vms)
	return cluster.Shape{VMs: sub.VMs, Walltime: sub.Walltime, Rules: sub.Rules}, err
}

func checkNotify(list []string) error {
	if len(list) > maxNotify {
		return cluster.BadField("notify", len(list), fmt.Sprintf("at most %d addresses", maxNotify))
	}
	for i, text := range list {
		field := fmt.Sprintf("notify[%d]", i)
		var bad *cluster.FieldError
		if _, err := notify.ParseAddress(text); errors.As(err, &bad) {
			return &cluster.FieldError{Field: field, Value: bad.Value, Want: bad.Want}
		}
	}
	return nil
}

func checkLabels(labels map[string]string) error {
	if len(labels) > maxLabels {
		return cluster.BadField("labels", len(labels), fmt.Sprintf("at most %d labels", maxLabels))
	}
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		field := joinField("labels", name)
		err := firstOf(
			check(labelShape.MatchString(name), field, name, "a name of 1 to 64 letters, digits, '.', '_' or '-', beginning with a letter"),
			check(len(labels[name]) <= maxLabel && printable(labels[name], "\n\t"), field, labels[name], fmt.Sprintf("printable text of at most %d bytes", maxLabel)),
		)
		if err != nil {
			return err
		}
	}
	return nil
}

// wireTerms shows terms; the first shape of a moldable vjob is the vjob itself.
func wireTerms(t *cluster.Terms) wire.Terms {
	w := wire.Terms{
		Queue: t.Queue, Project: t.Project, Deadline: instant(t.Deadline), Floor: t.MinShare,
		BestEffort: t.BestEffort, MinRunSeconds: int64(t.MinRun / time.Second), Reservation: instant(t.Reservation),
		NotBefore: instant(t.NotBefore), NotAfter: instant(t.NotAfter), FlexibleSeconds: int64(t.Flexible / time.Second),
		AtOnce: t.MaxConcurrent, Led: t.LeaderEnds, Idempotent: t.Idempotent, Container: t.Container, Inner: int64(t.Inner), Notify: t.Notify, Labels: t.Labels,
	}
	if t.Preemption != 0 {
		w.Yields = t.Preemption.String()
	}
	if t.Unmet != 0 {
		w.Unmet = t.Unmet.String()
	}
	for _, d := range t.After {
		w.After = append(w.After, wire.Dependency{On: int64(d.On), When: d.When.String(), Array: d.Array})
	}
	for _, s := range t.Shapes {
		w.Shapes = append(w.Shapes, wireShape(&s))
	}
	return w
}

func wireShape(s *cluster.Shape) wire.Shape {
	w := wire.Shape{WalltimeSeconds: int64(s.Walltime / time.Second), Rules: s.Rules, VMs: make([]wire.VMSpec, len(s.VMs))}
	for i, vm := range s.VMs {
		w.VMs[i] = wire.VMSpec{
			CPUMilli: int64(vm.Reserved.CPU), MemoryMiB: int64(vm.Reserved.Memory), Image: vm.Payload.Image,
			Command: vm.Payload.Command, Script: vm.Payload.Script, Env: vm.Payload.Env,
		}
	}
	return w
}
