package drafting

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/targets"
)

// login finds the last login before the create; k is -1 without one.
func (r Recorded) login() (k int, login Request) {
	for k := len(r.before) - 1; k >= 0; k-- {
		earlier, ok := r.before[k].recorded()
		if _, _, signsIn := earlier.credentials(); ok && signsIn && earlier.URL.Host == r.URL.Host && !signsUp.MatchString(earlier.URL.Path) {
			return k, earlier.Request
		}
	}
	return -1, Request{}
}

var (
	signsUp  = regexp.MustCompile(`(?i)sign-?up|register|registration`)
	passName = regexp.MustCompile(`(?i)passw|passphrase|pwd`)
	userName = regexp.MustCompile(`(?i)user|login|e?mail|name|account|phone`)
)

// credentials finds the members of a body that hold a user and a password.
func (c Request) credentials() (user, password string, ok bool) {
	Scalars("", c.Body, func(pointer string, value any) {
		text, isText := value.(string)
		name := pointer[strings.LastIndex(pointer, "/")+1:]
		switch {
		case !isText || text == "":
		case passName.MatchString(name):
			password = pointer
		case userName.MatchString(name) && !HoldsSecret(name) && user == "":
			user = pointer
		}
	})
	return user, password, user != "" && password != ""
}

// signIn makes the login a step.
func (rec *recording) signIn(before []entry, e entry, login Request) {
	user, password, _ := login.credentials()
	d := login.Draft(rec.prefix)
	rec.ask(before, &d, user, password)
	rec.arrive(&d, rec.link(&d, login), "Login")
	rec.draft.SignIn(Login{Step: d.step(), User: user, Password: password}, rec.prefix)
	rec.draft.Given[Variable(rec.prefix, "USER")], rec.draft.Given[Variable(rec.prefix, "PASSWORD")] = textAt(login.Body, user), textAt(login.Body, password)
	rec.add(e, rec.draft.Login[0], "Login", d)
	rec.draft.Login = nil // until something of its answer is extracted
}

// ask makes variables of everything else in the login's body. It may be a code or the answer to a question: the name
// of a member does not show whether it is secret. What the page of the login shows to anybody is none, such as where it leads afterwards.
func (rec *recording) ask(before []entry, d *Draft, user, password string) {
	Scalars("", d.Body, func(pointer string, value any) {
		_, isTruth := value.(bool)
		text, isText := value.(string)
		if isTruth || isText && text == "" || pointer == user || pointer == password || d.Templates[pointer] != "" {
			return
		}
		if isText && !drawn(text) && shown(before, pointer[strings.LastIndex(pointer, "/")+1:], text) {
			return
		}
		text = fmt.Sprint(value)
		variable := rec.free(d, pointer[strings.LastIndex(pointer, "/")+1:], text)
		d.Templates[pointer] = d.variable(variable, text)
		if !isText {
			d.Templates[pointer] = `{{"${` + variable + `}" | json}}`
		}
		rec.asked = append(rec.asked, variable)
	})
}

// shown reports that a page has a field of this name with this value: one that was asked for without any cookie, if it is no path of the site.
func shown(before []entry, name, value string) bool {
	return slices.ContainsFunc(before, func(e entry) bool {
		page, ok := e.request()
		known := slices.ContainsFunc(page.Header, func(h [2]string) bool { return strings.EqualFold(h[0], "Cookie") })
		if !ok || page.Method != http.MethodGet || page.Status != http.StatusOK || known && !strings.HasPrefix(value, "/") {
			return false
		}
		field := targets.Extract{HTML: fmt.Sprintf("input[name=%q]", name), Attribute: "value"}
		found, err := field.From(targets.Answer{Body: e.text()})
		return err == nil && found == value
	})
}

// free is a variable for a value that stands for no other value yet.
func (rec *recording) free(d *Draft, name, value string) string {
	base := Variable(rec.prefix, name)
	elsewhere := []string{Variable(rec.prefix, "USER"), Variable(rec.prefix, "PASSWORD"), Variable(rec.prefix, "URL")}
	for n := 1; ; n++ {
		variable := base
		if n > 1 {
			variable = fmt.Sprintf("%s_%d", base, n)
		}
		used := func(o *Draft) bool { return slices.Contains(o.Needed, variable) && o.Given[variable] != value }
		if !slices.Contains(elsewhere, variable) && !used(d) && !used(rec.draft) {
			return variable
		}
	}
}

// doubtLogin names the variables that came from the login's body, if a step uses them.
func (rec *recording) doubtLogin() {
	texts := fmt.Sprint(rec.draft.Login)
	asked := slices.DeleteFunc(rec.asked, func(variable string) bool { return !strings.Contains(texts, "${"+variable+"}") })
	if len(asked) > 0 {
		rec.draft.Doubts = append(rec.draft.Doubts, fmt.Sprintf("What of the login's body is secret: all of it comes from variables, %s. Write out what is not secret. A code that is valid once needs a new value for every run.", strings.Join(asked, ", ")))
	}
}
