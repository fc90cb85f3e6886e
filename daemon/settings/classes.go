package settings

import (
	"slices"
	"strings"
	"sync"
)

// Class is when a change of a setting takes effect.
type Class string

// The classes.
const (
	Live    Class = "live"    // at a reload
	Restart Class = "restart" // when the daemon is started again
)

// restartKeys are the settings that take effect at a start only: what the daemon listens on, where its data is, what
// VMs that run depend on, and faults, which count from the start. A line is a section and keys in it.
// [Settings.InEffect] keeps their values.
const restartKeys = `
: driver state
libvirt: cluster console_dir image_dir seed_dir
libvirt.lease: lockspace path
limits: connections connections_per_peer
listen: address certificate group key mode socket
log: format
output: directory limit
simulated: seed state_file
simulated.faults: after kind lasts node
`

// liveKeys are the settings that take effect at a reload. * stands for names that the administrator chose, and for the
// parameters of policies.
const liveKeys = `
: default_queue rules time_zone
accounts: token_lifetime
automation: balance consolidate default drain expires power start
balance: every horizon moves moves_per_node stable threshold when
durations: learn remote_factor
durations.boot: constant per_gib
durations.migrate: constant per_gib
durations.resume: constant per_gib
durations.stop: constant per_gib
durations.suspend: constant per_gib
energy: label lambda model policy prices shift_saves yield
energy.budgets: group watts when
energy.consolidate: every factor horizon least when
energy.models.*: full idle standby
energy.models.*.boot: energy time
energy.models.*.measured: load power
energy.models.*.shutdown: energy time
fair_share: cpu damping half_life leap memory share
fair_share.shares: *
images: arguments default description disk format groups id initrd kernel kind users
libvirt: bridge cpu_model domain_type emulator machine_type migration_mibps migration_tls network_filter port_isolation
libvirt: restore_mibps save_mibps translation_cache unsafe_migration
limits: attempts forecasts forecasts_per_caller image_margin max_skew requests requests_per_caller requests_per_second
limits: requeues slack stop_grace store_lag streams streams_per_caller submission_size transfers_per_node tries
limits: vjobs_per_array vjobs_per_user vms_per_submission vms_per_user vms_per_vjob
listen: users
log: level
network: dirty label nic
network.uplinks: *
nodes: cpu memory migrate_uri name nic peer_uri power_model uri
nodes.labels: *
notify.mail: domains from password_file per_hour security server user
notify.webhooks: hosts networks per_hour ports secret_file
oar: cores_per_cpu default_resources nodes_resource users_may_suspend
oar.admission: name refuse say
oar.admission.set: image memory project property queue types walltime
oar.admission.when: array_over groups jobs_over kinds memory_over no_image no_memory no_walltime not_groups not_queues
oar.admission.when: not_types projects queues reservations_over resources types unknown_types users walltime_over
policy: * failover gap lookahead name overdue placement suspend
pools: name parent
pools.cpu: limit reservation shares
pools.memory: limit reservation shares
power.limits: empty off on pause poll quiet reply tries
power.manage: boot enabled every factor min_on off_window on_window rate spare_nodes spare_share target tolerance
power.nodes: address ca cipher_suite cut driver insecure mac name off on password_file session state system user
priority: age deadline fair_share horizon lead old_age queue size size_first user
projects: name pool users
queues: name policy pool priority
queues.limits: cpu memory vms walltime
quotas: name project queue user within
quotas.limits: cpu cpu_hours memory vms
quotas.windows: name when
quotas.windows.limits: cpu cpu_hours memory vms
reservations: horizon margin
retention: audit consoles events lost_images plans vjobs
rights: raise_priority whole_nodes
simulated: locks profile speed
simulated.platforms: cpu_features cpu_model machine_types nodes type
timing: backoff entitle plan rest tick
`

// classes returns the classes of all settings, and their keys in order.
var classes = sync.OnceValues(classify)

func classify() (byKey map[string]Class, keys []string) {
	byKey = map[string]Class{}
	for class, text := range map[Class]string{Live: liveKeys, Restart: restartKeys} {
		for line := range strings.Lines(text) {
			section, names, _ := strings.Cut(line, ":")
			for name := range strings.FieldsSeq(names) {
				byKey[join(section, name)] = class
				keys = append(keys, join(section, name))
			}
		}
	}
	slices.Sort(keys)
	return byKey, keys
}

// classOf returns the class of a key: a path without the names of entries, and with * for names that the administrator
// chose. That of a section is the class of its first key.
func classOf(key string) (Class, bool) {
	byKey, keys := classes()
	if c, ok := byKey[key]; ok {
		return c, true
	}
	for _, k := range keys {
		if strings.HasPrefix(k, key+".") {
			return byKey[k], true
		}
	}
	return Restart, false
}

// isSection reports whether keys are below a key.
func isSection(key string) bool {
	_, keys := classes()
	return slices.ContainsFunc(keys, func(k string) bool { return strings.HasPrefix(k, key+".") })
}

// Keys lists the keys of all settings, in order.
func Keys() []string {
	_, keys := classes()
	return slices.Clone(keys)
}
