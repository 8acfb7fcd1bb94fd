package orders

import (
	"context"
	"maps"
	"net/http"
)

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
	a.Header = maps.Clone(a.Header)
	a.Header[name] = value
	return a
}

func jsonAnswer(status int, value any) answer {
	return answer{Status: status, Header: map[string]string{"Content-Type": "application/json"}, Body: mustJSON(value)}
}

// created says that the order exists from now on.
func created(o order) answer {
	return jsonAnswer(http.StatusCreated, o).with("Location", "/orders/"+o.ID)
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

// alreadyExists names the order that was there first.
func alreadyExists(id string) answer {
	return problemAnswer(http.StatusConflict, map[string]string{
		"code": "already_exists", "detail": "there is an order with this reference", "id": id,
	})
}

// record is what the table idempotency_keys remembers of a key.
type record struct {
	Fingerprint string
	Answer      answer
}

// columns are the values of a key's row, in the order of the table's columns.
func (a answer) columns(req request) []any {
	return []any{req.Key, req.Fingerprint, a.Status, a.Header["Location"], string(a.Body)}
}

// recordOf reads what is remembered of a key; sql.ErrNoRows says that it is new.
func (d *db) recordOf(ctx context.Context, key string) (record, error) {
	var r record
	var location, body string
	err := d.queryRow(ctx,
		`select fingerprint, status, location, body from idempotency_keys where idempotency_key = ?`, key,
	).Scan(&r.Fingerprint, &r.Answer.Status, &location, &body)
	if err != nil {
		return record{}, err
	}
	r.Answer.Header = map[string]string{"Content-Type": "application/json", "Location": location}
	r.Answer.Body = []byte(body)
	return r, nil
}

// replayTo gives the remembered answer to who sends the same body, and refuses another body.
func (r record) replayTo(req request) answer {
	if r.Fingerprint != req.Fingerprint {
		return keyReused()
	}
	return r.Answer
}
