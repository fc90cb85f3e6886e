package settings_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vjob/cluster"
	"vjob/daemon/settings"
	"vjob/queue"
)

func env(key string) string {
	return map[string]string{"HOME": "/home/ada", "XDG_STATE_HOME": "/home/ada/.state", "XDG_RUNTIME_DIR": "/run/user/7"}[key]
}

func read(t *testing.T, text string) (settings.Settings, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Dir(path))
	return settings.Read("s.yaml", env)
}

func TestDefault(t *testing.T) {
	s, err := settings.Read("", env)
	if err != nil {
		t.Fatal(err)
	}
	nodes := s.ClusterNodes()
	if len(nodes) != 8 || nodes[7].ID != "n8" || nodes[0].Capacity != (cluster.Resources{CPU: 4 * cluster.CPU, Memory: 8 * cluster.GiB}) {
		t.Errorf("nodes: %+v", nodes)
	}
	if s.DefaultImage() != "simulated" || s.Timing.Tick.Duration != 5*time.Second {
		t.Errorf("%+v", s)
	}
	if !filepath.IsAbs(s.Database()) || !filepath.IsAbs(s.ClusterFile()) {
		t.Errorf("paths: %s, %s", s.Database(), s.ClusterFile())
	}
}

// Printed settings read back as the same settings, and so does the reference.
func TestPrintReadsBack(t *testing.T) {
	s, err := read(t, "nodes: [{name: 'x[08-11]', cpu: 0.5, memory: 1536MiB, labels: {rack: r1}}]\nlimits: {stop_grace: 1m30s}\ndurations: {boot: {per_gib: 2s}, remote_factor: 1.5}\n")
	if err != nil {
		t.Fatal(err)
	}
	if names := s.ClusterNodes(); len(names) != 4 || names[0].ID != "x08" || names[3].ID != "x11" {
		t.Errorf("range: %v", names)
	}
	text, err := s.YAML()
	if err != nil {
		t.Fatal(err)
	}
	again, err := read(t, string(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if diff := cmp.Diff(s, again); diff != "" {
		t.Errorf("%s", diff)
	}
	empty, err := read(t, "")
	if err != nil {
		t.Fatal(err)
	}
	reference, err := read(t, settings.Reference)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(empty, reference); diff != "" {
		t.Errorf("%s", diff)
	}
}

// Ages are read in all notations and printed in the shortest.
func TestAges(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]struct {
		age     time.Duration
		printed string
	}{
		"never": {0, "never"}, "0": {0, "never"}, "0d": {0, "never"}, "1d": {day, "1d"}, "24h": {day, "1d"},
		"36h": {36 * time.Hour, "36h0m0s"}, "1.5d": {36 * time.Hour, "36h0m0s"}, "365d": {365 * day, "365d"},
	} {
		s, err := read(t, "retention: {events: "+text+"}\n")
		if err != nil || s.Retention.Events.Duration != want.age || s.Retention.Events.String() != want.printed {
			t.Errorf("%s: %s, %v, want %s", text, s.Retention.Events, err, want.printed)
		}
		if r := s.Retention; r.Plans.Duration != 90*day || r.VJobs.Duration != 365*day {
			t.Errorf("%s: the others are %+v", text, r)
		}
	}
}

func TestErrors(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"unknown key", "limits:\n  vms_per_job: 5\n", "s.yaml:2:3: limits.vms_per_job: unknown key: want probably vms_per_vjob; one of attempts, connections, connections_per_peer, forecasts, forecasts_per_caller, image_margin, max_skew, requests, requests_per_caller, requests_per_second, requeues, slack, stop_grace, store_lag, streams, streams_per_caller, submission_size, transfers_per_node, tries, vjobs_per_array, vjobs_per_user, vms_per_submission, vms_per_user, vms_per_vjob"},
		{"a domain of mails", "notify: {mail: {domains: [\"ann@example.org\"]}}\n", `s.yaml:1:27: notify.mail.domains[0]: "ann@example.org": want example.org, *.example.org, or *`},
		{"a rate of mails", "notify: {mail: {per_hour: -1}}\n", "s.yaml:1:27: notify.mail.per_hour: -1: want from 1 to 1000000, or 0 for no limit"},
		{"a rate of calls", "notify: {webhooks: {per_hour: 1000001}}\n", "s.yaml:1:31: notify.webhooks.per_hour: 1000001: want from 1 to 1000000, or 0 for no limit"},
		{"a port of calls", "notify: {webhooks: {ports: [443, 0]}}\n", "s.yaml:1:34: notify.webhooks.ports[1]: 0: want a port from 1 to 65535"},
		{"no port of calls", "notify: {webhooks: {hosts: [\"*\"], ports: []}}\n", "s.yaml:1:42: notify.webhooks.ports: \"[]\": want the ports that may be called, such as [80, 443], or no hosts"},
		{"unknown section", "hypervisor: {}\n", "s.yaml:1:1: hypervisor: unknown key: want one of accounts, automation, balance, default_queue, driver, durations, energy, fair_share, images, libvirt, limits, listen, log, network, nodes, notify, oar, output, policy, pools, power, priority, projects, queues, quotas, reservations, retention, rights, rules, simulated, state, time_zone, timing"},
		{"driver", "driver: xen\n", `s.yaml:1:9: driver: "xen": want one of libvirt, simulated`},
		{"failover", "policy: {failover: -1}\n", "s.yaml:1:20: policy.failover: -1: want from 0 to 7: fewer nodes than the cluster has"},
		{"failover of all", "policy: {failover: 8}\n", "s.yaml:1:20: policy.failover: 8: want from 0 to 7: fewer nodes than the cluster has"},
		{"policy", "policy: {name: best}\n", `s.yaml:1:16: policy.name: "best": want one of ` + strings.Join(queue.Names(), ", ")},
		{"due", "policy: {due: -1}\n", `s.yaml:1:15: policy.due: -1: want between 0 and 1000`},
		{"needs", "policy: {needs: none}\n", `s.yaml:1:17: policy.needs: "none": want one of assumed, observed, predicted, reserved`},
		{"suspend", "policy: {suspend: ram}\n", `s.yaml:1:19: policy.suspend: "ram": want one of auto, disk, memory`},
		{"quantum", "policy: {quantum: 5s}\n", `s.yaml:1:19: policy.quantum: 5s: want at least 20s, to be large against a switch; or 0 for an hour`},
		{"duration", "timing: {tick: 5}\n", `s.yaml:1:16: timing.tick: "5": want a time, such as "500ms", "30s", "10m", "1h30m" or "90d"`},
		{"short tick", "timing: {tick: 1ms}\n", "s.yaml:1:16: timing.tick: 1ms: want between 100ms and 1h0m0s"},
		{"relative state", "state: here\n", `s.yaml:1:8: state: "here": want an absolute path`},
		{"open address", "listen: {address: '0.0.0.0:80'}\n", `s.yaml:1:19: listen.address: "0.0.0.0:80": want a loopback address, or listen.certificate and listen.key`},
		{"no port", "listen: {address: localhost}\n", `s.yaml:1:19: listen.address: "localhost": want host:port, such as "127.0.0.1:8476"`},
		{"half TLS", "listen: {certificate: /c.pem}\n", `s.yaml:1:23: listen.certificate: certificate and key go together`},
		{"rate", "network: {nic: fast}\n", `s.yaml:1:16: network.nic: "fast": want a rate per second, such as "10Gbit", "100Mbit" or "80MiB", or 0`},
		{"unknown rack", "network: {uplinks: {Z: 10Gbit}}\n", `s.yaml:1:24: network.uplinks.Z: 10 Gbit/s: want a value that some node has for the label rack`},
		{"rules", "rules: 'spread({1.0, n1});'\n", "s.yaml:1:8: rules:\nrules:1:8: a set is of VMs or of nodes, and here 1.0 is a VM and n1 is a node\n    1 | spread({1.0, n1});\n      |        ^^^^^^^^^"},
		{"rules as a list", "rules:\n  - {rule: capacity, nodes: n99, max: 1}\n", "s.yaml:2:3: rules:\nrules:1:29: there is no node n99\n    1 |   - {rule: capacity, nodes: n99, max: 1}\n      |                             ^^^"},
		{"no nodes", "nodes: []\n", `s.yaml:1:8: nodes: "[]": want at least one node`},
		{"twice", "nodes: [{name: 'n[1-3]', cpu: 1, memory: 1GiB}, {name: n2, cpu: 1, memory: 1GiB}]\n", `s.yaml:1:56: nodes[1].name: "n2": want a name that no other node has`},
		{"long range", "nodes: [{name: 'n[1-100001]', cpu: 1, memory: 1GiB}]\n", `s.yaml:1:16: nodes[0].name: "n[1-100001]" has more than 100000 nodes, which is the most of a cluster: give the others to another daemon`},
		{"two ranges", "nodes: [{name: 'n[1-99999]', cpu: 1, memory: 1GiB}, {name: 'm[1-2]', cpu: 1, memory: 1GiB}]\n", `s.yaml:1:60: nodes[1].name: 100001 nodes up to here, a cluster has at most 100000: give the others to another daemon`},
		{"range", "nodes: [{name: 'n[3-1]', cpu: 1, memory: 1GiB}]\n", `s.yaml:1:16: nodes[0].name: "n[3-1]": want a name, or a range such as n[1-8]`},
		{"XML in a name", "nodes: [{name: '<n>', cpu: 1, memory: 1GiB}]\n", `s.yaml:1:16: nodes[0].name: "<n>": want letters, digits, dots, dashes and underscores, at most 63, the first a letter or digit`},
		{"no CPU", "nodes: [{name: a, cpu: 0, memory: 1GiB}]\n", `s.yaml:1:24: nodes[0].cpu: 0: want more than 0 processors`},
		{"negative memory", "nodes: [{name: a, cpu: 1, memory: -1GiB}]\n", `s.yaml:1:35: nodes[0].memory: "-1GiB": want a size, such as "512MiB" or "2GiB"`},
		{"a store without speed", "libvirt: {save_mibps: 0}\n", `s.yaml:1:23: libvirt.save_mibps: 0: want between 1 and 100000`},
		{"negative duration", "durations: {boot: {constant: -1s}}\n", `s.yaml:1:30: durations.boot.constant: "-1s": want a time, such as "500ms", "30s", "10m", "1h30m" or "90d"`},
		{"a duration without a unit", "durations: {suspend: {per_gib: 5}}\n", `s.yaml:1:32: durations.suspend.per_gib: "5": want a time, such as "500ms", "30s", "10m", "1h30m" or "90d"`},
		{"long duration", "durations: {migrate: {per_gib: 2d}}\n", `s.yaml:1:32: durations.migrate.per_gib: 48h0m0s: want at most 24h0m0s`},
		{"remote factor", "durations: {remote_factor: 0.5}\n", `s.yaml:1:28: durations.remote_factor: 0.5: want between 1 and 1000`},
		{"unknown duration", "durations: {save: {constant: 1s}}\n", `s.yaml:1:13: durations.save: unknown key: want probably stop; one of boot, learn, migrate, remote_factor, resume, stop, suspend`},
		{"no URI", "driver: libvirt\nnodes: [{name: a, cpu: 1, memory: 1GiB}]\n", `s.yaml:2:9: nodes[0].uri: "": want a libvirt URI, such as "qemu+ssh://n1/system"`},
		{"image kind", "images: [{id: a, kind: disk}]\n", `s.yaml:1:24: images[0].kind: "disk": want one of simulated`},
		{"two defaults", "images: [{id: a, kind: simulated, default: true}, {id: b, kind: simulated, default: true}]\n", `s.yaml:1:85: images[1].default: true: want one default image only`},
		{"speed", "simulated: {speed: .nan}\n", `s.yaml:1:20: simulated.speed: ".nan": want a number`},
		{"fault", "simulated: {faults: [{kind: fire, node: n1, lasts: 1m}]}\n", `s.yaml:1:29: simulated.faults[0].kind: "fire": want one of daemon-killed, disk-full, freeze, partition, power-loss, store-gone`},
		{"platform of unknown nodes", "simulated: {platforms: [{nodes: ['n[8-9]'], cpu_features: [avx2]}]}\n", `s.yaml:1:33: simulated.platforms[0].nodes: "n9": want one of the nodes, or a range of them such as n[1-8]`},
		{"platform of no node", "simulated: {platforms: [{cpu_features: [avx2]}]}\n", `s.yaml:1:25: simulated.platforms[0].nodes: required: names of nodes, or ranges of them such as n[1-8]`},
		{"platform type", "simulated: {platforms: [{nodes: [n1], type: xen}]}\n", `s.yaml:1:45: simulated.platforms[0].type: "xen": want one of kvm, qemu`},
		{"fault of unknown nodes", "simulated: {faults: [{kind: freeze, node: 'n[8-9]', lasts: 1m}]}\n", `s.yaml:1:43: simulated.faults[0].node: "n[8-9]": want one of the nodes, or a range of them such as n[1-8]`},
		{"fault for ever", "simulated: {faults: [{kind: freeze, node: n1}]}\n", `s.yaml:1:22: simulated.faults[0].lasts: 0s: want more than 0 and at most 24h0m0s`},
		{"no age", "retention: {events: soon}\n", `s.yaml:1:21: retention.events: "soon": want a time, such as "90d" or "36h", or "never"`},
		{"short age", "retention: {plans: 90m}\n", "s.yaml:1:20: retention.plans: 1h30m0s: want between 1d and 36600d, or never"},
		{"long age", "retention:\n  vjobs: 99999d\n", "s.yaml:2:10: retention.vjobs: 99999d: want between 1d and 36600d, or never"},
		{"negative age", "retention: {vjobs: -1d}\n", `s.yaml:1:20: retention.vjobs: "-1d": want a time, such as "90d" or "36h", or "never"`},
		{"limit of a submission", "limits: {vms_per_submission: 0}\n", `s.yaml:1:30: limits.vms_per_submission: 0: want between 1 and 1e+07`},
		{"a right without a user", "rights: {raise_priority: [ann, '']}\n", `s.yaml:1:32: rights.raise_priority[1]: "": want the name of a user, or each`},
		{"limit of a user", "limits: {vjobs_per_user: -1}\n", `s.yaml:1:26: limits.vjobs_per_user: -1: want between 0 and 1e+07`},
		{"requests in flight", "limits: {requests: 7}\n", `s.yaml:1:20: limits.requests: 7: want between 8 and 100000`},
		{"connections of a peer", "limits: {connections_per_peer: 0}\n", `s.yaml:1:32: limits.connections_per_peer: 0: want between 1 and 1e+06`},
		{"limit", "limits: {vms_per_vjob: 0}\n", `s.yaml:1:24: limits.vms_per_vjob: 0: want between 1 and 100000`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := read(t, tt.text)
			if got := fmt.Sprint(err); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if !errors.Is(err, cluster.ErrInvalid) {
				t.Errorf("%v does not match ErrInvalid", err)
			}
		})
	}
	if _, err := settings.Read("/none", env); !errors.Is(err, cluster.ErrInvalid) {
		t.Error(err)
	}
}
