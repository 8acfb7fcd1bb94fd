package orders

import "net/http"

// answer is a whole HTTP answer as a value, so that it can be kept and given again. The zero answer
// is none.
type answer struct {
	Status int
	Header map[string]string
	Body   []byte
}

func (a answer) write(w http.ResponseWriter) {
	for name, value := range a.Header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body) // a client that has left is no failure of the server
}

// with returns the answer with one more header.
func (a answer) with(name, value string) answer {
	header := map[string]string{name: value}
	for other, text := range a.Header {
		if other != name {
			header[other] = text
		}
	}
	a.Header = header
	return a
}

func jsonAnswer(status int, value any) answer {
	return answer{Status: status, Header: map[string]string{"Content-Type": "application/json"}, Body: mustJSON(value)}
}

// created says that the order exists from now on.
func created(o order) answer {
	return jsonAnswer(http.StatusCreated, o).with("Location", o.location())
}

// problem is an error answer. Its code is what clients decide by.
func problem(status int, code, detail string) answer {
	return problemAnswer(status, map[string]string{"code": code, "detail": detail})
}

func problemAnswer(status int, members map[string]string) answer {
	return jsonAnswer(status, members).with("Content-Type", "application/problem+json")
}

func invalidBody(detail string) answer { return problem(http.StatusBadRequest, "invalid_body", detail) }

func keyReused() answer {
	return problem(http.StatusUnprocessableEntity, "key_reused", "this key was used with another body")
}

func keyInUse() answer {
	return problem(http.StatusConflict, "key_in_use", "a request with this key is being executed")
}

func unauthorized() answer {
	return problem(http.StatusUnauthorized, "unauthorized", "sign in first").with("WWW-Authenticate", "Bearer")
}

// alreadyExists names the order that was there first.
func alreadyExists(id string) answer {
	return problemAnswer(http.StatusConflict, map[string]string{
		"code": "already_exists", "detail": "this order exists", "id": id,
	})
}
