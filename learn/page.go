package learn

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// largestPage bounds what is read of a page with a form, in bytes.
const largestPage = 4 << 20

// asVisitor is a way to send a form, which is tried when the ways before it had no effect.
type asVisitor struct {
	draft     drafting.Draft
	differing []string // members that differ from create to create
	said      string   // after "trying "
}

// visit reads the page of the form: as somebody who was never there, and with the cookie of the browser where it shows the form to nobody
// else. A cookie that it gives to everybody is taken from there, since that of a browser ends with its session. What it hides anew in each
// page differs from create to create, since what the source has was sent before.
func (i *inquiry) visit(ctx context.Context) error {
	signedIn := i.file.Draft
	if i.db == nil || i.Dry || signedIn.PageWithCookie() == "" {
		return nil
	}
	var ways []asVisitor
	page, body := i.page(ctx, "")
	if page == nil {
		return ctx.Err() // the first create says it better
	}
	if open, is := signedIn.OfAnyVisitor(page, body); is {
		ways = append(ways, asVisitor{open, open.Anew(body), "without the cookie of the browser"})
	} else if page, body = i.page(ctx, signedIn.Cookie()); page == nil {
		return ctx.Err()
	}
	ways = append(ways, asVisitor{signedIn, signedIn.Anew(body), "with the cookie of the browser"})
	for _, way := range ways {
		if i.ways = append(i.ways, way); len(way.differing) > 0 {
			i.ways = append(i.ways, asVisitor{way.draft.FromPage(way.differing), nil, way.said + ", and with what its page hides in " + strings.Join(way.differing, ", ")})
		}
	}
	i.otherWay("")
	return nil
}

// page asks for the page of the form; nil: there was no answer.
func (i *inquiry) page(ctx context.Context, cookie string) (*http.Response, string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(i.file.BaseURL, "/")+i.file.Draft.PageWithCookie(), nil)
	if err != nil {
		return nil, ""
	}
	request.Header.Set("User-Agent", "doubletap")
	if cookie != "" {
		request.Header.Set("Cookie", cookie)
	}
	answer, err := plainClient().Do(request)
	if err != nil {
		return nil, ""
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, largestPage))
	if err != nil {
		return nil, ""
	}
	return answer, string(body)
}

// otherWay makes the next create be sent in the next way, and says why; false: there is none.
func (i *inquiry) otherWay(why string) bool {
	if len(i.ways) == 0 {
		return false
	}
	way := i.ways[0]
	i.ways = i.ways[1:]
	i.file.Draft, i.file.Differing, i.hidden = way.draft, slices.Clone(way.differing), way.differing
	i.file.Draft.GuessTexts()
	i.plain, i.places, i.paths, i.asked, i.declined, i.carriers, i.naming = nil, nil, nil, "", nil, carriers{}, naming{}
	if why != "" {
		fmt.Fprintf(i.Said, "%s\ntrying %s\n", why, way.said)
	}
	return true
}
