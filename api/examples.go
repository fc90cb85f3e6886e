package api

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"
)

// exampleList has examples by the names of operations. The test records them from answers: go test ./api -update.
//
//go:embed examples.json
var exampleList []byte

// example is a request of an operation and the answer to it; nil without JSON.
type example struct {
	Request any `json:"request,omitempty"`
	Answer  any `json:"answer,omitempty"`
}

// examples are those of exampleList by their names.
var examples = sync.OnceValue(func() map[string]example {
	var list map[string]example
	if err := json.Unmarshal(exampleList, &list); err != nil {
		panic(fmt.Sprintf("examples.json: %v", err)) // the test reads it as well
	}
	return list
})
