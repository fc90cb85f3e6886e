package vjobs

import (
	"strconv"
	"strings"
	"time"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
)

// shapesOf puts the alternatives of --shape into a submission of equal VMs. What one does
// not say is as the vjob has it; if that has no walltime, the first is the vjob itself.
func shapesOf(flags []string, s *wire.Submission) error {
	if len(flags) == 0 {
		return nil
	}
	if s.Template == nil {
		return cluster.Fault("--shape", "the file describes the VMs: state shapes there")
	}
	var shapes []wire.Shape
	for _, text := range flags {
		shape, err := parseShape(text, s)
		if err != nil {
			return err
		}
		shapes = append(shapes, shape)
	}
	if s.WalltimeSeconds == 0 {
		own := shapes[0]
		s.Count, s.Template, s.WalltimeSeconds, shapes = own.Count, own.Template, own.WalltimeSeconds, shapes[1:]
	}
	s.Shapes = shapes
	return nil
}

// parseShape reads "count=8,walltime=1h,cpu=2,mem=1GiB".
func parseShape(text string, s *wire.Submission) (shape wire.Shape, err error) {
	vm := *s.Template
	shape = wire.Shape{Count: s.Count, Template: &vm, WalltimeSeconds: s.WalltimeSeconds, Rules: s.Rules}
	for part := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		field := "--shape: " + key
		switch key {
		case "count":
			if shape.Count, err = strconv.Atoi(value); err != nil || shape.Count < 1 {
				err = cluster.BadField(field, value, "a number of VMs, 1 or more")
			}
		case "walltime":
			var d time.Duration
			d, err = cli.ParseWalltime(field, value)
			shape.WalltimeSeconds = int64(d / time.Second)
		case "cpu":
			vm.CPUMilli, err = cli.ParseCPU(field, value)
		case "mem":
			vm.MemoryMiB, err = cli.ParseMemory(field, value)
		default:
			err = cluster.BadField("--shape", text, "a list such as count=4,walltime=2h,cpu=1,mem=1GiB")
		}
		if err != nil {
			return shape, err
		}
	}
	if shape.WalltimeSeconds == 0 {
		return shape, cluster.Fault("--shape", "%q has no walltime: the alternative that ends first is taken", text)
	}
	return shape, nil
}
