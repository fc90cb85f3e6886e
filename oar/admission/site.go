package admission

import "vjob/oar/request"

// Site is the settings of an administrator for jobs that users submit as in OAR.
type Site struct {
	Request request.Config
	Policy  *Policy
	// Queues are the queues besides default and besteffort.
	Queues []string
	// Images has the kind of each image of the catalogue, by its name.
	Images map[string]string
	// Image is the default image.
	Image string
	// Mails reports whether the daemon sends mails.
	Mails bool
}
