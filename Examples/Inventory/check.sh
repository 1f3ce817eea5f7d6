#!/bin/sh
# Builds the tool and tests it: correct and incorrect commands, concurrent processes, kills and
# damage. Also checks that Migrations describes the models, and runs the code of the articles in the
# documentation. SCRATCH is the folder of the build.
set -eu
cd "$(dirname "$0")"

scratch=${SCRATCH:-.build}
swift build --scratch-path "$scratch" --product inventory
swift build --scratch-path "$scratch" --product inventory-schema
swift build --scratch-path "$scratch" --product articles
bin=$(swift build --scratch-path "$scratch" --show-bin-path)
work=$(mktemp -d)
child= feeder=
trap 'kill -9 $child $feeder 2>/dev/null || true; rm -rf "$work"' EXIT
export INVENTORY_STORE="$work/store"

step() { printf '== %s\n' "$1"; }
fail() {
  echo "check: $1" >&2
  cat "$work/out" "$work/error" >&2
  exit 1
}
# run STATUS ARGUMENT...: runs the tool, which must exit with STATUS.
run() {
  wanted=$1
  shift
  status=0
  "$bin/inventory" "$@" >"$work/out" 2>"$work/error" || status=$?
  [ $status = "$wanted" ] || fail "inventory $*: exit status $status instead of $wanted"
  if [ "$wanted" != 0 ]; then [ -s "$work/error" ] || fail "inventory $*: no message"; fi
}
# says LINE: the last run wrote that line to standard output; runs of spaces count as one space.
# warns TEXT: the last run wrote that text to standard error.
says() { tr -s ' ' <"$work/out" | grep -qxF -- "$1" || fail "standard output lacks: $1"; }
warns() { grep -qF -- "$1" "$work/error" || fail "standard error lacks: $1"; }
is_empty() { [ ! -s "$work/out" ] || fail "standard output is not empty"; }
# eventually COMMAND: repeats the command until it succeeds, for ten minutes: after that it hangs.
eventually() {
  end=$(($(date +%s) + 600))
  until "$@"; do
    [ "$(date +%s)" -lt $end ] || fail "failed for ten minutes: $*"
    sleep 0.05
  done
}

step "the recorded schema"
"$bin/inventory-schema" check >"$work/out" 2>"$work/error" ||
  fail "run 'swift run inventory-schema accept' after a change of the models"

step "articles"
"$bin/articles" >/dev/null

step "the session in the README"
sed -n '/^```console$/,/^```$/p' README.md | grep -v '^```' >"$work/wanted"
(
  PATH="$bin:$PATH"
  grep '^\$ ' "$work/wanted" | while IFS= read -r line; do
    echo "$line"
    eval "${line#??}" </dev/null || true
  done
) >"$work/out" 2>&1
diff "$work/wanted" "$work/out" || fail "the session differs from the one in README.md"
rm -rf "$INVENTORY_STORE"

step "items and places"
run 2 list
warns "there is no store"
run 0 place add Shelf --notes "left of the door"
run 0 place add Cellar
run 1 place add Shelf
run 1 add BOLT "Bolt M3" --place Attic
warns "Place 'Attic', which does not exist"
run 0 add BOLT "Bolt M3" --place Shelf --quantity 10 --price 0.05 --tag metal --tag small
run 0 add NUT "Nut M3" --place Shelf --quantity 3 --tag metal
run 0 add OAK "Oak board" --place Cellar --quantity 2 --price 24.90 --notes "Two metres"
run 1 add NUT "Another" --place Shelf
run 64 add X Y --place Shelf --price 1x
run 0 list
says "SKU COUNT NAME PLACE PRICE TAGS"
says "BOLT 10 Bolt M3 Shelf 0.05 metal,small"
says "OAK 2 Oak board Cellar 24.9"

step "queries"
run 0 list --tag metal --tag small --place Shelf
[ "$(wc -l <"$work/out")" = 2 ] || fail "one item has both tags"
run 0 list --low 3 --by quantity
says "NUT 3 Nut M3 Shelf - metal"
[ "$(tail -n 1 "$work/out" | cut -c1-3)" = NUT ] || fail "the order is wrong"
run 0 list --place Shelf --explain
says "index (place, name), 1 equal, ordered"
run 0 list --size 2
warns "more: --after "
run 0 list --size 2 --after "$(sed 's/.*--after //' "$work/error")"
says "OAK 2 Oak board Cellar 24.9"
[ "$(wc -l <"$work/out")" = 2 ] || fail "the last page has one item"
run 0 find METRES
says "OAK 2 Oak board Cellar 24.9"
run 2 find sand
run 0 report
says "Shelf 2 13 0.5"
says "total 3 15 50.3"
says "highest price: 24.9"

step "movements: all of them, or none"
run 0 take BOLT:4 NUT --reason "order 17"
says "BOLT 6 Bolt M3 at Shelf"
run 1 take BOLT:5 NUT:3
warns "not enough of NUT: 3 requested, 2 in stock"
run 0 list --tag small
says "BOLT 6 Bolt M3 Shelf 0.05 metal,small"
run 2 take BOLT SCREW
run 64 take BOLT:none
run 0 history BOLT
grep -q -- '-4 *order 17' "$work/out" || fail "the movement is missing"
[ "$(wc -l <"$work/out")" = 3 ] || fail "BOLT has two movements"

step "references"
run 1 place remove Shelf
run 0 move BOLT Cellar
run 1 move BOLT Attic
run 0 remove NUT
run 0 place remove Shelf
run 0 place list
says "Cellar 2"

