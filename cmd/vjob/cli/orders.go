package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/display"
)

// ordersAtOnce is how many orders are sent at a time: the daemon commits them together.
const ordersAtOnce = 8

// ordersHelp explains what all commands that take several vjobs share.
const ordersHelp = `

A VJOB is a number or a name, of a vjob or of an array; sweep[3], sweep[3-7] and 1046[2,5-9] are some of an array, and
1046[1] is its first vjob alone. In place of these, flags select vjobs: yours, or with --user those of another user. Only
those that have not ended are meant.

An order to a whole array, or by flags, asks first on a terminal; --yes skips the question. Elsewhere an order by flags
needs --yes. If only some of the vjobs follow, the exit code is 7.`

// Orders is a command that gives the same order to vjobs and arrays.
type Orders struct {
	Verb string // "delete"
	Done string // "will end"
	// Each gives the order to one vjob, All to an array in one step; nil: to each of its vjobs.
	Each, All func(ctx context.Context, c *client.Client, id int64) (wire.VJob, error)
	// Say returns the line about a vjob that has the order; nil: how it is now.
	Say func(j *wire.VJob) string

	a      *App
	filter Filter
	every  bool // one's own
	yes    bool
	array  bool
}

// Register gives the command the flags that select vjobs, and the help about them.
func (o *Orders) Register(a *App, cmd *cobra.Command) {
	o.a = a
	cmd.Long = cmp.Or(cmd.Long, strings.ToUpper(cmd.Short[:1])+cmd.Short[1:]+".") + ordersHelp
	flags := cmd.Flags()
	o.filter.Register(flags, "all")
	flags.BoolVar(&o.every, "all", false, "all of yours")
	flags.BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	flags.BoolVar(&o.array, "array", false, "refuse numbers and names that are not those of arrays")
}

// Operand splits the last word off, which is not a vjob. Without any word the error names the missing field.
func (o *Orders) Operand(cmd *cobra.Command, words []string, field, want string) (vjobs []string, operand string, err error) {
	last := len(words) - 1
	if last < 0 || last == 0 && !o.every && o.filter.Given(cmd.Flags()) == "" {
		return nil, "", cluster.Fault(field, "missing, want %s", want)
	}
	return words[:last], words[last], nil
}

// target is one vjob, or an array.
type target struct {
	id    int64
	array bool
	whole bool   // it belongs to an array all of which is meant
	name  string // for messages
	vjobs int    // how many are meant
	state string // of one vjob, where it is known
}

// Run finds the vjobs that the words name or the flags select, and gives the order to each. It goes on after an error
// and returns them all; [PartialError] says that others have followed.
func (o *Orders) Run(cmd *cobra.Command, words []string) error {
	flag := o.filter.Given(cmd.Flags())
	if o.every {
		flag = "--all"
	}
	switch {
	case flag == "" && len(words) == 0:
		return &UsageError{Cmd: cmd, Err: errors.New("nothing is selected: want vjobs, or flags such as --state waiting or --all")}
	case flag != "" && len(words) > 0:
		return cluster.Fault(flag, "given beside vjobs, want one of them")
	case flag != "" && !o.yes && !o.a.interactive():
		return cluster.Fault(flag, "selects any number of vjobs and there is no terminal to ask on, want --yes as well")
	}
	c, err := o.a.Client()
	if err != nil {
		return err
	}
	var targets []target
	var errs []error
	if flag != "" {
		targets, err = o.selected(cmd.Context(), c)
	} else {
		targets, errs = o.named(cmd.Context(), c, words)
	}
	if err != nil {
		return err
	}
	if asks := flag != "" || slices.ContainsFunc(targets, func(t target) bool { return t.whole }); asks && len(targets) > 0 && !o.yes && o.a.interactive() {
		if err := o.confirm(targets); err != nil {
			return err
		}
	}
	return o.give(cmd.Context(), c, targets, errs, flag != "" || len(words) > 1)
}

