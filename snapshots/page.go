package snapshots

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// following returns the URL of the next page: the last one with the cursor in its query, or the one that a link names.
func (q Question) following(from, next string) (string, error) {
	if q.Cursor == "" {
		return following(from, next)
	}
	page, err := url.Parse(from)
	if err != nil {
		return "", errors.New("the URL of the question cannot be parsed")
	}
	query := page.Query()
	if query.Get(q.Cursor) == next {
		return "", errors.New("the cursor to the next page is that of the page that it is on")
	}
	query.Set(q.Cursor, next)
	page.RawQuery = query.Encode()
	return page.String(), nil
}

// following returns the URL of the next page: where a link leads from the last one (RFC 3986, section 5). It
// may not leave the host, and what is no link, such as a cursor, is an error.
func following(from, link string) (string, error) {
	if !strings.HasPrefix(link, "/") && !strings.HasPrefix(link, "?") && !strings.Contains(link, "://") {
		return "", errors.New("what the answer has for the next page (rows.next) is no link")
	}
	base, err := url.Parse(from)
	if err != nil {
		return "", errors.New("the URL of the question cannot be parsed")
	}
	next, err := base.Parse(link)
	switch {
	case err != nil:
		return "", errors.New("the link to the next page cannot be parsed")
	case next.Scheme != base.Scheme || next.Host != base.Host:
		return "", fmt.Errorf("the link to the next page leads to another host: %s", next.Host)
	case next.String() == base.String():
		return "", errors.New("the link to the next page leads to the page that it is on")
	}
	return next.String(), nil
}
