#!/usr/bin/env bash
# duplicate
# found
#
# It takes bash and curl 7.68 or newer. With mariadb it counts the rows:
#   BASE_URL=http://127.0.0.1:8080 DATABASE_URL=... TOKEN=... bash THIS-FILE
# Exit code 2: the answers and the rows have to be compared by who reads this.
set -u
export no_proxy='*' NO_PROXY='*' # requests go to the target, as doubletap's do
stop() { echo "$1" >&2; exit 2; }
# What the environment does not say.
base_url=http://127.0.0.1:8080
BASE_URL=${BASE_URL:-$base_url}
[ -n "${DATABASE_URL:-}" ] || stop "DATABASE_URL must be set"
command -v mariadb >/dev/null || stop "there is no mariadb to count the rows with"
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
decoded() { local text=${1//\\/\\\\}; printf '%b' "${text//%/\\x}"; }
rows() {
  [[ $DATABASE_URL =~ ^[a-z]+://([^:@]*)(:(.*))?@([^:/]*)(:([0-9]+))?/([^?]*) ]] || return
  MYSQL_PWD=$(decoded "${BASH_REMATCH[3]}") mariadb --batch --skip-column-names --user "$(decoded "${BASH_REMATCH[1]}")" \
    --host "${BASH_REMATCH[4]}" --port "${BASH_REMATCH[6]:-3306}" "$(decoded "${BASH_REMATCH[7]}")" --execute "$1"
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
count "$marker" "$query_0"
}

try 1
echo "compare the answers and the rows"
exit 2
