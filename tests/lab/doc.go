// Package lab builds a real cluster on one machine: hosts that are network and
// process namespaces, each with its own libvirtd and, if wanted, virtlockd, on one
// bridge; and guests of a few kilobytes that count on their consoles. Hosts can
// lose power, links can be cut, daemons killed and frozen, the image disk filled
// and the reply of a migration dropped.
//
// It needs root, Linux on amd64 and Debian packages, which it installs when they
// are missing. Machines are emulated: /dev/kvm is never used. Everything lives in
// one temporary directory and in namespaces named after the process, and is gone
// after Stop; what a killed test left behind is cleared by the next Start.
//
// It is test machinery, built with -tags libvirt_dlopen.
package lab
