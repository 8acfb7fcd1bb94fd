package orders

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
)

// answersPackedDesign records answers of every size: packed, because a text of MariaDB holds 64 KiB.
func answersPackedDesign() Design {
	return Design{
		Name:     "answers-packed",
		Summary:  "records large answers packed, and answers without a body as such: a repetition gets the same one",
		Correct:  true,
		Contract: exactReplay(),
		Key:      requiredKey(),
		schema:   []string{ordersTable, keysTable},
		describe: describeSizes,
		handler:  sizedAnswers(func(answer) bool { return true }),
	}
}

// packed is a text, and nothing for nothing.
func packed(body []byte) []byte {
	if len(body) == 0 {
		return nil
	}
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(body) // a buffer takes all
	_ = w.Close()
	return []byte(base64.StdEncoding.EncodeToString(out.Bytes()))
}

func unpacked(text []byte) ([]byte, error) {
	if len(text) == 0 {
		return nil, nil
	}
	raw, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil {
		return nil, err
	}
	r, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
