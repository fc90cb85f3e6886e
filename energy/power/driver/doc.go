// Package driver switches nodes off and on: by programs ([Command]), Wake-on-LAN ([WakeOnLAN]), IPMI 2.0 ([IPMI]) or
// Redfish ([Redfish]). Each type implements [vjob/energy/power.Driver].
//
// Passwords are read from files at each request, see [ReadPassword], so that the settings contain none.
package driver
