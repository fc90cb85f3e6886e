package admission

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/oar"
	"vjob/oar/property"
	"vjob/oar/request"
)

// Field is the name of the list of rules in messages.
const Field = "admission"

// Compile checks rules. The error is a [*cluster.FieldError] with a path such as
// admission[3].when.kinds, which package document resolves to a line.
func Compile(rules []Rule) (*Policy, error) {
	p := &Policy{}
	for i, r := range rules {
		c := compiled{Rule: r, over: request.NoWalltime, walltime: request.NoWalltime}
		if err := c.check(fmt.Sprintf("%s[%d]", Field, i)); err != nil {
			return nil, err
		}
		p.rules = append(p.rules, c)
	}
	return p, nil
}

// check parses the texts of a rule, and refuses rules without effect.
func (c *compiled) check(path string) (err error) {
	sets := len(c.Set.Types) > 0 || slices.ContainsFunc(
		[]string{c.Set.Queue, c.Set.Project, c.Set.Property, c.Set.Walltime, c.Set.Memory, c.Set.Image}, func(s string) bool { return s != "" })
	switch {
	case c.Refuse != "" && (sets || c.Say != ""):
		return cluster.Fault(path+".refuse", "refuse excludes set and say")
	case c.Refuse == "" && !sets && c.Say == "":
		return cluster.Fault(path, "rule %q has no effect, want set, say or refuse", c.Name)
	}
	if err := c.limits(path + ".when"); err != nil {
		return err
	}
	if c.over, err = walltime(path+".when.walltime_over", c.When.WalltimeOver); err != nil {
		return err
	}
	if c.walltime, err = walltime(path+".set.walltime", c.Set.Walltime); err != nil {
		return err
	}
	if c.least, err = memory(path+".when.memory_over", c.When.MemoryOver); err != nil {
		return err
	}
	if c.memory, err = memory(path+".set.memory", c.Set.Memory); err != nil {
		return err
	}
	if c.property, err = property.Parse(path+".set.property", c.Set.Property); err != nil {
		if e, ok := errors.AsType[*oar.Error](err); ok {
			return cluster.BadField(path+".set.property", c.Set.Property, "a condition on the properties of nodes: "+e.Text)
		}
		return err
	}
	for _, t := range c.Set.Types {
		if t == "" {
			return cluster.BadField(path+".set.types", t, "the name of a type")
		}
	}
	if err := c.text(path+".say", c.Say); err != nil {
		return err
	}
	return c.text(path+".refuse", c.Refuse)
}

// limits checks kinds, counts, and conditions that exclude each other.
func (c *compiled) limits(path string) error {
	for _, k := range c.When.Kinds {
		if k != Batch && k != Interactive && k != Reservation {
			return cluster.BadField(path+".kinds", k, "one of batch, interactive, reservation")
		}
	}
	if c.When.NoWalltime && c.When.WalltimeOver != "" {
		return cluster.Fault(path+".walltime_over", "excludes no_walltime: no job has both")
	}
	if c.When.NoMemory && c.When.MemoryOver != "" {
		return cluster.Fault(path+".memory_over", "excludes no_memory: no job has both")
	}
	for _, l := range []struct {
		name  string
		limit *int
	}{{"array_over", c.When.ArrayOver}, {"reservations_over", c.When.ReservationsOver}, {"jobs_over", c.When.JobsOver}} {
		if l.limit != nil && *l.limit < 0 {
			return cluster.BadField(path+"."+l.name, *l.limit, "a number from 0 on")
		}
	}
	return nil
}

// walltime parses h:m:s. It returns request.NoWalltime for "".
func walltime(path, text string) (time.Duration, error) {
	if text == "" {
		return request.NoWalltime, nil
	}
	d, warning, err := oar.ParseWalltime(text)
	if err != nil || warning != "" { // in settings, warnings are errors
		return 0, cluster.BadField(path, text, "hours:minutes:seconds, such as 12:0:0")
	}
	return d, nil
}

// memory parses an amount. It returns 0 for "".
func memory(path, text string) (cluster.MiB, error) {
	if text == "" {
		return 0, nil
	}
	m, err := cluster.ParseMiB(text)
	if err != nil || m < 1 {
		return 0, cluster.BadField(path, text, "more than 0, such as 512MiB or 2GiB")
	}
	return m, nil
}

var braces = regexp.MustCompile(`\{[^{}]*\}`)

// text checks the placeholders of a text, and that the rule gives them values.
func (c *compiled) text(path, text string) error {
	for _, h := range braces.FindAllString(text, -1) {
		switch {
		case !slices.Contains(placeholders, h):
			return cluster.Fault(path, "%q has the unknown placeholder %s, want one of %s", text, h, strings.Join(placeholders, ", "))
		case h == "{type}" && len(c.When.Types) == 0 && c.When.UnknownTypes == nil:
			return cluster.Fault(path, "{type} requires when.types or when.unknown_types, which tell which one")
		case h == "{resource}" && len(c.When.Resources) == 0:
			return cluster.Fault(path, "{resource} requires when.resources, which tells which one")
		}
	}
	return nil
}

// Counts reports whether a rule depends on the reservations, or the jobs, that the user has.
func (p *Policy) Counts() (reservations, jobs bool) {
	for i := range p.rules {
		reservations = reservations || p.rules[i].When.ReservationsOver != nil
		jobs = jobs || p.rules[i].When.JobsOver != nil
	}
	return reservations, jobs
}
