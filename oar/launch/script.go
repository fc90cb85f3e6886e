package launch

// numbers sets the variables that are known only when the VM boots.
const numbers = `export OAR_JOB_ID="$VJOB_ID" OAR_JOBID="$VJOB_ID"
export OAR_ARRAY_ID="${VJOB_ARRAY_ID:-$VJOB_ID}" OAR_ARRAYID="${VJOB_ARRAY_ID:-$VJOB_ID}"
export OAR_ARRAY_INDEX="${VJOB_ARRAY_INDEX:-1}" OAR_JOB_INDEX="${VJOB_ARRAY_INDEX:-1}"
`

// files makes a directory for the files of the job, and defines the function that writes the file of
// nodes: a line for each core of each VM, and the properties of each in a second file. VMs have the
// names of their guests.
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
				echo "network_address = '$oar_host' , host = '$oar_host' , cpu = '$((oar_rank + 1))' , core = '$oar_resource' , cpuset = '$oar_core' , resource_id = '$oar_resource'" >>"$OAR_RESOURCE_PROPERTIES_FILE"
				oar_core=$((oar_core + 1)) oar_resource=$((oar_resource + 1))
			done
			oar_vms=$((oar_vms - 1)) oar_rank=$((oar_rank + 1))
		done
		shift 2
	done
}
`

// lines defines a shell on the second line of the console. The shell opens the line itself, which
// makes it the controlling terminal, as job control and Ctrl-C require. It has the size of the user's
// terminal, if known. A getty on that line, if any, was set up by the site and takes precedence.
const lines = `oar_line=${VJOB_LINE:-/dev/ttyS1}
oar_shell() {
	oar_usual=$(getent passwd "$(id -u)" 2>/dev/null | cut -d: -f7)
	TERM=${TERM:-vt220} HOME=${HOME:-/root} SHELL=${SHELL:-${oar_usual:-/bin/sh}} setsid sh -c 'exec <>"$0" >&0 2>&1; stty sane $1 2>/dev/null; exec "$SHELL" -l' "$oar_line" "${oar_size-}"
}
oar_login() { systemctl -q is-active "serial-getty@${oar_line##*/}.service" 2>/dev/null; }
oar_attend() {
	while [ -c "$oar_line" ] && ! oar_login; do
		oar_shell
		sleep 1
	done
}
`

// shell runs a shell on the second line, if the VM has one, until the user leaves. It stops a getty
// on that line.
const shell = `oar_work() {
	if [ -c "$oar_line" ]; then
		systemctl stop "serial-getty@${oar_line##*/}.service" 2>/dev/null
		oar_shell
	else
		while :; do sleep 86400; done
	fi
}
`

// attending runs a shell on the second line beside the command.
const attending = `oar_attend </dev/null >/dev/null 2>&1 &
oar_attendant=$!
`

// ending runs the command in its directory. Output goes to the console, and also to its files if the
// directory exists, as on a shared file system.
const ending = `if [ -n "$OAR_WORKDIR" ] && cd "$OAR_WORKDIR" 2>/dev/null && : 2>/dev/null >>"$oar_stdout" && : 2>/dev/null >>"$oar_stderr"; then
	{ { { (oar_work) 3>&- 4>&-; echo $? >"$oar_dir/exit"; } 2>&1 >&3 | tee -a "$oar_stderr" >&4; } 3>&1 | tee -a "$oar_stdout"; } 4>&2
	oar_exit=$(cat "$oar_dir/exit" 2>/dev/null || echo 1)
else
	cd / || :
	(oar_work)
	oar_exit=$?
fi
[ -z "${oar_attendant-}" ] || kill "$oar_attendant" 2>/dev/null
exit "$oar_exit"
`
