package settings

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/daemon/settings/document"
	"vjob/queue"
)

// Policy says how vjobs are chosen. Its keys are those of the fields and of the parameters of
// all policies, see [queue.Parameters].
type Policy struct {
	Name       string       `json:"name"`
	Parameters queue.Values `json:"-"`
	Suspend    string       `json:"suspend"` // disk, auto, memory; "" is what suits the policy
	Overdue    string       `json:"overdue"` // what becomes of vjobs whose walltime is over: end, suspend
	Gap        Duration     `json:"gap"`     // for which the capacity of a vjob counts as taken after its walltime
}

var _ document.Extensible = (*Policy)(nil)

// ExtraKeys returns the names of the parameters of all policies.
func (*Policy) ExtraKeys() (names []string) {
	for _, p := range queue.Parameters() {
		names = append(names, p.Name)
	}
	return names
}

// SetExtra sets a parameter; a text that is wrong is kept for [Settings.Validate].
func (p *Policy) SetExtra(key, text string) {
	if p.Parameters == nil {
		p.Parameters = queue.Values{}
	}
	p.Parameters[key] = text
	for _, parameter := range queue.Parameters() {
		if parameter.Name != key {
			continue
		}
		if v, err := parameter.Parse(text); err == nil {
			p.Parameters[key] = fmt.Sprint(v)
		}
	}
}

// MarshalJSON writes the parameters behind the name.
func (p Policy) MarshalJSON() ([]byte, error) {
	type fields Policy
	list, err := json.Marshal(fields(p))
	if err != nil {
		return nil, err
	}
	head, err := json.Marshal(p.Name)
	if err != nil {
		return nil, err
	}
	split := len(`{"name":`) + len(head)
	out := bytes.NewBuffer(slices.Clone(list[:split]))
	for _, parameter := range queue.Parameters() {
		text, given := p.Parameters[parameter.Name]
		if !given {
			continue
		}
		value := any(text)
		if v, err := strconv.ParseFloat(text, 64); err == nil {
			value = v
		}
		encoded, err := json.Marshal(map[string]any{parameter.Name: value})
		if err != nil {
			return nil, err
		}
		out.WriteByte(',')
		out.Write(bytes.Trim(encoded, "{}"))
	}
	out.Write(list[split:])
	return out.Bytes(), nil
}

// policy returns the policy of that name with the parameters of the settings; "" is the one of
// policy.name.
func (s *Settings) policy(name string) (queue.Policy, error) {
	return queue.New(cmp.Or(name, s.Policy.Name), s.Policy.Parameters)
}

// validatePolicy refuses parameters that are out of range, and those that no queue uses.
func (s *Settings) validatePolicy() error {
	for _, c := range []choice{
		{"policy.suspend", s.Policy.Suspend, "auto disk memory"},
		{"policy.overdue", s.Policy.Overdue, "end suspend"},
	} {
		if err := c.check(); c.value != "" && err != nil {
			return err
		}
	}
	for _, p := range queue.Parameters() {
		text := s.Policy.Parameters[p.Name]
		if text == "" {
			continue
		}
		value, err := p.Parse(text)
		if err == nil {
			err = s.checkUse(&p, value)
		}
		if err != nil {
			return cluster.WithPath("policy", err)
		}
	}
	return nil
}

// checkUse refuses a value that no queue uses.
func (s *Settings) checkUse(p *queue.Parameter, value any) error {
	used := p.Lenient || value == time.Duration(0)
	kinds := kindsWith(p.Name)
	for _, q := range s.Queues {
		name := cmp.Or(q.Policy, s.Policy.Name)
		used = used || slices.Contains(kinds, name)
		policy, err := s.policy(name)
		if field := (*cluster.FieldError)(nil); errors.As(err, &field) {
			continue // another check reports it
		}
		if needs, ok := value.(queue.Needs); ok && needs != policy.Traits().Needs {
			return cluster.BadField(p.Name, needs.String(), "nothing: "+name+" has only one way to count")
		}
	}
	if !used {
		return cluster.BadField(p.Name, value, "no "+p.Name+": no queue has the policy "+strings.Join(kinds, " or "))
	}
	return nil
}

// kindsWith returns the names of the policies with a parameter.
func kindsWith(parameter string) (names []string) {
	for _, k := range queue.Kinds() {
		if slices.ContainsFunc(k.Parameters, func(p queue.Parameter) bool { return p.Name == parameter }) {
			names = append(names, k.Name)
		}
	}
	return names
}

// validateOrder says what is wrong with queues, priorities, shares and quotas.
func (s *Settings) validateOrder() error {
	_, err := s.Arrange()
	return err
}
