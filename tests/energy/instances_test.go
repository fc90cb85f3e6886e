package energy_test

import (
	"os"
	"path/filepath"
	"testing"

	"vjob/cmd/vjob/energy/format"
)

// instances are those of the files in the folder VJOB_ENERGY, or the few that are here.
func instances(t *testing.T) (list []*format.Instance) {
	t.Helper()
	folder := os.Getenv("VJOB_ENERGY")
	if folder == "" {
		t.Log("NOT ALL INSTANCES: VJOB_ENERGY names no folder with easched/1 files, so only the few of testdata are looked at")
		folder = "testdata"
	}
	for _, pattern := range []string{"*.json", "*.json.gz"} {
		paths, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			list = append(list, load(t, path)...)
		}
	}
	if len(list) == 0 {
		t.Fatalf("no instances in %s", folder)
	}
	return list
}

func load(t *testing.T, path string) []*format.Instance {
	t.Helper()
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	list, err := format.ReadInstances(in, path)
	if err != nil {
		t.Fatal(err)
	}
	return list
}