// selected are the live vjobs that the flags select. Those that do not run come first, so that none starts in the
// place of one that ends.
func (o *Orders) selected(ctx context.Context, c *client.Client) (list []target, err error) {
	q, err := o.filter.Query()
	if err != nil {
		return nil, err
	}
	if q.Owner == "" {
		who, err := c.Whoami(ctx)
		if err != nil {
			return nil, err
		}
		q.Owner = who.Name
	}
	q.Live = true
	found, err := FetchVJobs(ctx, c, q)
	for i := range found.VJobs {
		list = append(list, vjobTarget(&found.VJobs[i]))
	}
	slices.SortStableFunc(list, func(a, b target) int { return cmp.Compare(turn(a.state), turn(b.state)) })
	return list, err
}

// turn puts vjobs that wait before others.
func turn(state string) int {
	if state == cluster.Waiting.String() {
		return 0
	}
	return 1
}

func vjobTarget(j *wire.VJob) target {
	return target{id: j.ID, name: fmt.Sprintf("vjob %d", j.ID), vjobs: 1, state: j.State}
}

// named are those that words name, each once, and what is wrong with the others.
func (o *Orders) named(ctx context.Context, c *client.Client, words []string) (list []target, errs []error) {
	known := map[target]bool{}
	for _, word := range words {
		found, err := o.resolve(ctx, c, word)
		if err != nil {
			errs = append(errs, err)
		}
		for _, t := range found {
			if key := (target{id: t.id, array: t.array}); !known[key] {
				known[key] = true
				list = append(list, t)
			}
		}
	}
	return list, errs
}

// resolve finds what one word names.
func (o *Orders) resolve(ctx context.Context, c *client.Client, word string) ([]target, error) {
	r, err := ParseRef(word)
	if err != nil {
		return nil, err
	}
	row, err := r.find(ctx, c)
	switch {
	case err != nil:
		return nil, err
	case row.Members == nil && o.array:
		return nil, fmt.Errorf("array %q: %w", word, cluster.ErrNotFound)
	case row.Members == nil:
		return []target{vjobTarget(&row)}, nil
	case r.indexes == "" && o.All != nil:
		return []target{{id: row.Array, array: true, whole: true, name: fmt.Sprintf("array %d", row.Array), vjobs: liveMembers(row.Members)}}, nil
	}
	return members(ctx, c, row.Array, r.indexes)
}

// liveMembers is how many vjobs of an array have not ended.
func liveMembers(m *wire.Members) (n int) {
	for text, count := range m.States {
		if state, err := cluster.ParseState(text); err == nil && !state.Terminal() {
			n += count
		}
	}
	return n
}

// members are the live vjobs at some places of an array; if all have ended, these, which the daemon will
// refuse with how they ended.
func members(ctx context.Context, c *client.Client, array int64, indexes string) (list []target, err error) {
	for _, live := range []bool{true, false} {
		found, err := FetchVJobs(ctx, c, client.VJobQuery{Array: array, Indexes: indexes, Live: live})
		if err != nil {
			return nil, err
		}
		for i := range found.VJobs {
			list = append(list, vjobTarget(&found.VJobs[i]))
			list[i].whole = indexes == ""
		}
		if len(list) > 0 {
			return list, nil
		}
	}
	return nil, fmt.Errorf("vjob %d[%s]: %w", array, indexes, cluster.ErrNotFound)
}

// counted is how many vjobs are meant: "12 vjobs", "1 vjob".
func counted(targets []target) string {
	n := 0
	for _, t := range targets {
		n += t.vjobs
	}
	return cluster.Count(n, "vjob")
}

// confirm asks whether to go on.
func (o *Orders) confirm(targets []target) error {
	names := make([]string, len(targets))
	for i := range targets {
		names[i] = targets[i].name
	}
	_, _ = fmt.Fprintf(o.a.Err, "%s %s (%s)? [y/N] ", o.Verb, counted(targets), several(names))
	answer, _ := bufio.NewReader(o.a.In).ReadString('\n')
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return &ExitError{Code: ExitInternal, Text: "nothing was changed"}
	}
	return nil
}

