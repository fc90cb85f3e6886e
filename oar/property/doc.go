// Package property is the language in which users of OAR say which nodes they want,
// after -p and between { and } of a request: the conditions of SQL that are in use,
// about the properties of a node.
//
//	cluster = 'azur' AND (mem >= 64 OR NOT gpu IS NULL)
//	host LIKE 'n%' AND switch IN ('sw1', 'sw2') AND mem BETWEEN 32 AND 128
//
// [Parse] reads an expression, [Expr.Matches] tells whether a node is meant. No part
// of it ever reaches a database. As in SQL, a property that a node does not have is
// neither equal nor unequal to anything.
package property
