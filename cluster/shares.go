package cluster

import (
	"fmt"
	"strconv"
)

// MaxShares bounds the shares of a pool or a VM.
const MaxShares = 1_000_000_000

// namedShares are the words for shares: high, normal and low are as 4 to 2 to 1.
var namedShares = map[string]int64{"high": 2000, "normal": 1000, "low": 500, "": 1000}

// ParseShares reads high, normal, low or a number from 1 to [MaxShares]; "" is normal.
func ParseShares(text string) (int64, error) {
	if n, named := namedShares[text]; named {
		return n, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil:
		return 0, BadField("shares", text, "high, normal, low or a whole number, such as 1000")
	case n < 1 || n > MaxShares:
		return 0, BadField("shares", n, fmt.Sprintf("from 1 to %d", MaxShares))
	}
	return n, nil
}
