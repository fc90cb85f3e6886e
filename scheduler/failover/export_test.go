package failover

// SizeClasses is exported for tests.
var SizeClasses = sizeClasses
