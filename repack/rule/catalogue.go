// Package rule is the catalogue of placement rules: what each means on a timeline, and its
// constraints for a solver. One file holds one rule. Files that read rules (instance files,
// the rule language, settings) learn the arguments of a rule from [Find], so a new rule
// touches nothing else.
package rule

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"vjob/repack"
)

// Kind is one rule of the catalogue.
type Kind struct {
	Name   string
	Doc    string // one line for people
	Params []Param
	Modes  Modes
	make   func(b base) repack.Rule
}

// Modes says in which forms a rule exists. Discrete: it holds in the final
// configuration. Continuous: at every instant.
type Modes uint8

// The forms.
const (
	Discrete Modes = 1 << iota
	Continuous
)

// Param is one argument of a rule.
type Param struct {
	Name string
	Type Type
	// Optional arguments may be left out.
	Optional bool
}

// Type is what an argument is.
type Type uint8

// The types of arguments, with the Go type of their values.
const (
	VMs      Type = iota // []int, in the order given, none twice, at least one
	Nodes                // []int
	VMSets               // [][]int
	NodeSets             // [][]int
	VM                   // int
	Number               // int64, not negative
	Amount               // int64, not negative: of the resource that is named before it
	Ratio                // float64, positive
	Resource             // string, the name of a dimension
	Time                 // repack.Ticks, not negative
)

// String says what is wanted, for messages.
func (t Type) String() string {
	return [...]string{
		"a set of VMs", "a set of nodes", "a list of sets of VMs", "a list of sets of nodes", "a VM", "a number from 0 on",
		"an amount of the resource", "a number above 0", "the name of a resource", "a time from 0 on",
	}[t]
}

// Args are the arguments of one rule. The values have the types that [Type] names.
type Args struct {
	Instance   *repack.Instance
	Continuous bool
	Values     map[string]any
}

func (a Args) vm(name string) int            { v, _ := a.Values[name].(int); return v }
func (a Args) vms() []int                    { v, _ := a.Values["vms"].([]int); return v }
func (a Args) nodes() []int                  { v, _ := a.Values["nodes"].([]int); return v }
func (a Args) sets(name string) [][]int      { v, _ := a.Values[name].([][]int); return v }
func (a Args) number(name string) int64      { v, _ := a.Values[name].(int64); return v }
func (a Args) ratio(name string) float64     { v, _ := a.Values[name].(float64); return v }
func (a Args) time(name string) repack.Ticks { v, _ := a.Values[name].(repack.Ticks); return v }
func (a Args) resource(name string) int {
	v, _ := a.Values[name].(string)
	return slices.Index(a.Instance.Dims, v)
}

// kinds has every rule; the file of each registers it.
var kinds []Kind

// register adds a rule to the catalogue, at the start of the program.
//
//nolint:unparam // what a variable is initialised with has a result
func register(k Kind) Kind {
	i, _ := slices.BinarySearchFunc(kinds, k, func(a, b Kind) int { return cmp.Compare(a.Name, b.Name) })
	kinds = slices.Insert(kinds, i, k)
	return k
}

// Catalogue is every rule, in order of the names.
func Catalogue() []Kind { return slices.Clone(kinds) }

// Find returns the rule of that name.
func Find(name string) (Kind, error) {
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Name == name })
	if i >= 0 {
		return kinds[i], nil
	}
	names := make([]string, len(kinds))
	for i := range kinds {
		names[i] = kinds[i].Name
	}
	return Kind{}, fmt.Errorf("there is no rule %q; the rules are %s", name, strings.Join(names, ", "))
}

// New makes a rule. The error says which argument is missing, unknown or wrong.
func (k Kind) New(a Args) (repack.Rule, error) {
	if a.Continuous && k.Modes&Continuous == 0 {
		return nil, fmt.Errorf("%s holds at the end only: it cannot be continuous", k.Name)
	}
	if k.Modes&Discrete == 0 {
		a.Continuous = true
	}
	for _, p := range k.Params {
		v, ok := a.Values[p.Name]
		if !ok && p.Optional {
			continue
		}
		if !ok {
			return nil, fmt.Errorf("%s needs %s: %s", k.Name, p.Name, p.Type)
		}
		if err := p.check(a.Instance, v); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", k.Name, p.Name, err)
		}
	}
	for name := range a.Values {
		if !slices.ContainsFunc(k.Params, func(p Param) bool { return p.Name == name }) {
			return nil, fmt.Errorf("%s does not take %q", k.Name, name)
		}
	}
	return k.make(base{k.text(a), a}), nil
}

// base is what all rules share: their text and their arguments.
type base struct {
	text string
	args Args
}

// String is the rule in the notation of the paper.
func (b *base) String() string { return b.text }
