// Package balance moves running VMs between nodes so that each gets what it is entitled to. It is the load
// balancing of Ajay Gulati, Anne Holler, Minwen Ji, Ganesha Shanmuganathan, Carl Waldspurger and Xiaoyun Zhu,
// "VMware Distributed Resource Management: Design, Implementation, and Lessons Learned" (2012), §3.1, in short
// "the paper".
//
// The load of a node is the sum of the entitlements on it over its capacity (N_h in the paper). The imbalance of
// the cluster is the weighted sum over the resources of the standard deviation of the loads (I_c). A round
// applies the single move that lowers the imbalance most, again and again ([Settings.Round]). A move has to lower
// the imbalance by the minimum goodness, and its benefit has to exceed its cost.
//
// Where the paper leaves a choice, a comment gives the interpretation. Beyond the paper a round relieves nodes
// over their capacity also if the whole cluster is balanced, tries swaps and chains of moves if no single move
// helps, weights the network beside CPU and memory, and says what keeps each loaded node as it is. Settings
// switch these off.
//
// To read: cluster.go (input), settings.go, round.go (output and the loop). Each part has the state of one concern
// and knows no part that stands after it: layout.go (units on nodes), loads.go (loads, imbalance, the gain of a
// move), demands.go (benefit and cost), limits.go (which moves are possible), state.go (these four), search.go and
// tree.go (the best single move), chain.go (two moves), held.go (what holds nodes back).
package balance