step "changes since the last time"
run 0 changes "$work/bookmark"
[ "$(grep -c '^=' "$work/out")" = 2 ] || fail "all items are new at first"
run 0 changes "$work/bookmark"
is_empty
run 0 put OAK:2
run 0 add SAW "Saw" --place Cellar
run 0 remove BOLT
run 0 changes "$work/bookmark"
grep -q '^~ .* OAK  4  Oak board  at Cellar (quantity)$' "$work/out" || fail "OAK has changed"
grep -q '^+ .* SAW' "$work/out" || fail "SAW was added"
grep -q '^- ' "$work/out" || fail "BOLT was removed"

step "watch shows the writes of other processes"
run 0 place add Bench
"$bin/inventory" watch --place Bench --lines 5 >"$work/watched" 2>&1 &
child=$!
watched() { grep -qxF -- "$1" "$work/watched"; }
run 0 add GLUE "Glue" --place Bench --quantity 3
# The first line shows the item as found at the start, or as added later.
eventually grep -q '^[=+] GLUE  3  Glue  at Bench$' "$work/watched"
run 0 take GLUE
eventually watched "~ GLUE  2  Glue  at Bench"
run 1 take GLUE:9
run 0 add WAX "Wax" --place Bench
eventually watched "+ WAX  0  Wax  at Bench"
run 0 move GLUE Cellar
eventually watched "- GLUE  2  Glue  at Bench"
run 0 remove WAX
eventually watched "- WAX  0  Wax  at Bench"
wait $child || fail "watch did not exit"
child=
run 0 remove GLUE

step "backup"
run 0 backup "$work/backup"
run 1 backup "$work/backup"
run 0 list
cp "$work/out" "$work/wanted"
run 0 list --store "$work/backup"
cmp -s "$work/wanted" "$work/out" || fail "the backup lists something else"
run 0 verify --store "$work/backup"

step "export and import"
run 0 export "$work/all.jsonl"
run 1 export "$work/all.jsonl"
run 0 import "$work/all.jsonl" --store "$work/copy"
run 0 export "$work/again.jsonl" --store "$work/copy"
objects() { sed 1d "$1" | sed 's/"object":[0-9]*,//' | sort; }
objects "$work/all.jsonl" >"$work/one"
objects "$work/again.jsonl" >"$work/other"
cmp -s "$work/one" "$work/other" || fail "the imported objects differ from the exported ones"
run 0 verify --store "$work/copy"
echo nonsense >"$work/bad.jsonl"
run 65 import "$work/bad.jsonl"
warns "line 1"

step "kill -9 in the middle of imports"
count=20000
awk -v count=$count 'BEGIN {
  print "{\"model\":\"Place\",\"fields\":{\"name\":\"Hall\"}}"
  for (i = 1; i < count; i++)
    printf "{\"model\":\"Item\",\"fields\":{\"id\":\"00000000-0000-4000-8000-%012d\"," \
      "\"sku\":\"S%d\",\"name\":\"Thing %d\",\"quantity\":%d,\"place\":\"Hall\",\"tags\":[]}}\n", \
      i, i, i, i % 100
}' >"$work/many.jsonl"
export INVENTORY_STORE="$work/many"
run 0 place add Yard
stored() { "$bin/inventory" place list | sed -n 's/^Hall *\([0-9]*\).*/\1/p' | grep . || echo 0; }
grew() { kill -0 $child 2>/dev/null || fail "the import ended before the kill"; [ "$(stored)" -gt "$before" ]; }
for kill in 1 2 3; do
  before=$(stored)
  # The input has more lines than before and does not end, so that no import ends before its kill.
  mkfifo "$work/lines-$kill"
  { head -n $((kill * 6000)) "$work/many.jsonl"; exec sleep 86400; } >"$work/lines-$kill" &
  feeder=$!
  "$bin/inventory" import --skip "$work/lines-$kill" >"$work/out" 2>"$work/error" &
  child=$!
  eventually grew
  kill -9 $child
  wait $child 2>/dev/null || true
  kill -9 $feeder 2>/dev/null || true
  wait $feeder 2>/dev/null || true
  child= feeder=
  # Each transaction imports a thousand lines. The first line is the place, not an item.
  [ $((($(stored) + 1) % 1000)) = 0 ] || fail "an incomplete transaction was stored: $(stored)"
  run 0 verify
done
run 0 import --skip "$work/many.jsonl"
[ "$(stored)" = $((count - 1)) ] || fail "objects are missing: $(stored)"
run 0 verify

step "damage"
export INVENTORY_STORE="$work/copy"
# Overwrites a byte of the item's name everywhere in the file, including free pages.
name=$(sed -n 's/.*"model":"Item".*"name":"\([^"]*\)".*/\1/p' "$work/again.jsonl" | head -n 1)
grep -abo "$name" "$work/copy/data.mdb" | cut -d: -f1 | while read -r offset; do
  printf '?' | dd of="$work/copy/data.mdb" bs=1 seek="$offset" conv=notrunc 2>/dev/null
done
run 65 verify
warns "problems"
"$bin/inventory" repair "$work/rescued" >"$work/out" 2>"$work/error" || true
# The repaired store is valid, except for references to lost objects, which verify reports.
status=0
"$bin/inventory" verify --store "$work/rescued" >"$work/out" 2>"$work/error" || status=$?
case $status in
0) ;;
65)
  problems=$(cat "$work/out" "$work/error" | grep '^object ') || fail "status 65 without a problem"
  ! echo "$problems" | grep -vE '^object [0-9]+ of [A-Za-z]+: dangling references in ' ||
    fail "the repaired store is damaged"
  ;;
*) fail "verify of the repaired store exited with $status" ;;
esac
step "done"
