#!/usr/bin/env bash
# duplicate
# found
#
# It takes bash and curl 7.68 or newer.
#   BASE_URL=http://127.0.0.1:8080 REMOVE=... TOKEN=... bash THIS-FILE
# Exit code 2: the answers and the rows have to be compared by who reads this.
# It may not show it, for want of a removal, unless $REMOVE removes what was made.
set -u
export no_proxy='*' NO_PROXY='*' # requests go to the target, as doubletap's do
stop() { echo "$1" >&2; exit 2; }
# What the environment does not say.
base_url=http://127.0.0.1:8080
BASE_URL=${BASE_URL:-$base_url}
[ -n "${REMOVE:-}" ] || stop "REMOVE must be set"
[ -n "${TOKEN:-}" ] || stop "TOKEN must be set"

among() { LC_ALL=C tr -dc "$1" </dev/urandom | head -c "$2"; }
letters() { among a-z2-7 "$1"; }
hex() { among 0-9a-f "$1"; }
uuid() { echo "$(hex 8)-$(hex 4)-4$(hex 3)-a$(hex 3)-$(hex 12)"; }

draw() {
  marker=dt$(letters 16)
  reference=ref$(letters 16)
  key=$(uuid)
  key_2=$(uuid)
  body='{"note":"'"${marker}"'","of":"'"${reference}"'","text":"it'\''s \"$HOME\" `id` \\n ${x} !\\\\"}'
  query_0='select * from (select "id" from things where note = '\'''"${marker}"''\'') doubletap_rows'
}
status() { sed -n 's#^HTTP/[0-9.]* \([0-9][0-9][0-9]\).*#\1#p' "$1" 2>/dev/null | head -n 1; }
body() { tr -d '\r' 2>/dev/null <"$1" | sed '1,/^$/d'; }

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

# Step 2 of i001: $REMOVE, which removes what was made and finds its marker in $1.
sh -c "$REMOVE" remove "$marker"

# Step 3 of i001: a request.
curl --silent --include --globoff --request POST --max-time 10 --write-out '%{http_code} %{filename_effective}\n' \
  --header "Authorization: Bearer ${TOKEN}" \
  --header 'Content-Type: application/json' \
  --header "Idempotency-Key: ${key_2}" \
  --header 'X-Note: it'\''s "$HOME" `id`' \
  --data-raw "${body}" \
  --output 2 --url "${BASE_URL}"'/things?as=1' || true

echo "bodies of the answers:"
for name in *; do [ -f "$name" ] && echo "$name $(body "$name" | head -c 400)"; done
}

try 1
echo "ask the database:"
echo "  $query_0"
exit 2
