// Package day replays recorded demands of VMs on a cluster, with and without load balancing: days of PlanetLab and
// weeks of Bitbrains, in which each VM has a demand every five minutes.
//
// A VM is only a demand and a size, without vjobs, queues and gangs. The moves come from the packages that the daemon
// uses: scheduler/balance, energy/consolidate and energy/dpm, with the daemon's default settings. Migrations take
// time, CPU on both ends and memory at the destination.
//
// To read: trace.go (input), nodes.go (the cluster), ways.go (what is compared), run.go (the loop), decide.go,
// balance.go and consolidate.go (what moves), migrate.go (how), account.go (what VMs get).
package day
