package drafting

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// login finds the last recorded request before the create by which somebody signed in; k is -1 without one.
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
		case userName.MatchString(name) && !secretName.MatchString(name) && user == "":
			user = pointer
		}
	})
	return user, password, user != "" && password != ""
}

// signIn makes the login a step.
func (t *trail) signIn(e entry, login Request) {
	user, password, _ := login.credentials()
	d := login.Draft(t.prefix)
	t.ask(&d, user, password)
	t.arrive(&d, t.link(&d, login), "Login")
	t.draft.SignIn(Login{Step: d.step(), User: user, Password: password}, t.prefix)
	t.draft.Given[Variable(t.prefix, "USER")], t.draft.Given[Variable(t.prefix, "PASSWORD")] = textAt(login.Body, user), textAt(login.Body, password)
	t.add(e, t.draft.Login[0], "Login", d)
	t.draft.Login = nil // until something of its answer is taken
}

// ask makes variables of all else that the login's body holds: whoever signs in by a code or an answer to a question
// calls it as he likes, so that its name tells nothing.
func (t *trail) ask(d *Draft, user, password string) {
	Scalars("", d.Body, func(pointer string, value any) {
		_, isTruth := value.(bool)
		text, isText := value.(string)
		if isTruth || isText && text == "" || pointer == user || pointer == password || d.Templates[pointer] != "" {
			return
		}
		text = fmt.Sprint(value)
		variable := t.free(d, pointer[strings.LastIndex(pointer, "/")+1:], text)
		d.Templates[pointer] = d.variable(variable, text)
		if !isText {
			d.Templates[pointer] = `{{"${` + variable + `}" | json}}`
		}
		t.asked = append(t.asked, variable)
	})
}

// free is a variable for a value that stands for no other value yet.
func (t *trail) free(d *Draft, name, value string) string {
	base := Variable(t.prefix, name)
	elsewhere := []string{Variable(t.prefix, "USER"), Variable(t.prefix, "PASSWORD"), Variable(t.prefix, "URL")}
	for n := 1; ; n++ {
		variable := base
		if n > 1 {
			variable = fmt.Sprintf("%s_%d", base, n)
		}
		used := func(o *Draft) bool { return slices.Contains(o.Needed, variable) && o.Given[variable] != value }
		if !slices.Contains(elsewhere, variable) && !used(d) && !used(t.draft) {
			return variable
		}
	}
}

// doubtLogin says which variables came of the login's body, if anything asks for them.
func (t *trail) doubtLogin() {
	texts := fmt.Sprint(t.draft.Login)
	asked := slices.DeleteFunc(t.asked, func(variable string) bool { return !strings.Contains(texts, "${"+variable+"}") })
	if len(asked) > 0 {
		t.draft.Doubts = append(t.draft.Doubts, fmt.Sprintf("What of the login's body is secret: all of it is taken from variables, %s. Write out what is not, and mind that a code that holds once is another one every time.", strings.Join(asked, ", ")))
	}
}
