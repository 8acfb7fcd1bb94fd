package curl

import (
	"slices"

	"github.com/doubletap-harness/doubletap/driver"
)

// Stepped reports whether the script sends steps.
func (p page) Stepped() bool {
	return slices.ContainsFunc(p.Steps, func(run driver.RehearsedRun) bool { return len(run.Steps) > 0 })
}

// Helper is the function of the script that is called so, or takes values from places of a kind.
func (p page) Helper(name string) string {
	return map[string]string{
		asText:  `json_text() { jq -nr --arg value "$1" '$value | tojson | .[1:-1]'; }`,
		asValue: `json_value() { jq -es 'length == 1' <<<"$1" >/dev/null 2>&1 && printf %s "$1" || jq -n --arg value "$1" '$value'; }`,
		asURI:   `in_uri() { jq -nr --arg value "$1" '$value | @uri'; }`,
		asHTML:  `in_html() { jq -nr --arg value "$1" '$value | @html'; }`,
		"json":  takeJSON, "value": takeValue, "text": takeText, "header": takeHeader, "cookie": takeCookie, "pattern": takePattern, "html": takeHTML,
	}[name]
}

// inBody finds what a JSON pointer points to. Long numbers are read as texts: jq would round them.
const inBody = `
    def step($k): if type == "array" and ($k | test("^(0|[1-9][0-9]*)$")) then .[$k | tonumber] elif type == "object" then .[$k] else null end;
    def exact: if test("[0-9]{16}") then gsub("(?<text>\"(?:[^\"\\\\]|\\\\.)*\")|(?<number>-?[0-9]{16,}(?![0-9.eE]))"; .text // "\"\(.number)\"") else . end;
    $body | exact | fromjson | reduce ($at | split("/")[1:][] | gsub("~1"; "/") | gsub("~0"; "~")) as $k (.; step($k))`

// takeJSON takes a text, a number or a truth value.
const takeJSON = `take_json() {
  take "$1" '` + inBody + ` |
    if type == "string" then . elif type == "number" or type == "boolean" then tojson else null end' --arg at "$2"
}`

// takeValue takes any value, as it is written in JSON.
const takeValue = `take_value() {
  take "$1" '` + inBody + ` | tojson' --arg at "$2"
}`

// takeHeader takes a header, or what the group of a regular expression finds in it.
const takeHeader = `take_header() {
  take "$1" '
    [$head[] | select(ascii_downcase | startswith(($at | ascii_downcase) + ":")) | sub("^[^:]*:[ \t]*"; "")] | join(", ") |
    if $within == "" then . else match($within).captures[0].string end' --arg at "$2" --arg within "$3"
}`

// takeCookie takes the value of a cookie that an answer sets.
const takeCookie = `take_cookie() {
  take "$1" '
    [$head[] | select(test("^set-cookie:"; "i")) | sub("^[^:]*:\\s*"; "") | select(startswith($at + "=")) | .[($at | length) + 1:] |
    split(";")[0] | gsub("^\\s+|\\s+$"; "") | sub("^\"(?<inside>.*)\"$"; .inside)][0]' --arg at "$2"
}`

// takePattern takes what the group of a regular expression finds in the headers, a line each and sorted, and the body.
const takePattern = `take_pattern() {
  take "$1" '
    def name: split("-") | map((.[:1] | ascii_upcase) + (.[1:] | ascii_downcase)) | join("-");
    [$head[] | capture("^(?<name>[^:]*):[ \t]*(?<value>.*)$") | .name |= name] | group_by(.name) |
    map(.[0].name + ": " + (map(.value) | join(", ")) + "\n") | join("") + "\n" + $body |
    match($at).captures[0].string' --arg at "$2"
}`

// takeText takes what the group of a regular expression finds in the body.
const takeText = `take_text() { take "$1" '$body | match($at).captures[0].string' --arg at "$2"; }`

// takeHTML takes an attribute of the first element that fits, or its text.
const takeHTML = `take_html() {
  take "$1" '
    def hex: ascii_downcase | explode | reduce .[] as $c (0; . * 16 + (if $c > 96 then $c - 87 else $c - 48 end));
    def plain: gsub("&lt;"; "<") | gsub("&gt;"; ">") | gsub("&quot;"; "\"") | gsub("&apos;"; "\u0027") | gsub("&plus;"; "+") | gsub("&nbsp;"; "\u00a0") |
      gsub("&#[xX](?<code>[0-9a-fA-F]{1,6});"; [.code | hex] | implode) | gsub("&#(?<code>[0-9]{1,7});"; [.code | tonumber] | implode) | gsub("&amp;"; "&");
    def attributes: reduce match("([^\\s\"\u0027<>/=]+)(?:\\s*=\\s*(?:\"([^\"]*)\"|\u0027([^\u0027]*)\u0027|([^\\s\"\u0027=<>]+)))?"; "g").captures as $c ({};
      ($c[0].string | ascii_downcase) as $name | if has($name) then . else .[$name] = ($c[1].string // $c[2].string // $c[3].string // "" | plain) end);
    def fits($s): (.tag == ($s.tag // .tag)) and (.attributes as $a | all($s.attributes // [] | .[]; . as [$name, $value] | ($a | has($name)) and ($value == null or $a[$name] == $value))
      and ((($a.class // "") | [splits("\\s+")]) as $is | all($s.classes // [] | .[]; . as $c | $is | index([$c]) != null)));
    def those($s): match("<([a-zA-Z][^\\s/>]*)((?:\"[^\"]*\"|\u0027[^\u0027]*\u0027|[^\"\u0027>])*)>"; "g") |
      {end: (.offset + .length), tag: (.captures[0].string | ascii_downcase), attributes: (.captures[1].string // "" | attributes)} | select(fits($s));
    ($at | fromjson) as $s | $body | gsub("<!--[\\s\\S]*?-->"; "") | gsub("<script[\\s\\S]*?</script>"; ""; "i") |
    first((if $s.form then those($s.form) as $f | .[$f.end:] | split("</form")[0] else . end) | . as $page | those($s) |
      if $attribute != "" then .attributes[$attribute]
      else . as $e | $page[$e.end:] | split("</" + $e.tag)[0] | gsub("<[^>]*>"; "") | plain | gsub("^\\s+|\\s+$"; "") end)' --arg at "$2" --arg attribute "$3"
}`
