#!/usr/bin/env bash
# duplicate
# found
#
# It takes bash and curl 7.68 or newer. With sqlite3 it counts the rows:
#   BASE_URL=http://127.0.0.1:8080 DATABASE_URL=sqlite:///tmp/x.db TOKEN=... bash THIS-FILE
# Exit code 1: it happened again. 0: it did not. 2: nobody counted the rows, or there are none.
set -u
stop() { echo "$1" >&2; exit 2; }
# What the environment does not say.
base_url=http://127.0.0.1:8080
BASE_URL=${BASE_URL:-$base_url}
database_url=sqlite:///tmp/x.db
DATABASE_URL=${DATABASE_URL:-$database_url}
command -v sqlite3 >/dev/null || stop "there is no sqlite3 to count the rows with"
[ -n "${TOKEN:-}" ] || stop "TOKEN must be set"

among() { LC_ALL=C tr -dc "$1" </dev/urandom | head -c "$2"; }
letters() { among a-z2-7 "$1"; }
hex() { among 0-9a-f "$1"; }
uuid() { echo "$(hex 8)-$(hex 4)-4$(hex 3)-a$(hex 3)-$(hex 12)"; }

marker=dt$(letters 16)
reference=ref$(letters 16)
key=$(uuid)
body='{"note":"'"${marker}"'","of":"'"${reference}"'","text":"it'\''s \"$HOME\" `id` \\n ${x} !\\\\"}'
query_0='select * from (select "id" from things where note = '\'''"${marker}"''\'') doubletap_rows'

start=$PWD
answers=$(mktemp -d)
trap 'rm -rf "$answers"' EXIT
cd "$answers" || exit 2
echo "answers (status, name):"

# Step 1 of i001: a request.
curl --silent --globoff --request POST --max-time 10 --write-out '%{http_code} %{filename_effective}\n' \
  --header "Authorization: Bearer ${TOKEN}" \
  --header 'Content-Type: application/json' \
  --header "Idempotency-Key: ${key}" \
  --header 'X-Note: it'\''s "$HOME" `id`' \
  --data-raw "${body}" \
  --output 1 --url "${BASE_URL}"'/things?as=1' || true

echo "bodies of the answers:"
for name in *; do [ -f "$name" ] && echo "$name $(head -c 400 "$name")"; done

again=no
all=0
rows() {
  local file=${DATABASE_URL#sqlite:} safe=
  file=${file#//}
  case $file in /*) ;; *) file=$start/$file ;; esac
  sqlite3 -safe :memory: "" 2>/dev/null && safe=-safe # since 3.37
  sqlite3 $safe -readonly "$file" "$1"
}
found=$(rows "$query_0") || stop "the rows cannot be counted"
number=$(grep -c . <<<"$found")
echo "rows with $marker: $number"
[ -z "$found" ] || echo "$found"
[ "$number" -gt 1 ] && again=yes
all=$((all + number))
[ $all -gt 0 ] || stop "no request took effect, so nothing could happen again: see the answers"
[ $again = no ] || { echo "it happened again"; exit 1; }
echo "it did not happen"
