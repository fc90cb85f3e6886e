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
	"vjob/internal/document"
	"vjob/queue"
	"vjob/queue/ordering"
	"vjob/scheduler/decide"
)

// Policy is the scheduling policy. Its keys are those of the fields and the parameters of
// all policies, see [queue.Parameters].
type Policy struct {
	Name       string       `json:"name"`
	Parameters queue.Values `json:"-"`
	Suspend    string       `json:"suspend"` // disk, auto, memory; "" is the default of the policy
	Overdue    string       `json:"overdue"` // at the end of the walltime: end, suspend
	Gap        Duration     `json:"gap"`     // time after the walltime during which forecasts keep the capacity of a vjob
	// Lookahead is how far ahead decisions and forecasts take changes of budgets and quotas into account.
	Lookahead Duration `json:"lookahead"`
	// Failover is how many nodes may be lost at once so that their VMs can start again on the others.
	Failover  int    `json:"failover"`
	Placement string `json:"placement"` // spread, pack, efficient; "" is efficient where power is saved
}

var _ document.Extensible = (*Policy)(nil)

// ExtraKeys returns the names of the parameters of all policies.
func (*Policy) ExtraKeys() (names []string) {
	for _, p := range queue.Parameters() {
		names = append(names, p.Name)
	}
	return names
}

// SetExtra sets a parameter. It keeps invalid text, which [Settings.Validate] reports.
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

// MarshalJSON writes the parameters after the name.
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

// named returns the named policy with the parameters of the settings; "" is policy.name.
func (p *Policy) named(name string) (queue.Policy, error) {
	return queue.New(cmp.Or(name, p.Name), p.Parameters)
}

// ofQueues returns the policy of all queues, with the gap of the settings.
func (p *Policy) ofQueues(rules *ordering.Settings) queue.Policy {
	if p.Gap.Duration == 0 {
		return rules.Policy()
	}
	return queue.WithGap{Policy: rules.Policy(), Gap: p.Gap.Duration}
}

// suspension returns where vjobs are suspended to: the setting, or the default of the policy.
func (p *Policy) suspension() (decide.Suspension, error) {
	policy, err := queue.New(p.Name, nil)
	if err != nil {
		return decide.ToDisk, err
	}
	return decide.ParseSuspension(p.Suspend, policy)
}

// validate refuses parameters that are out of range or that no queue uses.
func (p *Policy) validate(queues []Queue, nodes int) error {
	for _, c := range []choice{
		{"policy.suspend", p.Suspend, "auto disk memory"},
		{"policy.overdue", p.Overdue, "end suspend"},
	} {
		if err := c.check(); c.value != "" && err != nil {
			return err
		}
	}
	if p.Failover < 0 || p.Failover > 0 && p.Failover >= nodes {
		return cluster.BadField("policy.failover", p.Failover, fmt.Sprintf("from 0 to %d: fewer nodes than the cluster has", max(0, nodes-1)))
	}
	for _, parameter := range queue.Parameters() {
		text := p.Parameters[parameter.Name]
		if text == "" {
			continue
		}
		value, err := parameter.Parse(text)
		if err == nil {
			err = p.checkUse(&parameter, value, queues)
		}
		if err != nil {
			return cluster.WithPath("policy", err)
		}
	}
	return nil
}

// checkUse refuses a parameter that no queue uses.
func (p *Policy) checkUse(parameter *queue.Parameter, value any, queues []Queue) error {
	used := parameter.Lenient || value == time.Duration(0)
	kinds := kindsWith(parameter.Name)
	for _, q := range queues {
		name := cmp.Or(q.Policy, p.Name)
		used = used || slices.Contains(kinds, name)
		policy, err := p.named(name)
		if field := (*cluster.FieldError)(nil); errors.As(err, &field) {
			continue // another check reports it
		}
		if needs, ok := value.(queue.Needs); ok && needs != policy.Traits().Needs {
			return cluster.Fault(parameter.Name, "%s has only one way to count", name)
		}
	}
	if !used {
		return cluster.Fault(parameter.Name, "%v has no effect: no queue has the policy %s", value, strings.Join(kinds, " or "))
	}
	return nil
}

// validatePlacement checks the aim of changes to running VMs.
func (p *Policy) validatePlacement() error {
	if p.Placement == "" {
		return nil
	}
	return (choice{"policy.placement", p.Placement, "spread pack efficient"}).check()
}

// kindsWith returns the names of the policies with a parameter.
func kindsWith(parameter string) (names []string) {
	for _, k := range queue.PolicyKinds() {
		if slices.ContainsFunc(k.Parameters, func(p queue.Parameter) bool { return p.Name == parameter }) {
			names = append(names, k.Name)
		}
	}
	return names
}

// validateOrder checks queues, priorities, shares and quotas.
func (s *Settings) validateOrder() error {
	_, err := s.Arrange()
	return err
}
