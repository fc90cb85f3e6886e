package settings

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/placement"
	"vjob/internal/pattern"
	"vjob/queue"
)

// maxNodes is for how many nodes the daemon is measured (docs/reference/limits.md).
const maxNodes = 100_000

// Records must last at least a day: administrators have to see them, and clients reuse
// idempotency keys for retries.
const (
	youngest = 24 * time.Hour
	oldest   = 100 * 366 * 24 * time.Hour
)

// word matches names that are safe in a file name, a URL and an XML attribute.
var word = pattern.New(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)

// isWord reports whether a text is a word of at most 63 bytes.
func isWord(text string) bool { return len(text) <= 63 && word().MatchString(text) }

const wordWant = "letters, digits, dots, dashes and underscores, at most 63, the first a letter or digit"

// Validate returns an error about the first invalid setting, with its key and what is valid.
func (s *Settings) Validate() error {
	nodes := s.ClusterNodes()
	for _, check := range []func() error{
		s.validateState, s.Listen.validate, s.Listen.validateUsers, s.Accounts.validate, s.validateChoices,
		func() error { return s.Policy.validate(s.Queues, len(nodes)) }, s.validateOrder, s.validateTiming, s.validateNodes,
		func() error { return s.validatePools(nodes) },
		func() error { return s.Simulated.validate(nodes) },
		func() error { return s.Network.validate(s.Nodes) },
		s.Durations.validate, func() error { return s.validateEnergy(nodes) },
		func() error { return placement.Check(string(s.Rules), nodes, nil) }, s.validateImages, s.validateLimits, s.Approval.validate, s.Balance.validate,
		s.Policy.validatePlacement, s.Rights.validate, s.Retention.validate,
		func() error { return s.Switching.validate(s.Driver, nodes) },
		s.validateOAR, s.Notify.validate, s.Output.validate,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (s *Settings) validateState() error {
	if !filepath.IsAbs(s.State) {
		return cluster.BadField("state", s.State, "an absolute path")
	}
	return nil
}

func (l *Listen) validate() error {
	switch {
	case !filepath.IsAbs(l.Socket) || len(l.Socket) > 107:
		return cluster.BadField("listen.socket", l.Socket, "an absolute path of at most 107 bytes")
	case (l.Certificate == "") != (l.Key == ""):
		return cluster.Fault("listen.certificate", "certificate and key go together")
	case l.Certificate != "" && l.Address == "":
		return cluster.BadField("listen.address", l.Address, "host:port, since there is a certificate")
	}
	for field, file := range map[string]string{"listen.certificate": l.Certificate, "listen.key": l.Key} {
		if file == "" {
			continue
		}
		if _, err := os.Stat(file); err != nil {
			return cluster.BadField(field, file, "a PEM file that can be read: "+err.Error())
		}
	}
	if l.Address == "" {
		return nil
	}
	host, port, err := net.SplitHostPort(l.Address)
	if err != nil || port == "" {
		return cluster.BadField("listen.address", l.Address, `host:port, such as "127.0.0.1:8476"`)
	}
	if ip := net.ParseIP(host); l.Certificate == "" && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return cluster.BadField("listen.address", l.Address, "a loopback address, or listen.certificate and listen.key")
	}
	return nil
}

// choice is a setting with a fixed list of values.
type choice struct{ field, value, values string }

func (s *Settings) validateChoices() error {
	for _, c := range []choice{
		{"log.format", s.Log.Format, "json text"},
		{"log.level", s.Log.Level, "debug error info warn"},
		{"policy.name", s.Policy.Name, strings.Join(queue.Names(), " ")},
		{"driver", s.Driver, "libvirt simulated"},
		{"simulated.profile", s.Simulated.Profile, "bin-repacking lab thesis"},
	} {
		if err := c.check(); err != nil {
			return err
		}
	}
	return nil
}

func (c choice) check() error {
	values := strings.Fields(c.values)
	if slices.Contains(values, c.value) {
		return nil
	}
	return cluster.BadField(c.field, c.value, "one of "+strings.Join(values, ", "))
}

func (s *Settings) validateTiming() error {
	t := &s.Timing
	for _, c := range []struct {
		field       string
		value       Duration
		least, most time.Duration
	}{
		{"timing.tick", t.Tick, 100 * time.Millisecond, time.Hour},
		{"timing.rest", t.Rest, 0, time.Minute},
		{"timing.backoff", t.Backoff, 10 * time.Millisecond, time.Hour},
		{"timing.plan", t.Plan, 0, time.Minute},
		{"timing.entitle", t.Entitle, time.Second, 24 * time.Hour},
		{"policy.gap", s.Policy.Gap, 0, time.Hour},
		{"policy.lookahead", s.Policy.Lookahead, time.Hour, 366 * 24 * time.Hour},
		{"reservations.horizon", s.Reserving.Horizon, 0, 3650 * 24 * time.Hour},
		{"reservations.margin", s.Reserving.Margin, 0, 24 * time.Hour},
		{"limits.max_skew", s.Limits.MaxSkew, time.Millisecond, time.Hour},
		{"limits.stop_grace", s.Limits.StopGrace, 0, time.Hour},
		{"limits.store_lag", s.Limits.StoreLag, 0, time.Hour},
		{"retention.lost_images", s.Retention.Lost, 0, oldest},
		{"retention.consoles", s.Retention.Consoles, 0, oldest},
	} {
		if c.value.Duration < c.least || c.value.Duration > c.most {
			return cluster.BadField(c.field, c.value, fmt.Sprintf("between %s and %s", c.least, c.most))
		}
	}
	return nil
}

func (s *Settings) validateNodes() error {
	if len(s.Nodes) == 0 {
		return cluster.BadField("nodes", "[]", "at least one node")
	}
	seen := map[string]bool{}
	for i, n := range s.Nodes {
		field := fmt.Sprintf("nodes[%d]", i)
		names := ExpandRange(n.Name)
		if len(seen)+len(names) > maxNodes {
			return cluster.Fault(field+".name", "%d nodes up to here, a cluster has at most %d: give the others to another daemon", len(seen)+len(names), maxNodes)
		}
		if r, ok := parseRange(n.Name); names == nil && ok && r.tooLong() {
			return cluster.Fault(field+".name", "%q has more than %d nodes, which is the most of a cluster: give the others to another daemon", n.Name, maxNodes)
		}
		if names == nil {
			return cluster.BadField(field+".name", n.Name, "a name, or a range such as n[1-8]")
		}
		for _, name := range names {
			if !isWord(name) {
				return cluster.BadField(field+".name", name, wordWant)
			}
			if seen[name] {
				return cluster.BadField(field+".name", name, "a name that no other node has")
			}
			seen[name] = true
		}
		switch {
		case n.CPU.MilliCPU <= 0:
			return cluster.BadField(field+".cpu", n.CPU, "more than 0 processors")
		case n.Memory.MiB <= 0:
			return cluster.BadField(field+".memory", n.Memory, "more than 0, such as 8GiB")
		case s.Driver == "libvirt" && len(names) > 1:
			return cluster.BadField(field+".name", n.Name, "one name: each libvirt host has a URI of its own")
		case s.Driver == "libvirt" && n.URI == "":
			return cluster.BadField(field+".uri", n.URI, `a libvirt URI, such as "qemu+ssh://n1/system"`)
		}
	}
	return nil
}

func (s *Settings) validateImages() error {
	seen, defaults := map[string]bool{}, 0
	if len(s.Images) == 0 {
		return cluster.BadField("images", "[]", "at least one image")
	}
	for i, image := range s.Images {
		field := fmt.Sprintf("images[%d]", i)
		if !isWord(image.ID) || seen[image.ID] {
			return cluster.BadField(field+".id", image.ID, wordWant+", and no other image's")
		}
		seen[image.ID] = true
		kinds := "simulated"
		if s.Driver == "libvirt" {
			kinds = "disk kernel"
		}
		if err := (choice{field + ".kind", image.Kind, kinds}).check(); err != nil {
			return err
		}
		if err := image.checkPermitted(field); err != nil {
			return err
		}
		if image.Default {
			defaults++
		}
		if defaults > 1 {
			return cluster.BadField(field+".default", true, "one default image only")
		}
	}
	return nil
}

func (s *Settings) validateLimits() error {
	l := &s.Limits
	for _, c := range []struct {
		field       string
		value       float64
		least, most float64
	}{
		{"limits.vms_per_vjob", float64(l.VMsPerVJob), 1, 100_000},
		{"limits.vjobs_per_array", float64(l.VJobsPerArray), 1, 100_000},
		{"limits.vms_per_submission", float64(l.VMsPerSubmission), 1, 10_000_000},
		{"limits.vjobs_per_user", float64(l.VJobsPerUser), 0, 10_000_000},
		{"limits.vms_per_user", float64(l.VMsPerUser), 0, 100_000_000},
		{"limits.submission_size", float64(l.SubmissionSize.MiB), 1, 256},
		{"limits.transfers_per_node", float64(l.TransfersPerNode), 1, 1000},
		{"limits.requests_per_second", l.RequestsPerSecond, 0, 1e6},
		{"limits.requests", float64(l.Requests), 8, 100_000},
		{"limits.requests_per_caller", float64(l.RequestsPerCaller), 1, 100_000},
		{"limits.streams", float64(l.Streams), 8, 100_000},
		{"limits.streams_per_caller", float64(l.StreamsPerCaller), 1, 100_000},
		{"limits.forecasts", float64(l.Forecasts), 8, 1000},
		{"limits.forecasts_per_caller", float64(l.ForecastsPerCaller), 1, 1000},
		{"limits.connections", float64(l.Connections), 8, 1e6},
		{"limits.connections_per_peer", float64(l.ConnectionsPerPeer), 1, 1e6},
		{"limits.tries", float64(l.Tries), 1, 100},
		{"limits.attempts", float64(l.Attempts), 1, 100},
		{"limits.requeues", float64(l.Requeues), 0, 1000},
		{"limits.image_margin", float64(l.ImageMargin.MiB), 0, 1 << 30},
		{"limits.slack", l.Slack, 1, 1000},
		{"libvirt.save_mibps", float64(s.Libvirt.SaveMiBps), 1, 100_000},
		{"libvirt.restore_mibps", float64(s.Libvirt.RestoreMiBps), 1, 100_000},
	} {
		if !(c.value >= c.least && c.value <= c.most) {
			return cluster.BadField(c.field, c.value, fmt.Sprintf("between %v and %v", c.least, c.most))
		}
	}
	return nil
}

func (r *Rights) validate() error {
	for _, c := range []struct {
		field string
		users []string
	}{{"rights.raise_priority", r.RaisePriority}, {"rights.whole_nodes", r.WholeNodes}} {
		for i, user := range c.users {
			if strings.TrimSpace(user) == "" {
				return cluster.BadField(fmt.Sprintf("%s[%d]", c.field, i), user, "the name of a user, or each")
			}
		}
	}
	return nil
}

func (r *Retention) validate() error {
	for _, c := range []struct {
		field string
		value Age
	}{{"retention.events", r.Events}, {"retention.plans", r.Plans}, {"retention.vjobs", r.VJobs}, {"retention.audit", r.Audit}} {
		if err := c.value.check(c.field); err != nil {
			return err
		}
	}
	return nil
}
