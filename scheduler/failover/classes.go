package failover

import "vjob/cluster"

// classes is how many size classes there are.
const classes = 8

// sizeClasses reports whether the VMs of any n nodes find places when each is as large as its class. The first class
// is as large as the largest VM, and each further one half as large as the one before, so that a place of one class
// is two places of the next. Larger VMs are placed first. Then those of one class find places if, counted in its
// places, what the nodes offer is no less than what its VMs and the larger ones take. Both are sums over nodes, so the
// n nodes that offer and hold most decide.
func sizeClasses(nodes []Node, n int) bool {
	largest := largestOf(nodes)
	held := make([][classes]int64, len(nodes)) // VMs by class
	for i := range nodes {
		for _, vm := range nodes[i].VMs {
			held[i][classOf(vm, largest)]++
		}
	}
	weights, taken := make([]int64, len(nodes)), make([]int64, len(nodes))
	for class := range classes {
		offered := int64(0)
		for i := range nodes {
			places := placesOf(nodes[i].Free, largest, class)
			taken[i] = 2*taken[i] + held[i][class]
			weights[i] = places + taken[i]
			offered += places
		}
		for _, i := range heaviest(weights, n) {
			offered -= weights[i]
		}
		if offered < 0 {
			return false
		}
	}
	return true
}

// classOf returns the smallest class that holds a VM.
func classOf(vm, largest cluster.Resources) (class int) {
	for class+1 < classes && int64(vm.CPU)<<(class+1) <= int64(largest.CPU) && int64(vm.Memory)<<(class+1) <= int64(largest.Memory) {
		class++
	}
	return class
}

// mostPlaces is how many places a node offers at most for VMs that reserve nothing.
const mostPlaces = 1 << 30

// placesOf returns how many VMs of a class something holds.
func placesOf(free, largest cluster.Resources, class int) int64 {
	places := int64(mostPlaces) << class // also halved from class to class
	if largest.CPU > 0 {
		places = min(places, int64(max(0, free.CPU))<<class/int64(largest.CPU))
	}
	if largest.Memory > 0 {
		places = min(places, int64(max(0, free.Memory))<<class/int64(largest.Memory))
	}
	return places
}
