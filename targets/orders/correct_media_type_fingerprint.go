package orders

// mediaTypeFingerprintDesign compares bodies together with the type that says how they are to be read, and no other
// header.
func mediaTypeFingerprintDesign() Design {
	return Design{
		Name:     "media-type-fingerprint",
		Summary:  "compares body and Content-Type, and nothing that tells of the client or of the way that a request took",
		Correct:  true,
		Contract: exactReplay(),
		Key:      requiredKey(),
		schema:   []string{ordersTable, keysTable},
		handler: varied(func(_ *api, p *parts) {
			p.fingerprint = func(req request) string {
				return fingerprintOf([]string{req.Fingerprint, req.Header.Get("Content-Type")})
			}
		}),
	}
}
