package pools

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Errors have the file, the place, the field, the fault and the fix.
func TestFilesThatAreWrong(t *testing.T) {
	const head = "cluster: {cpu: 4, memory: 8GiB}\n"
	for text, want := range map[string]string{
		``:                                     `cluster: missing, want what is divided`,
		`cluster: {cpu: x, memory: 1GiB}`:      `f:1:16: cluster.cpu: "x": want`,
		head + `pools: [{name: a, parent: b}]`: `f:2:27: pools[0].parent: "b": want the name of a pool`,
		head + `pools: [{name: a, parent: b}, {name: b, parent: a}]`:                                   `is in itself`,
		head + `pools: [{name: a}, {name: a}]`:                                                         `f:2:27: pools[1].name: "a": want a name that no other pool has`,
		head + `pools: [{name: a, cpu: {reservation: 3, limit: 2}}]`:                                   `f:2:38: pools[0].cpu.reservation: 3 CPU reserved, the limit is 2 CPU`,
		head + `pools: [{name: a, cpu: {shares: 0}}]`:                                                  `f:2:33: pools[0].cpu.shares: 0: want from 1 to 1000000000`,
		head + `pools: [{name: a, cpu: {shares: 50%}}]`:                                                `f:2:33: pools[0].cpu.shares: "50%": want high, normal, low or a whole number`,
		head + `pools: [{name: a, cpu: {reservation: 3}}, {name: b, cpu: {reservation: 2}}]`:           `f:2:72: pools[1].cpu.reservation: 5 CPU would be reserved, the cluster has 4 CPU`,
		head + "pools: [{name: a, cpu: {limit: 1}}]\nvms: [{name: v, pool: a, cpu: {reservation: 2}}]": `f:3:45: vms[0].cpu.reservation: 2 CPU would be reserved in pool a, its limit is 1 CPU`,
		head + `vms: [{name: v, pool: nowhere}]`:                                                       `f:2:23: vms[0].pool: "nowhere": want the name of a pool`,
		head + `vms: [{name: v, disk: 2}]`:                                                             `disk`,
	} {
		_, err := read("f", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot  %v\nwant %s", text, err, want)
		}
	}
}

func TestAThousandLevels(t *testing.T) {
	var list []string
	for i := range 1000 {
		list = append(list, "- {name: p"+strconv.Itoa(i+1)+", parent: p"+strconv.Itoa(i)+"}\n")
	}
	for _, order := range []string{"from the top", "from below"} {
		text := "cluster: {cpu: 4, memory: 8GiB}\npools:\n" + strings.Join(list, "") + "- name: p0\n"
		if _, err := read("f", []byte(text)); err == nil || !strings.Contains(err.Error(), "more than 100 pools") {
			t.Errorf("%s: got %v", order, err)
		}
		slices.Reverse(list)
	}
}