// result is what became of one order.
type result struct {
	job wire.VJob
	err error
}

// give gives the order to each target, some at a time, and prints what became of them in their order, and the
// sum if it is wanted.
func (o *Orders) give(ctx context.Context, c *client.Client, targets []target, unknown []error, sum bool) error {
	jobs := []wire.VJob{}
	followed := 0
	refused := &refusals{verb: o.Verb, names: map[string][]string{}}
	for i, done := range o.send(ctx, c, targets) {
		r := <-done
		t := &targets[i]
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case r.err != nil:
			refused.add(t.name, r.err)
			continue
		}
		followed += t.vjobs
		jobs = append(jobs, r.job)
		if !o.a.Structured() {
			_, _ = fmt.Fprintln(o.a.Out, o.line(&r.job))
		}
	}
	errs := append(unknown, refused.errors()...)
	var err error
	switch {
	case o.a.Structured():
		err = o.a.Print(wire.VJobList{VJobs: jobs, Total: len(jobs)})
	case sum || len(targets) > 1:
		err = o.summary(followed, len(unknown)+refused.count)
	}
	if len(errs) > 0 && len(jobs) > 0 {
		return errors.Join(err, &PartialError{errs})
	}
	return errors.Join(append(errs, err)...)
}

// refusals are the orders that were refused, by the reason.
type refusals struct {
	verb  string
	count int
	errs  []error             // each reason once
	names map[string][]string // of what was refused, by the text of the reason
}

func (r *refusals) add(name string, err error) {
	text := err.Error()
	if len(r.names[text]) == 0 {
		r.errs = append(r.errs, err)
	}
	r.names[text] = append(r.names[text], name)
	r.count++
}

// errors returns an error for each reason.
func (r *refusals) errors() (list []error) {
	for _, err := range r.errs {
		names := r.names[err.Error()]
		if len(names) == 1 && strings.HasPrefix(err.Error(), names[0]+" ") || strings.HasPrefix(err.Error(), names[0]+":") {
			list = append(list, fmt.Errorf("%s: %w", r.verb, err))
			continue
		}
		list = append(list, fmt.Errorf("%s %s: %w", r.verb, several(names), err))
	}
	return list
}

// several names some things: "vjob 6, vjob 7, vjob 8 and 11 more".
func several(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most-1], ", "), len(names)-most+1)
}

// summary prints how many vjobs have the order.
func (o *Orders) summary(followed, refused int) error {
	text := cluster.Count(followed, "vjob") + " " + o.Done
	if refused > 0 {
		text += fmt.Sprintf(", %d refused", refused)
	}
	_, err := fmt.Fprintln(o.a.Out, text)
	return err
}

// send sends the orders, some at a time, and returns where their results arrive.
func (o *Orders) send(ctx context.Context, c *client.Client, targets []target) []chan result {
	results := make([]chan result, len(targets))
	for i := range results {
		results[i] = make(chan result, 1)
	}
	turns := make(chan struct{}, ordersAtOnce)
	go func() {
		for i := range targets {
			turns <- struct{}{}
			go func() {
				call := o.Each
				if targets[i].array {
					call = o.All
				}
				job, err := call(ctx, c, targets[i].id)
				results[i] <- result{job, err}
				<-turns
			}()
		}
	}()
	return results
}

// line says what will be done, and how things are.
func (o *Orders) line(j *wire.VJob) string {
	switch {
	case o.Say != nil:
		return display.Clean(o.Say(j))
	case j.Members != nil:
		return fmt.Sprintf("array %d: %s; %s now", j.Array, o.Done, display.Members(j.Members))
	default:
		return display.Clean(fmt.Sprintf("vjob %d: %s; it %s now", j.ID, o.Done, display.StateClause(j.State)))
	}
}

// interactive reports whether the user can be asked.
func (a *App) interactive() bool { return a.Interactive != nil && a.Interactive() }
