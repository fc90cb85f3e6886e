package rule

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"vjob/repack"
)

// check says what is wrong with the value of an argument.
func (p Param) check(in *repack.Instance, v any) error {
	switch p.Type {
	case VMs:
		return checkSet(v, len(in.VMs), "VM")
	case Nodes:
		return checkSet(v, len(in.Nodes), "node")
	case VMSets:
		return checkSets(v, len(in.VMs), "VM")
	case NodeSets:
		return checkSets(v, len(in.Nodes), "node")
	case VM:
		return checkSet([]int{v.(int)}, len(in.VMs), "VM")
	case Number, Amount:
		if v.(int64) < 0 {
			return fmt.Errorf("%d is not a number from 0 on", v)
		}
	case Ratio:
		if f := v.(float64); !(f > 0) || math.IsInf(f, 0) {
			return fmt.Errorf("%v is not a number above 0", v)
		}
	case Resource:
		if !slices.Contains(in.Dims, v.(string)) {
			return fmt.Errorf("there is no resource %q; the resources are %s", v, strings.Join(in.Dims, ", "))
		}
	case Time:
		if v.(repack.Ticks) < 0 {
			return fmt.Errorf("%d is not a time from 0 on", v)
		}
	}
	return nil
}

func checkSet(v any, size int, what string) error {
	set := v.([]int)
	if len(set) == 0 {
		return fmt.Errorf("names no %s", what)
	}
	if set[0] >= 0 && set[len(set)-1] < size && ascending(set) {
		return nil
	}
	seen := make(map[int]bool, len(set))
	for _, i := range set {
		if i < 0 || i >= size {
			return fmt.Errorf("there is no %s %d: the last is %d", what, i, size-1)
		}
		if seen[i] {
			return fmt.Errorf("names %s %d twice", what, i)
		}
		seen[i] = true
	}
	return nil
}

// ascending reports whether each member is larger than the one before, as in most
// files: then none is there twice.
func ascending(set []int) bool {
	for i := 1; i < len(set); i++ {
		if set[i] <= set[i-1] {
			return false
		}
	}
	return true
}

func checkSets(v any, size int, what string) error {
	sets := v.([][]int)
	if len(sets) == 0 {
		return errors.New("names no sets")
	}
	var all []int
	for _, set := range sets {
		if err := checkSet(set, size, what); err != nil {
			return err
		}
		all = append(all, set...)
	}
	if err := checkSet(all, size, what); err != nil {
		return fmt.Errorf("the sets overlap: %w", err)
	}
	return nil
}

// text is a rule in the notation of the paper: "ban({VM 1, VM 2}, {node 3})".
// Long sets are cut.
func (k Kind) text(a Args) string {
	var words []string
	for _, p := range k.Params {
		v, ok := a.Values[p.Name]
		if !ok {
			continue
		}
		switch p.Type {
		case VMs:
			words = append(words, set(v.([]int), a.Instance.VMName))
		case Nodes:
			words = append(words, set(v.([]int), a.Instance.NodeName))
		case VMSets:
			words = append(words, setOfSets(v.([][]int), a.Instance.VMName))
		case NodeSets:
			words = append(words, setOfSets(v.([][]int), a.Instance.NodeName))
		case VM:
			words = append(words, a.Instance.VMName(v.(int)))
		case Ratio:
			words = append(words, strconv.FormatFloat(v.(float64), 'g', -1, 64))
		default:
			words = append(words, fmt.Sprint(v))
		}
	}
	return k.Name + "(" + strings.Join(words, ", ") + ")"
}

// most is how many members of a set a message shows.
const most = 6

func set(list []int, name func(int) string) string {
	words := make([]string, 0, most+1)
	for i, x := range list {
		if i == most && len(list) > most+1 {
			words = append(words, fmt.Sprintf("… %d more", len(list)-most))
			break
		}
		words = append(words, name(x))
	}
	return "{" + strings.Join(words, ", ") + "}"
}

func setOfSets(sets [][]int, name func(int) string) string {
	words := make([]string, len(sets))
	for i := range sets {
		words[i] = set(sets[i], name)
	}
	return "{" + strings.Join(words, ", ") + "}"
}
