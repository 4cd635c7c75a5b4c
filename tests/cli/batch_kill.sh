# shellcheck shell=bash
# Runs a batch of N requests again and again, killed at random moments, with --resume, until it is done;
# then says how many requests were answered and whether each was just once.
# usage: . batch_kill.sh N; prints how many lines and ids there are, and whether it was killed more than
# five times
python3 - "$1" <<'PY' >requests.jsonl
import json, sys
for i in range(int(sys.argv[1])):
    print(json.dumps({"id": f"q{i}", "prompt": f"What is {i % 90 + 1} + {i * 7 % 89 + 1}?"}))
PY
# The requests come through a pipe that stays open: a run gets at most 25 of those that are not answered
# yet and can only be ended by the kill, so that the machine's speed does not decide how many kills there
# are. The kill comes when some of them are written, and up to 9 ms later.
RANDOM=11 rounds=0
: >answers.jsonl
mkfifo feed
while [ "$rounds" -lt 400 ]; do
    rounds=$((rounds + 1))
    answered=$(wc -l <answers.jsonl)
    given=$((answered + RANDOM % 25 + 1))
    enough=$((answered + RANDOM % (given - answered + 1)))
    dllm run --input feed -o answers.jsonl --resume -n 8 --steps 4 -t 2 2>/dev/null &
    pid=$!
    exec 9>feed
    head -n $given requests.jsonl >&9
    if [ "$given" -ge "$1" ]; then
        exec 9>&-
        wait $pid && break
    fi
    while kill -0 $pid 2>/dev/null && [ "$(wc -l <answers.jsonl)" -lt $enough ]; do sleep 0.002; done
    sleep "0.00$((RANDOM % 10))"
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    exec 9>&-
done
python3 - "$rounds" <<'PY'
import json, sys
ids = [json.loads(line)["id"] for line in open("answers.jsonl")]
print(f"{len(ids)} lines, {len(set(ids))} ids, in order: {ids == [f'q{i}' for i in range(len(ids))]}, "
      f"killed: {int(sys.argv[1]) > 5}")
PY
