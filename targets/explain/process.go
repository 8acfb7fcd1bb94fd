package explain

// instances says what a service that is started shows of several instances behind a balancer.
func (x *explainer) instances() {
	switch p := x.target.Process; {
	case p == nil || !x.repeatable():
	case p.Instances > 1:
		x.held("process.instances", "All of this holds over %d instances of the service, whichever of them a request reaches", p.Instances)
	default:
		x.notChecked("process.instances", "Whether keys and locks hold across several instances of the service, because one is started")
	}
}
