#!/bin/sh
# Downloads three files from a server that limits the rate and drops connections. The engine is
# killed with -9 in the middle; the next one requests only the missing bytes.
set -eu
cd "$(dirname "$0")/.."

step() { printf '\n\033[1m== %s\033[0m\n' "$1"; }
fail() { echo "demo: $1" >&2; exit 1; }

step "build"
# A debug build of what the demo needs, without the second transport, in a folder of its own: another
# trait would compile the builds of the tests again. DEMO_BIN has programs that are built already.
bin=${DEMO_BIN:-}
if [ -z "$bin" ]; then
  options="--scratch-path .build/demo --disable-index-store -debug-info-format none"
  for product in dlstore fault-server; do
    # shellcheck disable=SC2086 # a list of words
    swift build $options --product "$product"
  done
  # shellcheck disable=SC2086
  bin=$(swift build $options --show-bin-path)
fi

rm -rf .demo
mkdir .demo
export DLSTORE_STORE="$PWD/.demo/store"

step "a local server: 25 MB/s per connection, and a reset of each connection after 48 MB"
"$bin/fault-server" --port 0 --file large.bin=200M:1 --file medium.bin=40M:2 \
  --file small.bin=5M:3 --throttle 25000000 --reset-every 48000000 \
  --then-stall large.bin=32000000 --log .demo/requests >.demo/server &
server=$!
engine=
trap 'kill $server $engine 2>/dev/null || true' EXIT
until grep -q listening .demo/server; do
  kill -0 $server || fail "the server did not start"
  sleep 0.1
done
base=$(sed -n 's/^listening on //p' .demo/server)
echo "$base"

step "dlstore add"
"$bin/dlstore" add "$base/large.bin" "$base/medium.bin" "$base/small.bin"

received() {
  "$bin/dlstore" list --match "*/$1" --format jsonl |
    sed -n 's/.*"received" *: *\([0-9]*\).*/\1/p'
}

step "dlstore run, killed with -9 once 60 MB of large.bin are checkpointed"
# The second connection stalls after 80 MB, and is not given up: however slow the machine is, the kill
# comes before the end.
"$bin/dlstore" run --connections 1 --timeout 86400 2>.demo/first-run &
engine=$!
while [ "$(received large.bin)" -lt 60000000 ]; do
  kill -0 $engine || { cat .demo/first-run; fail "the engine ended before the kill"; }
done
workers=$(cat "/proc/$engine/task/$engine/children" 2>/dev/null || true)
kill -9 $engine
wait $engine 2>/dev/null || true
engine=
# The worker ends with its supervisor. A thread of it may be in a commit until then.
for worker in $workers; do
  while grep -qs '^State:.[^ZX]' /proc/"$worker"/task/*/status; do sleep 0.1; done
done
safe=$(received large.bin)
asked=$(wc -l <.demo/requests)

step "dlstore list, after the kill"
"$bin/dlstore" list

step "dlstore run --until-idle"
"$bin/dlstore" run --connections 1 --until-idle
"$bin/dlstore" list

step "the second run requested only the missing bytes"
tail -n +$((asked + 1)) .demo/requests | grep '^GET' | sed 's/^/  /'
first=$(tail -n +$((asked + 1)) .demo/requests | grep '^GET /large.bin' | head -n 1)
case "$first" in
  *"range=bytes=$safe-"*) echo "large.bin resumed at byte $safe, its last checkpoint" ;;
  *) fail "expected a request from byte $safe, got: $first" ;;
esac

step "SHA-256"
for file in large.bin=200M:1 medium.bin=40M:2 small.bin=5M:3; do
  name=${file%%=*}
  "$bin/fault-server" --write ".demo/expected-$name=${file#*=}"
  want=$(sha256sum <".demo/expected-$name")
  have=$(sha256sum <"$DLSTORE_STORE/files/$name")
  [ "$want" = "$have" ] || fail "$name differs from the server's file"
  echo "$name ${have%% *} matches the server"
done
