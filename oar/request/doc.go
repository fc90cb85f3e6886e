// Package request reads resource requests of OAR, the value of oarsub -l, and translates them into
// VMs and placement rules:
//
//	{gpu = 'YES'}/cluster=1/nodes=15/core=2+{mem > 64}/nodes=1,walltime=4:0:0
//
// Levels go from the outer to the inner: of one cluster 15 nodes, on each 2 cores. A job gets all
// groups joined by + or , at the same time. Several -l are alternatives, of which one runs.
//
// [Parse] follows the grammar of OAR 2. Input that OAR accepts but users rarely mean comes with a
// warning; input that OAR 3 ignores silently is refused. The work of Parse is linear in the text.
//
// [VMGroups] turns the levels of each group into VMs without knowing the nodes: nodes=4/core=2 is
// four VMs of two processors on nodes of their own. [Place] looks at the nodes: it resolves ALL
// and BEST, sizes VMs where the request gives no size, refuses requests that do not fit on an
// empty cluster, and writes rules in the language of package repack/script.
// docs/reference/oar-compatibility.md has the table.
package request
