# Runs a batch of N requests again and again, killed at random moments, with --resume, until it is done;
# then says how many requests were answered and whether each was just once.
# usage: . batch_kill.sh N; prints how many lines and ids there are, and whether it was killed more than
# five times
python3 - "$1" <<'PY' >requests.jsonl
import json, sys
for i in range(int(sys.argv[1])):
    print(json.dumps({"id": f"q{i}", "prompt": f"What is {i % 90 + 1} + {i * 7 % 89 + 1}?"}))
PY
# A kill comes when a random number of further answers is written, and up to 9 ms later, so that a fast
# machine is hit as often as a slow one.
RANDOM=11 rounds=0
: >answers.jsonl
while [ "$rounds" -lt 400 ]; do
    rounds=$((rounds + 1))
    enough=$(($(wc -l <answers.jsonl) + RANDOM % 25))
    dllm run --input requests.jsonl -o answers.jsonl --resume -n 8 --steps 4 -t 2 2>/dev/null &
    pid=$!
    (
        while kill -0 $pid && [ "$(wc -l <answers.jsonl)" -lt $enough ]; do sleep 0.002; done
        sleep "0.00$((RANDOM % 10))"
        kill -9 $pid
    ) 2>/dev/null &
    killer=$!
    wait $pid 2>/dev/null && break
    wait $killer 2>/dev/null
done
python3 - "$rounds" <<'PY'
import json, sys
ids = [json.loads(line)["id"] for line in open("answers.jsonl")]
print(f"{len(ids)} lines, {len(set(ids))} ids, in order: {ids == [f'q{i}' for i in range(len(ids))]}, "
      f"killed: {int(sys.argv[1]) > 5}")
PY
