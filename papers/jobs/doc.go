// Package jobs reproduces the results of Fabien Hermenier's thesis "Gestion dynamique des tâches dans
// les grappes, une approche à base de machines virtuelles" (Online Management of Jobs in Clusters
// using Virtual Machines, Université de Nantes, 2009).
//
// The context switches of its figures are planned by package ctxswitch, its experiment is replayed
// by package sim/replay. Package backfill has the disciplines of its chapter 2.
package jobs
