package vjobfile_test

import (
	"strings"
	"testing"

	"vjob/cmd/vjob/vjobfile"
)

// Terms with a unit may be written without it, as users read them.
func TestReadableTerms(t *testing.T) {
	const head = "template: {cpu: 1, memory: 1GiB}\n"
	s, err := vjobfile.Parse("f", []byte(head+"pool: physics\nshares: 1500\ncpu_reservation: 250m\ncpu_limit_milli: 700\nmin_run: 10m\n"))
	if err != nil {
		t.Fatal(err)
	}
	if s.Pool != "physics" || s.Shares != "1500" || s.CPUReservation != 250 || s.CPULimit != 700 || s.MinRun.String() != "600" {
		t.Errorf("%+v", s.Terms)
	}
	for text, want := range map[string]string{
		"cpu_limit: 50%":                      `f:2:12: cpu_limit: "50%": want`,
		"cpu_limit: 1\ncpu_limit_milli: 1000": "given beside cpu_limit_milli",
		"cpu_limits: 1":                       "cpu_limits: unknown key: want probably cpu_limit",
	} {
		if _, err := vjobfile.Parse("f", []byte(head+text+"\n")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}
