package starter

import "vjob/cluster"

// numbers sets what is known only when the VM boots.
const numbers = `export OAR_JOB_ID="$VJOB_ID" OAR_JOBID="$VJOB_ID"
export OAR_ARRAY_ID="${VJOB_ARRAY_ID:-$VJOB_ID}" OAR_ARRAYID="${VJOB_ARRAY_ID:-$VJOB_ID}"
export OAR_ARRAY_INDEX="${VJOB_ARRAY_INDEX:-1}" OAR_JOB_INDEX="${VJOB_ARRAY_INDEX:-1}"
`

// files makes a place for ours, and defines what writes the file of nodes: a line for
// each core of each VM, and the properties of each beside it. VMs go by the names that
// their guests have.
const files = `oar_dir=${VJOB_DIR:-/var/lib/vjob}/oar
mkdir -p "$oar_dir" || { oar_dir=/tmp/oar.$OAR_JOB_ID; mkdir -p "$oar_dir"; }
export OAR_NODEFILE="$oar_dir/nodes" OAR_FILE_NODES="$oar_dir/nodes" OAR_NODE_FILE="$oar_dir/nodes"
export OAR_RESOURCE_FILE="$oar_dir/nodes" OAR_RESOURCE_PROPERTIES_FILE="$oar_dir/resources"
oar_hosts() {
	oar_rank=0 oar_resource=1
	: >"$OAR_NODEFILE"
	: >"$OAR_RESOURCE_PROPERTIES_FILE"
	while [ $# -gt 1 ]; do
		oar_vms=$1
		while [ "$oar_vms" -gt 0 ]; do
			oar_host=vjob-$OAR_JOB_ID-$oar_rank oar_core=0
			while [ "$oar_core" -lt "$2" ]; do
				echo "$oar_host" >>"$OAR_NODEFILE"
				echo "network_address = '$oar_host' , host = '$oar_host' , core = '$oar_core' , resource_id = '$oar_resource'" >>"$OAR_RESOURCE_PROPERTIES_FILE"
				oar_core=$((oar_core + 1)) oar_resource=$((oar_resource + 1))
			done
			oar_vms=$((oar_vms - 1)) oar_rank=$((oar_rank + 1))
		done
		shift 2
	done
}
`

// shell lets somebody work on the second line of the console, if the VM has one, until
// they leave.
const shell = `oar_work() {
	oar_line=${VJOB_LINE:-/dev/ttyS1}
	if [ -c "$oar_line" ]; then
		setsid sh -c 'stty sane 2>/dev/null; exec "${SHELL:-/bin/sh}" -l' <>"$oar_line" >&0 2>&1
	else
		while :; do sleep 86400; done
	fi
}
`

// ending runs the work in its directory. Its output goes to the console, and also to its
// files where the directory is there, as one is that all machines of a site have.
const ending = `if [ -n "$OAR_WORKDIR" ] && cd "$OAR_WORKDIR" 2>/dev/null && : 2>/dev/null >>"$OAR_STDOUT" && : 2>/dev/null >>"$OAR_STDERR"; then
	{ { { (oar_work) 3>&- 4>&-; echo $? >"$oar_dir/exit"; } 2>&1 >&3 | tee -a "$OAR_STDERR" >&4; } 3>&1 | tee -a "$OAR_STDOUT"; } 4>&2
	oar_exit=$(cat "$oar_dir/exit" 2>/dev/null || echo 1)
else
	cd / || :
	(oar_work)
	oar_exit=$?
fi
echo "` + cluster.ExitMark + `$oar_exit"
exit "$oar_exit"
`
