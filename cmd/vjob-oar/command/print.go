package command

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"vjob/cluster"
	"vjob/oar"
	"vjob/oar/resource"
	"vjob/oar/script"
)

var printOptions = []script.OptionSpec{
	{Name: "file", Letter: "f", Argument: script.TextArgument, Meaning: "the list of resources, - is the input; default: $OAR_RESOURCE_PROPERTIES_FILE"},
	{Name: "job", Letter: "j", Argument: script.NumberArgument, Meaning: "the resources of this job, from vjobd; also OAR_JOB_ID where there is no file"},
	{Name: "properties", Letter: "P", Argument: script.TextArgument, Meaning: "what is printed, separated by commas; default: the property of the line"},
	{Name: "format", Letter: "F", Argument: script.TextArgument, Meaning: "how a line is printed, with a % for each property; default: %"},
	{Name: "token", Letter: "T", Argument: script.TextArgument, Meaning: "what stands for a property in the format; default: %"},
	{Name: "comma", Letter: "C", Argument: script.TextArgument, Meaning: "between several values of a property; default: ,"},
	{Name: "list", Letter: "l", Meaning: "list the properties"},
}

// printResources is oarprint: a line for each value of a property of the resources of a job.
func printResources(ctx context.Context, r *commandRun) error {
	list, err := r.resources(ctx)
	if err != nil {
		return err
	}
	if r.has("list") {
		var names []string
		if len(list) > 0 {
			names = list[0].Names()
		}
		r.print("List of properties:\n%s\n", strings.Join(names, ", "))
		return nil
	}
	if len(r.arguments) == 0 {
		return exitError(int(resource.ExitPrint), "oarprint: Need a property name")
	}
	f := resource.Format{Key: r.arguments[0], Text: "%", Token: "%", Separator: ","}
	for option, at := range map[string]*string{"format": &f.Text, "token": &f.Token, "comma": &f.Separator} {
		if v, given := r.given.Value(option); given {
			*at = v
		}
	}
	for name := range strings.SplitSeq(r.value("properties"), ",") {
		if name = strings.TrimSpace(name); name != "" {
			f.Properties = append(f.Properties, name)
		}
	}
	text, err := f.Print(list)
	r.print("%s", text)
	return err
}

// resources returns the resources of the file or the job that the options or the environment name.
func (r *commandRun) resources(ctx context.Context) ([]resource.Resource, error) {
	file, job := r.value("file"), r.value("job")
	if job == "" {
		file = cmp.Or(file, r.Getenv("OAR_RESOURCE_PROPERTIES_FILE"))
	}
	switch {
	case file != "" && job != "":
		return nil, usageError(1, "-f and -j exclude each other")
	case file == "-":
		text, err := io.ReadAll(r.In)
		if err != nil {
			return nil, err
		}
		return resource.Parse("-", string(text))
	case file != "":
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, exitError(2, "oarprint: %v", err)
		}
		return resource.Parse(file, string(text))
	}
	job = cmp.Or(job, r.environmentJob())
	if job == "" {
		return nil, exitError(int(resource.ExitPrint), "oarprint: no input data available\nname a file with -f, or a job with -j or OAR_JOB_ID")
	}
	id, ok := number(job)
	if !ok {
		return nil, exitError(1, "Value %q invalid for option job (number expected)", job)
	}
	return r.jobResources(ctx, id)
}

// environmentJob returns the number of the job that the environment names, or "".
func (r *commandRun) environmentJob() string {
	return cmp.Or(r.Getenv("OAR_JOB_ID"), r.Getenv("OAR_JOBID"))
}

// jobResources returns the resources of a job as the daemon knows them.
func (r *commandRun) jobResources(ctx context.Context, id int64) ([]resource.Resource, error) {
	c, err := r.client()
	if err != nil {
		return nil, err
	}
	job, err := c.VJob(ctx, id)
	if errors.Is(err, cluster.ErrNotFound) {
		return nil, exitError(1, "# Error: there is no job %d, or you may not see it.", id)
	}
	if err != nil {
		return nil, err
	}
	nodes, err := r.nodes(ctx)
	if err != nil {
		return nil, err
	}
	labels := map[string]map[string]string{}
	for i := range nodes {
		labels[nodes[i].Node] = nodes[i].Labels
	}
	vms := make([]resource.VM, len(job.VMs))
	for i, vm := range job.VMs {
		vms[i] = resource.VM{CPU: cluster.MilliCPU(vm.CPUMilli), Node: vm.Node, Labels: labels[vm.Node]}
	}
	return resource.Of(cluster.VJobID(id), vms), nil
}

// printJobResources prints the resources of jobs, as oarstat -p does.
func (r *commandRun) printJobResources(ctx context.Context, jobs []oar.Job) error {
	for i := range jobs {
		list, err := r.jobResources(ctx, jobs[i].ID)
		if err != nil {
			return err
		}
		for _, x := range list {
			r.print("%s\n", oar.Printable(x.String()))
		}
	}
	return nil
}
