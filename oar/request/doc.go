// Package request is the language in which users of OAR ask for resources, the
// value of oarsub -l:
//
//	{gpu = 'YES'}/cluster=1/nodes=15/core=2+{mem > 64}/nodes=1,walltime=4:0:0
//
// Levels go from the outer to the inner: of one cluster 15 nodes, on each 2 cores.
// Groups joined by + or , are had together; several -l are alternatives, of which
// one is run.
//
// The grammar is that of OAR 2. What is accepted there and hardly meant so comes
// with a warning; what OAR 3 swallows silently is refused. [Parse] takes time in
// proportion to the text.
package request
