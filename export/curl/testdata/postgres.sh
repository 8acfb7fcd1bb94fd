#!/usr/bin/env bash
# duplicate
# found
#
# It takes bash and curl 7.68 or newer, and jq. With psql it counts the rows:
#   BASE_URL=http://127.0.0.1:8080 DATABASE_URL=... TOKEN=... bash THIS-FILE
# It is tried 1 times at most.
# Exit code 1: it happened again. 0: it did not. 2: that is not known.
set -u
export no_proxy='*' NO_PROXY='*' # requests go to the target, as doubletap's do
stop() { echo "$1" >&2; exit 2; }
# What the environment does not say.
base_url=http://127.0.0.1:8080
BASE_URL=${BASE_URL:-$base_url}
[ -n "${DATABASE_URL:-}" ] || stop "DATABASE_URL must be set"
command -v psql >/dev/null || stop "there is no psql to count the rows with"
command -v jq >/dev/null || stop "there is no jq to tell the answers apart with"
[ -n "${TOKEN:-}" ] || stop "TOKEN must be set"

among() { # so many of these characters
  local byte text=
  for byte in $(od -An -vtu1 -N "$2" /dev/urandom); do text+=${1:byte % ${#1}:1}; done
  echo "$text"
}
letters() { among abcdefghijklmnopqrstuvwxyz234567 "$1"; }
uuid() {
  local hex; hex=$(od -An -vtx1 -N 16 /dev/urandom); hex=${hex//[!0-9a-f]/}
  echo "${hex:0:8}-${hex:8:4}-4${hex:13:3}-a${hex:17:3}-${hex:20}"
}

draw() {
  marker=dt$(letters 16)
  reference=ref$(letters 16)
  key=$(uuid)
  body='{"note":"'"${marker}"'","of":"'"${reference}"'","text":"it'\''s \"$HOME\" `id` \\n ${x} !\\\\"}'
  query_0='select * from (select "id" from things where note = '\'''"${marker}"''\'') doubletap_rows'
}
status() {
  local line
  while IFS= read -r line; do
    [[ $line =~ ^HTTP/[0-9.]+\ ([0-9]{3}) ]] && { echo "${BASH_REMATCH[1]}"; return; }
  done <"$1"
} 2>/dev/null
body() { LC_ALL=C sed -e $'s/\r//g' -e '1,/^$/d' "$1" 2>/dev/null; }
take() { # what a filter of jq gives of an answer with $head, a list of lines, and $body
  local file=$1 filter=$2 taken; shift 2
  taken=$(jq -Rrse "$@" "
    (split(\"\\r\\n\\r\\n\") | until((.[0] // \"\") | test(\"^HTTP/[0-9.]+ 1[0-9][0-9]\") | not; .[1:])) as \$all |
    (\$all[0] // \"\" | split(\"\\r\\n\")[1:]) as \$head | (\$all[1:] | join(\"\\r\\n\\r\\n\")) as \$body | $filter" <"$file" 2>/dev/null) || return
  [ -n "$taken" ] && printf %s "$taken"
}
take_json() {
  take "$1" '
    def step($k): if type == "array" and ($k | test("^(0|[1-9][0-9]*)$")) then .[$k | tonumber] elif type == "object" then .[$k] else null end;
    def exact: if test("[0-9]{16}") then gsub("(?<text>\"(?:[^\"\\\\]|\\\\.)*\")|(?<number>-?[0-9]{16,}(?![0-9.eE]))"; .text // "\"\(.number)\"") else . end;
    $body | exact | fromjson | reduce ($at | split("/")[1:][] | gsub("~1"; "/") | gsub("~0"; "~")) as $k (.; step($k)) |
    if type == "string" then . elif type == "number" or type == "boolean" then tojson else null end' --arg at "$2"
}
one_of() { local is; is=$(status "$1"); [ -n "$is" ] && case " $2 " in *" $is "*) ;; *) false ;; esac; }
header() { LC_ALL=C sed -e $'s/\r//g' -e '/^$/,$d' "$2" 2>/dev/null | grep -i "^$1:"; }
done_at() { one_of "$1" "201"; }
some_done() { for name; do done_at "$name" && return; done; false; }
all_answered() { for name; do [ -n "$(status "$name")" ] || return; done; }
some_answered() { for name; do [ -n "$(status "$name")" ] && return; done; false; }
address() { # the database's, without what only other clients know
  local one all=() kept= query=
  case $DATABASE_URL in *\?*) query=${DATABASE_URL#*\?} ;; esac
  IFS='&' read -r -a all <<<"$query"
  for one in ${all[@]+"${all[@]}"}; do
    case $one in
    search_path=* | schema=* | currentSchema=*) kept+="&options=-csearch_path%3D${one#*=}" ;;
    host=* | hostaddr=* | port=* | dbname=* | user=* | password=* | passfile=* | options=* | service=* | application_name=* | connect_timeout=* | client_encoding=* | \
      target_session_attrs=* | channel_binding=* | require_auth=* | gssencmode=* | krbsrvname=* | sslmode=* | sslcert=* | sslkey=* | sslpassword=* | sslrootcert=* | \
      sslcrl=* | sslsni=* | sslnegotiation=* | ssl_min_protocol_version=* | ssl_max_protocol_version=*) kept+="&$one" ;;
    esac
  done
  echo "${DATABASE_URL%%\?*}${kept:+?${kept#&}}"
}
rows() {
  psql --no-psqlrc --no-align --tuples-only "$(address)" --command "$1"
}
count() {
  local line
  found=$(rows "$2") || stop "the rows cannot be counted"
  number=0
  while IFS= read -r line; do [ -z "$line" ] || number=$((number + 1)); done <<<"$found"
  echo "rows with $1: $number"
  [ -z "$found" ] || echo "$found"
}

start=$PWD
answers=$(mktemp -d)
trap 'rm -rf "$answers"' EXIT

try() {
  mkdir "$answers/$1"
  cd "$answers/$1" || exit 2
  idle=
  draw
  echo "answers (status, name):"

# Step 1 of i001: a request.
curl --silent --include --globoff --request POST --max-time 10 --write-out '%{http_code} %{filename_effective}\n' \
  --header "Authorization: Bearer ${TOKEN}" \
  --header 'Content-Type: application/json' \
  --header "Idempotency-Key: ${key}" \
  --header 'X-Note: it'\''s "$HOME" `id`' \
  --data-raw "${body}" \
  --output 1 --url "${BASE_URL}"'/things?as=1' || true

echo "bodies of the answers:"
for name in *; do [ -f "$name" ] && echo "$name $(body "$name" | head -c 400)"; done
everything=
count "$marker" "$query_0"
everything+=$found
[ "$number" -gt 0 ] || ! some_done 1 || again=yes
for name in 1; do
  done_at "$name" || continue
  id=$(take_json "$name" /id)
  [ -z "$id" ] || grep -qF -- "$id" <<<"$everything" || again=yes
done
some_done 1 || idle="no request was done, so nothing could happen again: see the answers"
}

again=no tried=0
for try in {1..1}; do
  try "$try"
  [ $again = no ] || { echo "it happened again: in 1 of $try tries"; exit 1; }
  [ -n "$idle" ] || tried=$((tried + 1))
  [ $tried -gt 0 ] || [ "$try" -lt 5 ] || break
done
[ $tried -gt 0 ] || stop "${idle:-nothing was done in any try: see the answers}"
[ $((2 * tried)) -ge 1 ] || stop "it did not happen in $tried tries, and nothing was done in the others of 1, which is too little: see the answers"
echo "it did not happen: in 0 of $tried tries"
