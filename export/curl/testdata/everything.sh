#!/usr/bin/env bash
# duplicate
# found
#
# It takes bash and curl 7.68 or newer.
#   BASE_URL=http://127.0.0.1:8080 TOKEN=... bash THIS-FILE
# Exit code 2: the answers and the rows have to be compared by who reads this.
# It may not show it, for want of the background traffic.
# It may not show it, for want of the write gate in the database.
# It may not show it, for want of what slows the link database down.
# In place of the lane slow, clients give up earlier, by what a request takes on it.
# Not in here: the background traffic.
# Not in here: the write gate in the database.
# Not in here: what slows the link database down.
set -u
export no_proxy='*' NO_PROXY='*' # requests go to the target, as doubletap's do
stop() { echo "$1" >&2; exit 2; }
# What the environment does not say.
base_url=http://127.0.0.1:8080
BASE_URL=${BASE_URL:-$base_url}
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
  marker_2=dt$(letters 16)
  key_2=$(uuid)
  body='{"note":"'"${marker}"'","of":"'"${reference}"'","text":"it'\''s \"$HOME\" `id` \\n ${x} !\\\\"}'
  body_2='{"note":"'"${marker_2}"'","of":"'"${reference}"'","text":"another"}'
  body_3='{"text": "\u0069t'\''s \"$HOME\" `id` \\n ${x} !\\\\", "of": "''\u0072'"${reference#?}"'", "note": "''\u0064'"${marker#?}"'"}'
  query_0='select * from (select "id" from things where note = '\'''"${marker}"''\'') doubletap_rows'
  query_1='select * from (select "id" from things where note = '\'''"${marker_2}"''\'') doubletap_rows'
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
status=$(curl --silent --include --globoff --request POST --max-time 0.005 --write-out '%{http_code} %{filename_effective}\n' \
  --header "Authorization: Bearer ${TOKEN}" \
  --header 'Content-Type: application/json' \
  --header "Idempotency-Key: ${key}" \
  --header 'X-Note: it'\''s "$HOME" `id`' \
  --data-raw "${body}" \
  --output 1 --url "${BASE_URL}"'/things?as=1' || true)
echo "$status"
for pause in 0.01 0.02; do
  case $status in 000*|409*|5*) ;; *) break ;; esac
  sleep "$pause"
  fresh=$(uuid)
  status=$(curl --silent --include --globoff --request POST --max-time 0.005 --write-out '%{http_code} %{filename_effective}\n' \
  --header "Authorization: Bearer ${TOKEN}" \
  --header 'Content-Type: application/json' \
  --header "Idempotency-Key: ${fresh}" \
  --header 'X-Note: it'\''s "$HOME" `id`' \
  --data-raw "${body}" \
  --output 2 --url "${BASE_URL}"'/things?as=1' || true)
  echo "$status"
done

# Step 2 of i001: wait.
sleep 0.015

# Step 3 of i001: wait until the row is there.
sleep 1

# Step 4 of i001: a look into the database, which is not needed here.
:

# Step 5 of i001: 4 requests at once.
copies=()
for n in {1..4}; do copies+=(--output "3-$n" --url "${BASE_URL}"'/things?as=1'); done
curl --no-progress-meter --parallel --parallel-immediate --parallel-max 4 --silent --include --globoff --request POST --max-time 10 --write-out '%{http_code} %{filename_effective}\n' \
  --header "Authorization: Bearer ${TOKEN}" \
  --header 'Content-Type: application/json' \
  --header "Idempotency-Key: ${key}" \
  --header 'X-Note: it'\''s "$HOME" `id`' \
  --data-raw "${body}" \
  "${copies[@]}" || true

# Step 6 of i001: 3 requests at once.
curl --no-progress-meter --parallel --parallel-immediate --parallel-max 3 --silent --include --globoff --request POST --max-time 10 --write-out '%{http_code} %{filename_effective}\n' \
  --header "Authorization: Bearer ${TOKEN}" \
  --header 'Content-Type: application/json' \
  --header "Idempotency-Key: ${key}" \
  --header 'X-Note: it'\''s "$HOME" `id`' \
  --data-raw "${body_2}" \
  --output 4 --url "${BASE_URL}"'/things?as=1' \
  --next --silent --include --globoff --request POST --max-time 10 --write-out '%{http_code} %{filename_effective}\n' \
  --header "Authorization: Bearer ${TOKEN}" \
  --header 'Content-Type: application/json' \
  --header "Idempotency-Key: ${key}" \
  --header 'X-Note: it'\''s "$HOME" `id`' \
  --data-raw "${body}" \
  --output 5 --url "${BASE_URL}"'/things?as=1' \
  --next --silent --include --globoff --request POST --max-time 10 --write-out '%{http_code} %{filename_effective}\n' \
  --header "Authorization: Bearer ${TOKEN}" \
  --header 'Content-Type: application/json' \
  --header "Idempotency-Key: ${key}" \
  --header 'X-Note: it'\''s "$HOME" `id`' \
  --data-raw "${body}" \
  --output 6 --url "${BASE_URL}"'/things?as=1' || true

# Step 7 of i001: 2 requests, each on a connection of its own.
{ sleep 0; curl --silent --include --globoff --request POST --max-time 10 --write-out '%{http_code} %{filename_effective}\n' \
  --header "Authorization: Bearer ${TOKEN}" \
  --header 'Content-Type: application/json' \
  --header "Idempotency-Key: ${key}" \
  --header 'X-Note: it'\''s "$HOME" `id`' \
  --data-raw "${body}" \
  --output 7 --url "${BASE_URL}"'/things?as=1' || true; } &
{ sleep 0.01; curl --silent --include --globoff --request POST --max-time 10 --write-out '%{http_code} %{filename_effective}\n' \
  --header "Authorization: Bearer ${TOKEN}" \
  --header 'Content-Type: application/json' \
  --header 'X-Note: it'\''s "$HOME" `id`' \
  --data-raw "${body}" \
  --output 8 --url "${BASE_URL}"'/things?as=1' || true; } &
wait

# Step 8 of i001: two copies of one request, the second later than the first.
curl --silent --include --globoff --request POST --max-time 10 --write-out '%{http_code} %{filename_effective}\n' \
  --header "Authorization: Bearer ${TOKEN}" \
  --header 'Content-Type: application/json' \
  --header "Idempotency-Key: ${key}" \
  --header 'X-Note: it'\''s "$HOME" `id`' \
  --data-raw "${body}" \
  --output 9 --url "${BASE_URL}"'/things?as=1' || true &
sleep 0.005
curl --silent --include --globoff --request POST --max-time 10 --write-out '%{http_code} %{filename_effective}\n' \
  --header "Authorization: Bearer ${TOKEN}" \
  --header 'Content-Type: application/json' \
  --header "Idempotency-Key: ${key}" \
  --header 'X-Note: it'\''s "$HOME" `id`' \
  --data-raw "${body}" \
  --output 10 --url "${BASE_URL}"'/things?as=1' || true &
wait

# Step 9 of i001: a request.
curl --silent --include --globoff --request POST --max-time 10 --write-out '%{http_code} %{filename_effective}\n' \
  --header "Authorization: Bearer ${TOKEN}" \
  --header 'Content-Type: application/json' \
  --header "Idempotency-Key: ${key_2}" \
  --header 'X-Note: it'\''s "$HOME" `id`' \
  --data-raw "${body_2}" \
  --output 11 --url "${BASE_URL}"'/things?as=1' || true

# Step 10 of i001: a request.
curl --silent --include --globoff --request POST --max-time 10 --write-out '%{http_code} %{filename_effective}\n' \
  --header "Authorization: Bearer ${TOKEN}" \
  --header 'Content-Type: application/json' \
  --header "Idempotency-Key: ${key}" \
  --header 'X-Note: it'\''s "$HOME" `id`' \
  --data-raw "${body_3}" \
  --output 12 --url "${BASE_URL}"'/things?as=1' || true

echo "bodies of the answers:"
for name in *; do [ -f "$name" ] && echo "$name $(body "$name" | head -c 400)"; done
}

try 1
echo "ask the database:"
echo "  $query_0"
echo "  $query_1"
exit 2
