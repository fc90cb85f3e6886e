package cluster_test

import (
	"reflect"
	"strings"
	"testing"

	"vjob/cluster"
)

func TestParseIndexes(t *testing.T) {
	for text, want := range map[string][]cluster.IndexRange{
		"3": {{First: 3, Last: 3}}, "3-7": {{First: 3, Last: 7}}, "2,5-9,2": {{First: 2, Last: 2}, {First: 5, Last: 9}, {First: 2, Last: 2}}, "4-4": {{First: 4, Last: 4}},
	} {
		if got, err := cluster.ParseIndexes("index", text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "3-", "-", "7-3", "1,", ",1", "a", "01", "+1", " 1", "1-2-3", "99999999999", "1.5", strings.Repeat("1,", 100) + "1"} {
		if got, err := cluster.ParseIndexes("index", text); err == nil || !strings.HasPrefix(err.Error(), "index: ") {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}
