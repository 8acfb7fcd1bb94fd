#!/usr/bin/env bash
# duplicate
# found
#
# It takes bash and curl 7.68 or newer.
#   BASE_URL=http://127.0.0.1:8080 FLUSH=... TOKEN=... bash THIS-FILE
# Exit code 2: the answers and the rows have to be compared by who reads this.
# It may not show it, for want of an emptied store, unless $FLUSH empties it.
set -u
export no_proxy='*' NO_PROXY='*' # requests go to the target, as doubletap's do
stop() { echo "$1" >&2; exit 2; }
# What the environment does not say.
base_url=http://127.0.0.1:8080
BASE_URL=${BASE_URL:-$base_url}
[ -n "${FLUSH:-}" ] || stop "FLUSH must be set"
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

# Step 2 of i001: $FLUSH, which deletes what the target's store may lose.
sh -c "$FLUSH"

# Step 3 of i001: a request.
curl --silent --include --globoff --request POST --max-time 10 --write-out '%{http_code} %{filename_effective}\n' \
  --header "Authorization: Bearer ${TOKEN}" \
  --header 'Content-Type: application/json' \
  --header "Idempotency-Key: ${key}" \
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
