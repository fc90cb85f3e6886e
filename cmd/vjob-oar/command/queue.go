package command

import (
	"context"
	"fmt"
	"slices"

	"vjob/oar"
	"vjob/oar/report"
	"vjob/oar/script"
)

var (
	queueOptions = []script.OptionSpec{
		{Name: "list", Letter: "l", Meaning: "list the queues"},
		{Name: "enable", Letter: "e", Argument: script.TextArgument, Meaning: "not offered: the settings of vjobd have the queues"},
		{Name: "disable", Letter: "d", Argument: script.TextArgument, Meaning: "not offered"},
		{Name: "enable-all", Letter: "E", Meaning: "not offered"},
		{Name: "disable-all", Letter: "D", Meaning: "not offered"},
		{Name: "add-queue", Argument: script.TextArgument, Meaning: "not offered"},
		{Name: "remove-queue", Argument: script.TextArgument, Meaning: "not offered"},
	}
	notifyOptions = []script.OptionSpec{
		{Name: "list-queues", Letter: "l", Meaning: "list the queues"},
		{Name: "enable-queue", Letter: "e", Argument: script.TextArgument, Meaning: "not offered: the settings of vjobd have the queues"},
		{Name: "disable-queue", Letter: "d", Argument: script.TextArgument, Meaning: "not offered"},
		{Name: "Enable-all-queues", Letter: "E", Meaning: "not offered"},
		{Name: "Disable-all-queues", Letter: "D", Meaning: "not offered"},
		{Name: "add-queue", Argument: script.TextArgument, Meaning: "not offered"},
		{Name: "remove-queue", Argument: script.TextArgument, Meaning: "not offered"},
	}
)

// queue is oarqueue.
func queue(ctx context.Context, r *commandRun) error {
	return r.queues(ctx, queueOptions[1:], "policy")
}

// notify is oarnotify, as far as it lists queues. Waking OAR's server is unnecessary: vjobd detects
// changes itself.
func notify(ctx context.Context, r *commandRun) error {
	changes := slices.ContainsFunc(notifyOptions[1:], func(o script.OptionSpec) bool { return r.has(o.Name) })
	if !r.has("list-queues") && !changes {
		if len(r.arguments) > 0 {
			r.printError(fmt.Sprintf("# Warning: %q has no effect: vjobd detects changes itself.", r.arguments[0]))
		}
		return nil
	}
	return r.queues(ctx, notifyOptions[1:], "scheduler")
}

// queues lists the queues, or refuses the options that change them. policy is the label of a queue's
// policy, which depends on the version of OAR.
func (r *commandRun) queues(ctx context.Context, changes []script.OptionSpec, policy string) error {
	if err := r.optionsOnly(); err != nil {
		return err
	}
	if slices.ContainsFunc(changes, func(o script.OptionSpec) bool { return r.has(o.Name) }) {
		return r.refuseSetting(ctx, "Queues are in the settings of vjobd: change them there and run vjob admin reload")
	}
	c, err := r.client()
	if err != nil {
		return err
	}
	var page oar.Page[oar.Queue]
	if err := c.Get(ctx, "/oarapi/queues", nil, &page); err != nil {
		return err
	}
	r.print("%s", report.Queues(page.Items, policy))
	return nil
}

// refuseSetting refuses a request of an administrator that only the settings can fulfil.
func (r *commandRun) refuseSetting(ctx context.Context, why string) error {
	who, err := r.whoami(ctx)
	switch {
	case err != nil:
		return err
	case who.Role != "admin":
		return exitError(8, "You must be oar or root to change the settings of the site")
	}
	return exitError(1, "%s", why)
}
