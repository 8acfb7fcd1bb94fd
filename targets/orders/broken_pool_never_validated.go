package orders

// poolNeverValidated is pooled, and its pool keeps dead connections for good.
//
// One break of the link to the database, as in a failover, and no request is executed any more until somebody restarts
// the service. The database is well, and so was each request.
func poolNeverValidatedDesign() Design {
	d := poolValidatedLateDesign()
	d.Name, d.Correct = "pool-never-validated", false
	d.Summary = "its pool never validates connections: after one break every request fails until the service is restarted"
	d.Twin = "pool-validated-late"
	d.Shows, d.By = []string{"unavailable"}, []string{"database-cut", "database-blink"}
	d.handler = func(a *api) handler { return needKey(newPooled(a, 0).create) }
	return d
}
