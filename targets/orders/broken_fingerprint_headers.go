package orders

// fingerprintHeadersDesign compares the headers of requests as well as their bodies.
//
// A request is its headers and its body, so both were hashed. But headers also tell of the way that a request
// took. A retry by the next version of the app, or by way of another proxy, is refused as another request.
func fingerprintHeadersDesign() Design {
	return Design{
		Name:     "fingerprint-headers",
		Summary:  "has User-Agent and traceparent in the comparison: a retry by way of another client or proxy is refused as another request",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "media-type-fingerprint",
		Shows:    []string{"false-conflict"},
		By:       []string{"retry-elsewhere"},
		schema:   []string{ordersTable, keysTable},
		handler: varied(func(_ *api, p *parts) {
			p.fingerprint = func(req request) string {
				return fingerprintOf([]string{req.Fingerprint, req.Header.Get("User-Agent"), req.Header.Get("Traceparent")})
			}
		}),
	}
}
