package scenarios_test

import (
	"fmt"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/hypervisor/simulated"
)

// fault executes "KIND NODE [for D]", "KIND VM" or "KIND next VERB [of VM] [on NODE]".
func (s *scenario) fault(w []string) error {
	if len(w) < 2 {
		return errWords
	}
	kind, err := simulated.FaultNamed(w[0])
	if err != nil {
		return err
	}
	f := simulated.Fault{Kind: kind}
	switch {
	case w[1] == "next":
		err = s.armed(&f, w[2:])
	case strings.Contains(w[1], "."):
		err = s.struck(&f, w[1])
	default:
		f.Node = cluster.NodeID(w[1])
		if len(w) == 4 && w[2] == "for" {
			f.For, err = time.ParseDuration(w[3])
		} else if len(w) != 2 {
			err = errWords
		}
	}
	if err != nil {
		return err
	}
	return s.cluster.Inject(s.shell.Now(), f)
}

// struck aims a fault at a guest, or at the image that its record names.
func (s *scenario) struck(f *simulated.Fault, word string) (err error) {
	if f.VM, err = s.vm(word); err != nil || f.Kind != simulated.ImageRot {
		return err
	}
	image := s.image(f.VM)
	if image == nil {
		return fmt.Errorf("%s has no image", word)
	}
	f.Image = image.ID
	return nil
}

// armed aims a fault at the next call of a verb.
func (s *scenario) armed(f *simulated.Fault, w []string) error {
	if len(w) == 0 || len(w)%2 == 0 {
		return errWords
	}
	verb, err := parseVerb(w[0])
	if err != nil {
		return err
	}
	f.Verb = &verb
	for i := 1; i < len(w); i += 2 {
		switch w[i] {
		case "of":
			if f.VM, err = s.vm(w[i+1]); err != nil {
				return err
			}
		case "on":
			f.Node = cluster.NodeID(w[i+1])
		default:
			return errWords
		}
	}
	return nil
}

// mend executes "KIND NODE".
func (s *scenario) mend(w []string) error {
	if len(w) != 2 {
		return errWords
	}
	kind, err := simulated.FaultNamed(w[0])
	if err == nil {
		s.cluster.EndFault(s.shell.Now(), cluster.NodeID(w[1]), kind)
	}
	return err
}
