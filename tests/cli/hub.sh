# shellcheck shell=bash disable=SC2154,SC2034
# Sourced by transcripts: a hub on loopback for this case, an empty cache in the scratch folder, and
# nothing of the caller's settings. The hub ends with the case; while the file `hold` is there, test/slow stops
# after its first 64 KiB. What is waited for here comes, or the case's time is over.
unset HF_TOKEN HF_TOKEN_PATH HF_HOME HF_HUB_CACHE HF_HUB_OFFLINE XDG_CACHE_HOME http_proxy https_proxy all_proxy
unset HTTP_PROXY HTTPS_PROXY ALL_PROXY
export HOME=$PWD
python3 "$root/tests/support/fake_hub.py" "$models" port requests.log hold >hub.log 2>&1 &
hub_pid=$!
trap 'kill "$hub_pid"' EXIT
until [ -e port ]; do
    kill -0 "$hub_pid" || break
    sleep 0.05
done
HF_ENDPOINT=http://127.0.0.1:$(cat port)
export HF_ENDPOINT
cache=$PWD/.cache/huggingface/hub
commit=0123456789abcdef0123456789abcdef01234567
# Waits until a pull of that repository has written something.
until_fetching() { # repository
    until [ -n "$(find "$cache/models--test--$1" -name '*.incomplete' -size +0 2>/dev/null)" ]; do
        sleep 0.05
    done
}
