package cluster

// Origin is where a submission came from: the connection, and what authenticated it.
type Origin struct {
	From  string `json:"from,omitempty"`  // "uid 1000" on the socket of the daemon's machine, or a network address
	Token string `json:"token,omitempty"` // the name of the bearer token, or its number if it has none; "" without one
}

// String is such as "uid 1000" or "192.0.2.7, token laptop"; "" for the zero origin.
func (o Origin) String() string {
	if o.Token == "" {
		return o.From
	}
	return o.From + ", token " + o.Token
}
